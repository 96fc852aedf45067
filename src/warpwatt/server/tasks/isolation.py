"""What tasks on untrusted sources may read of this machine, and the file names they may show.

``#line``, ``.file`` and assembly in the middle of CUDA let a kernel claim that its lines are those of any
file. Whoever shows lines to people reads them by that name, so no such name may be a path: only the source
itself is ever looked up.
"""

from __future__ import annotations

import sys
import sysconfig
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from warpwatt.core.program import Kernel, Program, SourceLine
from warpwatt.frontend import toolchain
from warpwatt.frontend.toolkits import toolkits_directory
from warpwatt.gpus.catalog import user_directories
from warpwatt.workers.confinement import SYSTEM, Walls

if TYPE_CHECKING:
    from warpwatt.frontend.compiled import Source


def own_lines(kernel: Kernel, source: Source) -> Kernel:
    """Return a kernel whose lines in other files than the source bear the file's last name alone."""
    ptx = None if kernel.ptx is None else _program(kernel.ptx, source.name)
    sass = None if kernel.sass is None else _program(kernel.sass, source.name)
    return replace(kernel, ptx=ptx, sass=sass)


def _program(program: Program, own: str) -> Program:
    instructions = tuple(
        instruction if instruction.line is None else replace(instruction, line=_line(instruction.line, own))
        for instruction in program.instructions
    )
    functions = {name: _program(function, own) for name, function in program.functions.items()}
    return replace(program, instructions=instructions, functions=functions)


def _line(line: SourceLine, own: str) -> SourceLine:
    inlined = None if line.inlined_at is None else _line(line.inlined_at, own)
    return replace(line, file=line.file if line.file == own else harmless(line.file), inlined_at=inlined)


def harmless(file: str) -> str:
    """Return a file's last name, which leads nowhere.

    >>> harmless("/etc/passwd"), harmless("../.."), harmless("")
    ('passwd', '?', '?')
    """
    name = PurePosixPath(file.replace("\\", "/").replace("\0", "")).name
    return name if name not in ("", ".", "..") else "?"


def reach(folder: Path) -> Walls:
    """Return what a prediction reaches from its own folder.

    It reads the system's libraries, Python, this package and compilers; it starts compilers, and Python for
    the one that is a library.
    """
    toolkit, package = toolchain.installed(), Path(__file__).parents[2]
    installation = (sys.prefix, sys.base_prefix, *sysconfig.get_paths().values())
    places: tuple[str | Path, ...] = (
        *SYSTEM,
        *installation,
        package,
        toolkit.root,
        toolkits_directory(),
        *user_directories(),
    )
    readable = dict.fromkeys(path for place in places if (path := Path(place).resolve()) != Path("/"))
    tools = (toolkit.ptxas, toolkit.nvdisasm)
    programs = (Path(sys.executable), *filter(None, tools), toolkits_directory())
    return Walls(tuple(readable), folder, programs)
