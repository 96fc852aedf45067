"""Read the user's input and classify it: by its content, by its name where the content does not decide."""

from __future__ import annotations

import re
import sys
from enum import StrEnum
from pathlib import Path

from warpwatt.core.errors import InputError
from warpwatt.frontend.compiled import Source

MAX_SOURCE_BYTES = 2 * 2**30
_CUDA_SUFFIXES = {".cu", ".cuh"}
_CPLUSPLUS_SUFFIXES = {".cpp", ".cc", ".cxx", ".c", ".h", ".hpp", ".hxx", ".inl", ""}
_PTX = re.compile(rb"\A(?:\s+|//[^\n]*\n|/\*.*?\*/)*\.version\s+\d", re.DOTALL)
_PTX_TARGET = re.compile(rb"^\s*\.target\s+(sm_\d+[af]?)", re.MULTILINE)
_BINARY = (b"\x7fELF", b"\x50\xed\x55\xba", b"!<arch>\n")
"""ELF (cubin, object, executable), fat binary, static library."""


class Kind(StrEnum):
    """What an input is."""

    CUDA = "CUDA C++"
    PTX = "PTX"
    BINARY = "binary"


def read_source(path: Path | str) -> Source:
    """Read a file, or standard input for ``-``.

    Raises
    ------
    InputError
        If it cannot be read, is a folder or is empty.
    """
    if str(path) == "-":
        source = Source("<stdin>", sys.stdin.buffer.read())
    else:
        file = Path(path)
        try:
            if file.is_file() and file.stat().st_size > MAX_SOURCE_BYTES:
                raise InputError("the file is larger than 2 GiB", file=file)
            source = Source(str(path), file.read_bytes(), file)
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise InputError(
                reason, file=file, hint="name a .cu, .ptx or binary file, or - for stdin"
            ) from None
    if not source.data.strip():
        raise InputError("the file is empty", file=source.name)
    return source


def ptx_target(data: bytes) -> str:
    r"""Return the target that PTX names, or an empty string.

    >>> ptx_target(b".version 8.0\n.target sm_90a, debug")
    'sm_90a'
    """
    found = _PTX_TARGET.search(data)
    return found[1].decode() if found else ""


def kind_of(source: Source) -> Kind:
    r"""Return what a source is.

    Raises
    ------
    InputError
        If it is none of CUDA C++, PTX and a binary.

    >>> kind_of(Source("a.txt", b"// made by hand\n.version 8.0\n.target sm_90"))
    <Kind.PTX: 'PTX'>
    """
    data = source.data
    if data.startswith(_BINARY):
        return Kind.BINARY
    if _PTX.match(data):
        return Kind.PTX
    suffix = source.path.suffix.lower() if source.path is not None else ""
    if b"\0" not in data and (
        suffix in _CUDA_SUFFIXES or (suffix in _CPLUSPLUS_SUFFIXES and b"__global__" in data)
    ):
        return Kind.CUDA
    if suffix == ".ptx":
        raise InputError("no .version directive: not PTX", file=source.name, line=1)
    if suffix == ".py":
        hint = "predict, explain, rank and tune read Triton functions of a file"
        raise InputError("Python is not read here", file=source.name, hint=hint)
    raise InputError(
        "neither CUDA C++ (no __global__), nor PTX, nor a binary",
        file=source.name,
        hint="inputs: .cu, .cuh or .cpp with kernels, .ptx, cubin, fatbin, object file, executable",
    )
