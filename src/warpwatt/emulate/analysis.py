"""What a launch of a kernel does, by the first way that can be gone: :func:`analyse_launch`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING

from warpwatt.core.arguments import Buffer
from warpwatt.core.execution import Assumption, Execution
from warpwatt.core.launch import Launch
from warpwatt.core.program import Kernel, Level, Program
from warpwatt.emulate.workload import STAND_IN
from warpwatt.storage.inputs import State, state

if TYPE_CHECKING:
    from warpwatt.emulate.emulation import Load

KEEP_EXECUTIONS = "WARPWATT_KEEP_EXECUTIONS"
"""Variable of the environment; 0: nothing is kept on disk nor taken from there."""
LEVELS = (Level.SASS, Level.PTX)
"""Levels in the order they are tried: the counts of machine code are the true ones."""
EXECUTIONS = 8
"""Executions a process remembers, each tens of megabytes of what every warp does; others are on disk."""
STAND_IN_SPREAD = 0.15
"""Standard deviation of the logarithm of the time that this may cost."""
PTX_INSTEAD = "PTX for machine code"
"""Parameter of the assumption that PTX does what machine code does that cannot be run."""
PTX_SPREAD = 0.3
"""The same where PTX is counted: its instructions are others, and no warp is simulated."""


def analyse_launch(
    kernel: Kernel,
    launch: Launch,
    levels: Sequence[Level] = LEVELS,
    loop_counts: tuple[tuple[int, float], ...] = (),
    load: Load | None = None,
) -> Execution:
    """Return what a launch does, at the first of ``levels`` that the kernel has and a strategy can follow.

    ``loop_counts`` (source line, iterations) say how often loops run that depend on data: then the last of
    the levels is counted with them. ``load`` puts the launch on a device that holds its data; without it
    buffers hold what the launch describes.

    Raises
    ------
    ArgumentError
        If a loop, branch or address depends on an argument that was not given.
    InputError
        If the kernel touches memory out of bounds, waits for ever, or does not end.
    """
    programs = {Level.SASS: kernel.sass, Level.PTX: kernel.ptx}
    wanted = [program for level in levels if (program := programs[level]) is not None]
    candidates = tuple(wanted or [kernel.program()])
    if load is None:
        found = _analyse(candidates, launch, loop_counts, contents_of(launch))
    else:
        found = _found_out(candidates, launch, loop_counts, load)
    program = found.program
    if program.level is Level.PTX and candidates[0].level is Level.SASS and not loop_counts:
        return of_ptx_instead(found)
    if program.level is Level.PTX or program.target.rstrip("af") == kernel.target.rstrip("af"):
        return found
    message = f"machine code of {program.target} stands for that of {kernel.target}"
    return replace(found, assumptions=(*found.assumptions, Assumption(message, STAND_IN, STAND_IN_SPREAD)))


def of_ptx_instead(found: Execution) -> Execution:
    """Return what a kernel's PTX does, with the remark that it stands for machine code."""
    message = "machine code could not be followed: PTX is counted in its place"
    return replace(found, assumptions=(*found.assumptions, Assumption(message, PTX_INSTEAD, PTX_SPREAD)))


def contents_of(launch: Launch) -> tuple[tuple[str, State], ...]:
    """Return the files that hold contents of buffers, each with what tells a changed one."""
    paths = (a.path for a in launch.arguments.values() if isinstance(a, Buffer) and a.path)
    return tuple((path, state(path)) for path in paths)


@lru_cache(maxsize=EXECUTIONS)
def _analyse(
    programs: tuple[Program, ...],
    launch: Launch,
    loop_counts: tuple[tuple[int, float], ...],
    contents: tuple[tuple[str, State], ...],
) -> Execution:
    if os.environ.get(KEEP_EXECUTIONS) == "0":
        return _found_out(programs, launch, loop_counts)
    from warpwatt.emulate.kept_executions import kept_or

    find_out = partial(_found_out, programs, launch, loop_counts)
    return kept_or(find_out, programs, launch, loop_counts, contents)


def _found_out(
    programs: tuple[Program, ...],
    launch: Launch,
    loop_counts: tuple[tuple[int, float], ...],
    load: Load | None = None,
) -> Execution:
    from warpwatt.emulate.first_execution import find_out  # which a launch that is kept needs nothing of

    return find_out(programs, launch, loop_counts, load)
