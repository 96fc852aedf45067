"""Compiling programs so that they run with our CUDA runtime: NVIDIA's own nvcc, our library in the link."""

from __future__ import annotations

import re
import struct
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from warpwatt.core.errors import CompileError, InputError, ToolchainError
from warpwatt.frontend import toolchain
from warpwatt.frontend.cuda import check_words
from warpwatt.frontend.messages import (
    OLDEST_SPECIFIC,
    asked_flag,
    hint_of,
    needs_feature,
    undefined_names,
    without_warnings,
)
from warpwatt.frontend.removed import HEADERS, removed_features
from warpwatt.frontend.toolkits import OLDEST_TARGET, target_number
from warpwatt.run.client import RUNTIME

SOURCES = frozenset({".cu"})
"""Suffixes of what ``warpwatt run`` compiles itself."""
_NO_LINK = frozenset({
    "-c", "--compile", "-dc", "--device-c", "-dw", "--device-w", "-ptx", "--ptx", "-cubin", "--cubin",
    "-fatbin", "--fatbin", "-E", "--preprocess", "-M", "-MM", "--generate-dependencies", "-lib", "--lib",
    "-dlink", "--device-link", "--version", "-V", "-h", "--help", "-optix-ir", "--list-gpu-arch",
    "--list-gpu-code", "-code-ls", "-arch-ls", "-cuda", "--cuda",
})  # fmt: skip
_NO_HEADER = re.compile(
    r"\b(cublas|cufft|curand|cusparse|cusolver)\w*\.h(?:'|:)? (?:file not found|No such file)", re.IGNORECASE
)
SHOWN_NAMES = 8
"""Functions listed that a linker has not found."""
_CUDART = re.compile(r"^--?cudart(=.*)?$")
_ARCHITECTURE = re.compile(r"(?:sm|compute|lto)_(\d+)")
_SPECIFIC = re.compile(r"^(?:.*=)?sm_(\d+[af])$")
_CODE_FLAGS = ("-code", "--gpu-code", "-gencode", "--generate-code")
_ARCH_FLAGS = ("-arch", "--gpu-architecture", *_CODE_FLAGS)
_ONE_CODE = frozenset({"-ptx", "--ptx", "-cubin", "--cubin", "-optix-ir"})
"""Modes in which nvcc makes code for one architecture only."""
_OUR_LIBRARY = b"libwarpwatt_cuda.so"
_A_MESSAGE = b"no CUDA-capable device is detected"
"""One of the runtime's (``cudaGetErrorString``): a program that only loads the driver does not have it."""
_COMPILED = (".cu", ".cpp", ".cc", ".cxx")
OURS = ("-lcudart", "-lcudart_static", "cudart", "cudart_static")
"""Names of NVIDIA's runtime in a link."""


@dataclass(frozen=True, slots=True)
class Command:
    """A command of the compiler, and what of the user's flags it leaves out."""

    words: tuple[str, ...]
    left_out: tuple[str, ...] = ()


def nvcc_command(flags: Sequence[str]) -> Command:
    """Return nvcc's command for a user's flags: with our runtime, and with a host compiler that is there.

    Architectures that nvcc no longer knows are left out; without any it compiles PTX that all GPUs can run.

    Raises
    ------
    ToolchainError
        If nvcc, the host compiler or our runtime is missing.

    >>> _architectures(["-gencode", "arch=compute_35,code=sm_35", "-O3", "-arch=sm_80", "a.cu"])
    (['-O3', '-arch=sm_80', 'a.cu'], ['-gencode', 'arch=compute_35,code=sm_35'])
    """
    nvcc = toolchain.installed().require("nvcc")
    kept, left_out = _architectures(flags)
    kept = _without_cudart(kept)
    added: list[str] = ["-allow-unsupported-compiler"]
    if not any(flag.startswith(("-ccbin", "--compiler-bindir")) for flag in kept):
        host = toolchain.host_compiler()
        if host is None:
            hint = "install g++ or clang++, or set CXX"
            raise ToolchainError("nvcc needs a host C++ compiler and there is none on PATH", hint=hint)
        added += ["-ccbin", str(host)]
    if _compiles(kept):
        added.append(f"-I{HEADERS}")
        added += removed_features(Path(flag) for flag in kept if flag.endswith(_COMPILED))
    if _links(kept):
        added += ["-cudart", "shared", f"-L{runtime_library()}", "-Xlinker", f"-rpath={RUNTIME}"]
    return Command((str(nvcc), *kept, *added), tuple(left_out))


