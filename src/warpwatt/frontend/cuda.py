"""CUDA C++ to PTX and cubin with nvcc: one call that leaves PTX, cubin, ptxas's report and dependencies.

``nvcc --keep -Xptxas -v`` costs what ``nvcc -cubin`` costs; the dependencies are read off the kept output
of the preprocessor (``-MD`` would run it once more), and ``-ptx`` followed by ptxas costs a fifth more.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable
from pathlib import Path

from warpwatt.core.errors import ToolchainError
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
        file = source.path.resolve() if source.path is not None else _write(source, scratch)
        file = _write_instances(file, options.instantiate, scratch) if options.instantiate else file
        command: list[str | Path] = [nvcc, "-x", "cu", *flags(source, target, options), "-ccbin", host, file]
        command += [f"-isystem={folder}" for folder in toolkit.include if toolkit.root not in folder.parents]
        command += ["-cubin", "-o", scratch / "out.cubin", "--keep", "--keep-dir", scratch]
        command += ["-Xptxas", "-v"]
        outcome = process.run(command, timeout=options.timeout, memory=options.memory)
        messages = outcome.messages.replace(str(file), source.name)
        if outcome.status:
            raise compile_error(messages, "nvcc", target, file=source.name, folder=source.folder.resolve())
        ptx = "".join(path.read_text() for path in sorted(scratch.glob("*.ptx")))
        preprocessed = b"".join(path.read_bytes() for path in scratch.glob("*.cpp1.ii"))
        dependencies = read_dependencies(preprocessed, file)
        return Compiled(
            target=target,
            toolkit=toolkit.version,
            ptx=ptx,
            cubin=(scratch / "out.cubin").read_bytes(),
            resources=read_report(messages, ptx),
            parameters=source_parameters(source, dependencies, toolkit),
            dependencies=dependencies,
        )


def flags(source: Source, target: str, options: CompileOptions) -> list[str]:
    """Return nvcc's flags for these options."""
    result = [f"-arch={target}", "-lineinfo", "-allow-unsupported-compiler"]
    result += [f"-D{define}" for define in options.defines]
    result += [f"-I{Path(folder).resolve()}" for folder in options.include]
    result += [] if source.path is not None else [f"-I{source.folder}"]
    result += [] if options.max_registers is None else [f"-maxrregcount={options.max_registers}"]
    return [*result, *options.flags]


def read_dependencies(preprocessed: bytes, source: Path) -> tuple[str, ...]:
    r"""Return the files named by a preprocessor's line markers, the source itself left out.

    >>> read_dependencies(b'# 1 "a.cu"\n# 1 "<built-in>"\n# 1 "my own.h" 1 3\nint x;\n', Path("a.cu"))
    ('my own.h',)
    """
    names = dict.fromkeys(_LINE_MARKER.findall(preprocessed))
    files = [name.decode("utf-8", "surrogateescape") for name in names if not name.startswith(b"<")]
    own = str(source)
    if own not in files:
        return ("",)  # markers are switched off: a dependency that never holds, so nothing is reused
    return tuple(
        re.sub(r'\\(["\\])', r"\1", file) for file in files if file not in (own, "") and file[-1] != "/"
    )


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


def _write_instances(source: Path, instances: Iterable[str], scratch: Path) -> Path:
    """Write a source that includes the user's and names template instances, which makes nvcc compile them."""
    file = scratch / f"instances{DEFAULT_SUFFIX}"
    names = [f"auto *const instance_{i} = &{name};\n" for i, name in enumerate(instances)]
    file.write_text(f'#include "{source}"\n#line 1 "{NAMED}"\nnamespace {{\n{"".join(names)}}}\n')
    return file


def _write(source: Source, scratch: Path) -> Path:
    """Write standard input where the compiler can read it."""
    file = scratch / f"stdin{DEFAULT_SUFFIX}"
    file.write_bytes(source.data)
    return file
