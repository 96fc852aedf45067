"""What a launch of a kernel does, by the best way there is: :func:`analysed`.

Machine code is emulated, because its counts are the true ones. Where a kernel has none, or the emulator
cannot follow it, its PTX is counted in closed form if control flow and addresses are affine, else emulated.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from warpwatt.core.errors import ArgumentError, InputError
from warpwatt.core.execution import Assumption
from warpwatt.core.program import Level
from warpwatt.emulate.assumed import completed, unsaid

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from warpwatt.core.execution import Execution
    from warpwatt.core.launch import Launch
    from warpwatt.core.program import Kernel, Program

LEVELS = (Level.SASS, Level.PTX)
"""Levels in the order they are tried."""
STATIC_SPREAD = 0.2
"""Standard deviation of the logarithm of the time where the emulator could not follow the kernel."""
STAND_IN = "machine code of a relative"
"""Parameter of the assumption that another target's machine code does what the GPU's own does."""
STAND_IN_SPREAD = 0.15
"""Standard deviation of the logarithm of the time that this may cost."""
UNCOVERED = "opcodes without semantics"
"""Parameter of the assumption that results of some executed instructions are unknown."""


def analysed(
    kernel: Kernel,
    launch: Launch,
    levels: Sequence[Level] = LEVELS,
    loop_counts: tuple[tuple[int, float], ...] = (),
) -> Execution:
    """Return what a launch does, at the first of ``levels`` that the kernel has and the emulator can follow.

    ``loop_counts`` (source line, iterations) say how often loops run that depend on data: then the PTX is
    counted with them, because emulation follows the data instead.

    Raises
    ------
    ArgumentError
        If a loop, branch or address depends on an argument that was not given.
    InputError
        If the kernel touches memory out of bounds, waits for ever, or does not end.
    """
    programs = {Level.SASS: kernel.sass, Level.PTX: kernel.ptx}
    wanted = [program for level in levels if (program := programs[level]) is not None]
    if not wanted:
        wanted = [kernel.program()]
    return _for_target(kernel.target, _analysed(tuple(wanted), launch, loop_counts))


def _for_target(target: str, found: Execution) -> Execution:
    """Note where machine code of a relative stands for that of the GPU, which nothing can read."""
    program = found.program
    if program.level is Level.PTX or program.target.rstrip("af") == target.rstrip("af"):
        return found
    doubt = Assumption(
        f"machine code of {program.target} stands for that of {target}", STAND_IN, STAND_IN_SPREAD
    )
    return replace(found, assumptions=(*found.assumptions, doubt))


@lru_cache(maxsize=64)
def _analysed(
    programs: tuple[Program, ...], launch: Launch, loop_counts: tuple[tuple[int, float], ...]
) -> Execution:
    last = programs[-1]
    if loop_counts:
        return _counted(last, launch, dict(loop_counts))
    whole, assumptions = _completed(last, launch)
    if not assumptions:
        return _followed(programs, launch)
    try:
        found = _followed(programs, whole)
    except InputError:  # what we assumed led it astray, say below the start of a buffer
        return _followed(programs, launch)
    return replace(found, assumptions=(*assumptions, *found.assumptions))


def _followed(programs: tuple[Program, ...], launch: Launch) -> Execution:
    """Return the execution of the first program that can be followed."""
    last, reason = programs[-1], ""
    for program in programs:
        if program.level is Level.PTX:
            counted = _counted(program, launch)
            if _closed(counted):
                return counted
        found, reason = _emulated(program, launch)
        if found is not None:
            return found
    return _doubted(_counted(last, launch), reason)


def _completed(program: Program, launch: Launch) -> tuple[Launch, tuple[Assumption, ...]]:
    """Return the launch with buffers for pointers it leaves out, as far as analysis of the PTX finds them."""
    if program.level is not Level.PTX or not unsaid(program, launch):
        return launch, ()
    try:
        return completed(_counted(program, launch))
    except ArgumentError:  # a number is missing: the emulator lists everything that is
        return launch, ()


def _counted(program: Program, launch: Launch, loops: Mapping[int, float] | None = None) -> Execution:
    """Return what static analysis counts."""
    from warpwatt.program.counting import static_execution  # noqa: PLC0415 - machine code does without

    return static_execution(program, launch, loops)


def _closed(counted: Execution) -> bool:
    """Whether analysis knows every loop, branch and address: emulation would find the same."""
    return not counted.assumptions and all(pattern.known for pattern in counted.accesses.values())


def _emulated(program: Program, launch: Launch) -> tuple[Execution | None, str]:
    """Return the emulated execution, or None and why it cannot be had."""
    from warpwatt.emulate.execution import execute  # noqa: PLC0415 - loads a compiler

    try:
        found = execute(program, launch)
    except ArgumentError as error:
        return None, error.message
    if any(assumption.parameter == UNCOVERED for assumption in found.assumptions):
        return None, "it executes instructions that the emulator does not know"
    return found, ""


def _doubted(counted: Execution, reason: str) -> Execution:
    doubt = Assumption(f"not emulated: {reason}", "no emulation", STATIC_SPREAD)
    return replace(counted, assumptions=(*counted.assumptions, doubt))