def compile_program(
    source: Path, flags: Sequence[str], targets: Sequence[str], folder: Path, *, for_all: bool = False
) -> Path:
    """Compile a program's source for some targets and return the program, made in a folder.

    ``for_all`` adds PTX that every GPU can run, unless the source asks for more than the oldest has. Where it
    needs what only an architecture has (``wgmma``), it is compiled for that one's own features.

    Raises
    ------
    CompileError
        If the compiler refuses it.
    InputError, ToolchainError
        If it cannot be read; as :func:`nvcc_command`.
    """
    if not source.is_file():
        raise InputError("no such file", file=source)
    program = folder / source.stem
    check_words([str(source.resolve()), str(program)])
    own, specific = list[str](), list[str]()
    if not any(flag.startswith(_ARCH_FLAGS) for flag in flags):
        numbers = dict.fromkeys(map(target_number, targets))
        own = [_gencode(str(n)) for n in numbers]
        specific = [_gencode(f"{n}a" if n >= OLDEST_SPECIFIC else str(n)) for n in numbers]
    oldest = [f"-gencode=arch=compute_{OLDEST_TARGET},code=compute_{OLDEST_TARGET}"]

    def refused(architectures: Sequence[str]) -> str:
        return _compile([*architectures, "-lineinfo", *flags, str(source), "-o", str(program)])

    if own and for_all and not refused([*own, *oldest]):
        return program
    said = refused(own)
    if own != specific and needs_feature(said):
        said = refused(specific)
    if not said:
        return program
    if undefined := undefined_names(said):
        raise _unlinked(source, undefined)
    raise CompileError(
        f"{source.name} does not compile",
        details=without_warnings(said),
        hint=missing_header(said) or hint_of(said, folder=source.resolve().parent),
    )


def _gencode(architecture: str) -> str:
    """Return nvcc's flag for code and PTX of an architecture."""
    return f"-gencode=arch=compute_{architecture},code=[sm_{architecture},compute_{architecture}]"


def _compile(flags: Sequence[str]) -> str:
    """Compile with nvcc, and with what it asks for; return what it says if it refuses."""
    done = subprocess.run(nvcc_command(flags).words, capture_output=True, text=True, check=False)
    said = done.stderr + done.stdout
    if done.returncode and (asked := asked_flag(said, flags)):
        return _compile([asked, *flags])
    return (said or "nvcc failed") if done.returncode else ""


def _unlinked(source: Path, undefined: Sequence[str]) -> CompileError:
    """Return the error of a program that lacks functions which are elsewhere."""
    hint = (
        f"name its other sources and libraries after it: warpwatt run {source.name} other.cpp -lname; "
        'or build it with make NVCC="warpwatt nvcc" and run the program; or predict one kernel alone'
    )
    shown = "\n".join(f"  {name}" for name in undefined[:SHOWN_NAMES])
    more = f"\n  ... and {len(undefined) - SHOWN_NAMES} more" if len(undefined) > SHOWN_NAMES else ""
    return CompileError(f"{source.name} uses what no source defines", details=shown + more, hint=hint)


def missing_header(output: str) -> str:
    """Return how to get a closed library's header that a compiler has not found, empty if that is not it.

    >>> missing_header("a.cu:1:10: fatal error: cublas_v2.h: No such file or directory")
    'pip install nvidia-cublas, whose headers nvcc then finds'
    """
    found = _NO_HEADER.search(output)
    return f"pip install nvidia-{found[1].lower()}, whose headers nvcc then finds" if found else ""


