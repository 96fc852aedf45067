"""Configurations of one source: compiled with NVRTC, where that makes the machine code that nvcc makes.

nvcc has a host compiler read thousands of lines of headers for every configuration; NVRTC takes a quarter of
its time. What both make of the first configurations is compared; where it differs, or NVRTC refuses one, nvcc
compiles it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from warpwatt.core.errors import CompileError, ToolchainError
from warpwatt.frontend.options import Compiler

if TYPE_CHECKING:
    from collections.abc import Callable

    from warpwatt.frontend.compiled import Compiled, Source
    from warpwatt.frontend.options import CompileOptions
    from warpwatt.frontend.toolkits import ToolkitChoice

    Compile = Callable[[], Compiled]

MANY = 8
"""Configurations from which on it is worth to find out whether the quicker compiler makes the same code."""
COMPARED = 2
"""Configurations that both compilers compile, before NVRTC is trusted with the others."""
_CODE = (".text.", ".nv.constant")
"""Sections of a cubin that a kernel's execution depends on, by the start of their names."""
_NOTE = "compiled with NVRTC, whose machine code of other configurations is nvcc's"


def compiler_of(configurations: int) -> Compiler:
    """Return what compiles each of so many configurations of one source."""
    return Compiler.CONFIGURATION if configurations >= MANY else Compiler.AUTO


@dataclass(slots=True)
class _Family:
    """What is known of the configurations of one source: how many were the same, whether one was not."""

    same: int = 0
    differs: bool = False


_FAMILIES: dict[tuple[object, ...], _Family] = {}


def compile_configuration(
    source: Source, choice: ToolkitChoice, options: CompileOptions, nvcc: Compile, nvrtc: Compile
) -> Compiled:
    """Return what a compiler makes of one of many configurations of a source.

    ``nvcc`` and ``nvrtc`` compile it; raises what ``nvcc`` raises.
    """
    where = source.path or source.name
    family = _FAMILIES.setdefault(
        (where, source.data, choice.target, choice.toolkit.version, options.flags, options.include), _Family()
    )
    if family.differs:
        return nvcc()
    try:
        quick = nvrtc()
    except (CompileError, ToolchainError):
        family.differs = True
        return nvcc()
    if family.same >= COMPARED:
        return replace(quick, warnings=(_NOTE,))
    found = nvcc()
    family.differs = not same_code(found.cubin, quick.cubin)
    family.same += 1
    return found


def same_code(cubin: bytes, other: bytes) -> bool:
    """Return whether every kernel of a cubin is in another, with the same machine code and constants."""
    ours, theirs = _code(cubin), _code(other)
    return bool(ours) and all(theirs.get(name) == code for name, code in ours.items())


def _code(cubin: bytes) -> dict[str, bytes]:
    from warpwatt.isa.sass.elf import read_elf

    return {s.name: s.data for s in read_elf(cubin).sections if s.name.startswith(_CODE)}
