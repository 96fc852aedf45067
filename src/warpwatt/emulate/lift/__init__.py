"""Lifting: a program's instructions to the micro-operations of :mod:`warpwatt.emulate.ir`.

Public names: ``lift(program) -> Routine``.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from warpwatt.core.errors import InputError
from warpwatt.core.program import Level, Program

if TYPE_CHECKING:
    from warpwatt.emulate.ir import Routine

__all__ = ["lift"]


@lru_cache(maxsize=64)
def lift(program: Program) -> Routine:
    """Return a program as micro-operations; PTX with its calls expanded, as ``Routine.program`` says.

    Instructions without semantics are listed in ``Routine.uncovered``; lifting does not fail because of them.

    Raises
    ------
    InputError
        If the program is neither PTX nor SASS, or jumps to a label it does not have.
    """
    if program.level is Level.PTX:
        from warpwatt.emulate.lift.ptx import lift_ptx

        return lift_ptx(program)
    if program.level is Level.SASS:
        from warpwatt.emulate.lift.sass import lift_sass

        return lift_sass(program)
    raise InputError(
        f"{program.name} is neither PTX nor machine code", hint="emulation needs --level ptx or sass"
    )
