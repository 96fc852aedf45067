"""CUDA C++ to PTX and cubin with nvcc: one call that leaves PTX, cubin, ptxas's report and dependencies.

``nvcc --keep -Xptxas -v`` costs what ``nvcc -cubin`` costs; the dependencies are read off the kept output
of the preprocessor (``-MD`` would run it once more), and ``-ptx`` followed by ptxas costs a fifth more.

nvcc writes its command lines for a shell, which expands ``$(...)`` in definitions and in names of files and
folders. None of them is on its command line: a file of ours includes the source, and the preprocessor reads
definitions and folders from a response file.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable
from pathlib import Path

from warpwatt.core.errors import InputError, ToolchainError
from warpwatt.frontend import process, toolchain
from warpwatt.frontend.compiled import Compiled, Source
from warpwatt.frontend.messages import NAMED, compile_error
from warpwatt.frontend.options import CompileOptions
from warpwatt.frontend.ptxas import read_report
from warpwatt.frontend.signatures import parameter_names
from warpwatt.frontend.toolchain import Toolkit

DEFAULT_SUFFIX = ".cu"


def compile_nvcc(source: Source, target: str, toolkit: Toolkit, options: CompileOptions) -> Compiled:
    """Compile a CUDA source file for one target.

    Raises
    ------
    CompileError
        If the compiler refuses the source.
    ToolchainError
        If nvcc or the host compiler is missing, or runs out of time.
    """
    nvcc, host = toolkit.require("nvcc"), toolchain.host_compiler()
    if host is None:
        hint = "install g++ or clang++, or set CXX"
        raise ToolchainError("nvcc needs a host C++ compiler and there is none on PATH", hint=hint)
    with tempfile.TemporaryDirectory(prefix="warpwatt-") as name:
        scratch = Path(name)
        text = source.path.resolve() if source.path is not None else _write(source, scratch)
        file = _write_including(text, options.instantiate, scratch)
        command: list[str | Path] = [nvcc, *_FLAGS, f"-arch={target}", "-ccbin", host, file]
        command += [f"-X{tool}=--orig_src_path_name,/{file.name}" for tool in ("cudafe", "cicc")]
        command += ["-Xcompiler", f"@{_write_response(source, options, scratch)}"]
        command += [f"-isystem={folder}" for folder in toolkit.include if toolkit.root not in folder.parents]
        command += ["-o", scratch / "out.cubin", "--keep-dir", scratch]
        command += [] if options.max_registers is None else [f"-maxrregcount={options.max_registers}"]
        check_words(map(str, command))
        command += options.flags
        outcome = process.run(command, timeout=options.timeout, memory=options.memory)
        ours = tuple(f" from {file}:1{mark}\n" for mark in ":,")
        lines = outcome.messages.splitlines(keepends=True)
        messages = "".join(line for line in lines if not line.endswith(ours))
        messages = messages.replace(str(text), source.name).replace(str(file), source.name)
        if outcome.status:
            raise compile_error(messages, "nvcc", target, file=source.name, folder=source.folder.resolve())
        ptx = "".join(path.read_text() for path in sorted(scratch.glob("*.ptx")))
        preprocessed = b"".join(path.read_bytes() for path in scratch.glob("*.cpp1.ii"))
        dependencies = read_dependencies(preprocessed, text, file)
        return Compiled(
            target=target,
            toolkit=toolkit.version,
            ptx=ptx,
            cubin=(scratch / "out.cubin").read_bytes(),
            resources=read_report(messages, ptx),
            parameters=source_parameters(source, dependencies, toolkit),
            dependencies=dependencies,
        )


_FLAGS = ("-x", "cu", "-cubin", "-lineinfo", "-allow-unsupported-compiler", "--keep", "-Xptxas", "-v")
_SHELL = re.compile(r'[$`"\\\n]')
"""What a shell does not leave as it is between quotation marks."""


def check_words(command: Iterable[str]) -> None:
    """Raise ``InputError`` for a word that nvcc's shell would change: a folder of this machine."""
    for word in command:
        if _SHELL.search(word):
            raise InputError(f"nvcc gives this to a shell: {word!r}", hint="rename the folder")


def _write_response(source: Source, options: CompileOptions, scratch: Path) -> Path:
    """Write the preprocessor's definitions and folders to a file that it reads itself."""
    words = [f"-D{define}" for define in options.defines]
    words += [f"-I{Path(folder).resolve()}" for folder in options.include]
    words += [] if source.path is not None else [f"-I{source.folder.resolve()}"]
    file = scratch / "preprocessor"
    quoted = (re.sub(r'(["\\])', r"\\\1", word) for word in words)
    file.write_text("".join(f'"{word}"\n' for word in quoted), errors="surrogateescape")
    return file


def read_dependencies(preprocessed: bytes, *sources: Path) -> tuple[str, ...]:
    r"""Return the files named by a preprocessor's line markers, the sources themselves left out.

    >>> read_dependencies(b'# 1 "a.cu"\n# 1 "<built-in>"\n# 1 "my own.h" 1 3\nint x;\n', Path("a.cu"))
    ('my own.h',)
    """
    names = dict.fromkeys(_LINE_MARKER.findall(preprocessed))
    found = (name.decode("utf-8", "surrogateescape") for name in names if not name.startswith(b"<"))
    files = [re.sub(r'\\(["\\])', r"\1", file) for file in found]
    own = {str(source) for source in sources}
    if not own.issubset(files):
        return ("",)  # markers are switched off: a dependency that never holds, so nothing is reused
    return tuple(file for file in files if file and file not in own and file[-1] != "/")


_LINE_MARKER = re.compile(rb'^# \d+ "((?:[^"\\\n]|\\.)*)"', re.MULTILINE)


def source_parameters(
    source: Source, dependencies: Iterable[str], toolkit: Toolkit
) -> dict[str, tuple[str, ...]]:
    """Return parameter names of every kernel declared in the source and in the user's own headers."""
    names = parameter_names(source.text)
    for file in dependencies:
        if not toolchain.is_system(file, toolkit) and Path(file).is_file():
            names = {**parameter_names(Path(file).read_text(errors="replace")), **names}
    return names


def _write_including(source: Path, instances: Iterable[str], scratch: Path) -> Path:
    """Write a source that includes the user's and names template instances, which makes nvcc compile them.

    Its name is like the user's and its path, which names in anonymous namespaces follow from, is not told.
    """
    if re.search(r'["\n]', str(source)):
        raise InputError("a name with a quotation mark or a line break", file=source, hint="rename it")
    name = re.sub(r"[^\w.-]", "_", source.stem, flags=re.ASCII) + DEFAULT_SUFFIX
    file = scratch / (f"of_{name}" if source.parent == scratch else name)
    names = [f"auto *const instance_{i} = &{name};\n" for i, name in enumerate(instances)]
    named = f'#line 1 "{NAMED}"\nnamespace {{\n{"".join(names)}}}\n' if names else ""
    file.write_text(f'#include "{source}"\n{named}', errors="surrogateescape")
    return file


def _write(source: Source, scratch: Path) -> Path:
    """Write standard input where the compiler can read it."""
    file = scratch / f"stdin{DEFAULT_SUFFIX}"
    file.write_bytes(source.data)
    return file