def check_runtime(program: Path) -> None:
    """Refuse a program that has NVIDIA's runtime linked into it: it would look for a driver.

    Raises
    ------
    InputError
        If it has.
    """
    data = program.read_bytes()
    sections = elf_sections(data)
    names = sections.get(".dynstr", b"")
    is_without = b"libcudart.so" not in names and _OUR_LIBRARY not in names
    if ".nv_fatbin" in sections and is_without and _A_MESSAGE in data:
        raise InputError(
            "the CUDA runtime is linked into the program",
            file=program,
            hint="link it again with nvcc -cudart shared, or compile it with: warpwatt nvcc",
        )


def elf_sections(data: bytes) -> dict[str, bytes]:
    """Return the contents of an ELF file's sections by name; none for other files.

    >>> elf_sections(b"#!/bin/sh")
    {}
    """
    if data[:5] != b"\x7fELF\x02" or len(data) < 64:
        return {}
    (start,) = struct.unpack_from("<Q", data, 0x28)
    size, count, names = struct.unpack_from("<HHH", data, 0x3A)
    heads = [struct.unpack_from("<IIQQQQ", data, start + size * k) for k in range(count)]
    if names >= len(heads):
        return {}
    at, length = heads[names][4:6]
    table = data[at : at + length]
    return {
        table[name:].partition(b"\0")[0].decode("ascii", "replace"): data[begin : begin + extent]
        for name, _, _, _, begin, extent in heads
    }


def runtime_library() -> Path:
    """Return the folder of our runtime.

    Raises
    ------
    ToolchainError
        If it was not built.
    """
    library = RUNTIME / "libcudart.so"
    if not library.exists():
        raise ToolchainError(f"our CUDA runtime is missing: {library}", hint="in a clone: make native")
    return RUNTIME


def _compiles(flags: Sequence[str]) -> bool:
    return any(flag.endswith(_COMPILED) for flag in flags)


def _links(flags: Sequence[str]) -> bool:
    return bool(flags) and not _NO_LINK.intersection(flags) and any(not f.startswith("-") for f in flags)


def _without_cudart(flags: Sequence[str]) -> list[str]:
    """Leave out which of NVIDIA's runtimes is asked for.

    >>> _without_cudart(["-cudart", "static", "a.cu", "--cudart=shared", "-lcudart"])
    ['a.cu']
    """
    kept: list[str] = []
    skip = False
    for flag in flags:
        if skip:
            skip = False
        elif match := _CUDART.match(flag):
            skip = match[1] is None
        elif flag not in OURS:
            kept.append(flag)
    return kept


def _architectures(flags: Sequence[str]) -> tuple[list[str], list[str]]:
    """Split flags into those to keep, and those of architectures that nvcc no longer compiles for.

    ``-arch=sm_90a`` becomes what it is documented to mean: nvcc 13 also compiles for ``compute_90``, which
    lacks the features that are asked for.

    >>> _architectures(["-arch=sm_90a", "a.cu"])[0]
    ['-gencode=arch=compute_90a,code=[sm_90a,compute_90a]', 'a.cu']
    """
    by_name = not _ONE_CODE.intersection(flags) and not any(f.startswith(_CODE_FLAGS) for f in flags)
    kept: list[str] = []
    left_out: list[str] = []
    words = list(flags)
    while words:
        flag = words.pop(0)
        whole = [flag]
        if flag in _ARCH_FLAGS and words:
            whole.append(words.pop(0))
        old = flag.startswith(_ARCH_FLAGS) and any(
            int(number) < OLDEST_TARGET for number in _ARCHITECTURE.findall(whole[-1])
        )
        if by_name and flag.startswith(_ARCH_FLAGS) and (specific := _SPECIFIC.search(whole[-1])):
            whole = [_gencode(specific[1])]
        (left_out if old else kept).extend(whole)
    return kept, left_out
