"""Finding out what a launch does: every level by the first way that can be gone, arguments completed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any

from warpwatt.core.errors import ArgumentError, InputError, MemoryFaultError, UndecidedError
from warpwatt.core.execution import Assumption, Execution
from warpwatt.core.launch import Launch
from warpwatt.core.program import Level, Program
from warpwatt.emulate.context import load_launch
from warpwatt.emulate.missing import complete
from warpwatt.emulate.neighbours import Rooms, with_neighbours
from warpwatt.emulate.strategies import (
    EMULATION,
    FAILED_CONTENTS,
    LIMITS,
    STRATEGIES,
    LaunchAnalysis,
    attempt,
    count_with_assumptions,
)
from warpwatt.native.demangle import demangle
from warpwatt.program.binding import bind
from warpwatt.program.indices import with_likely_contents

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from warpwatt.emulate.emulation import Load
    from warpwatt.emulate.run import Limits
    from warpwatt.emulate.units import Engine


def find_out(
    programs: tuple[Program, ...],
    launch: Launch,
    loop_counts: tuple[tuple[int, float], ...] = (),
    load: Load | None = None,
) -> Execution:
    """Return what a launch does; the parameters and errors are those of ``analyse_launch``."""
    if load is not None:
        return _first_execution(_analyses(programs, launch, load))
    if loop_counts:
        return _first_execution([LaunchAnalysis(programs[-1], launch, dict(loop_counts))])
    analyses = _analyses(programs, launch)
    completed, assumptions = _complete(analyses[-1])
    if (found := _on_likely_contents(programs, completed)) is not None:
        return replace(found, assumptions=(*assumptions, *found.assumptions))
    if not assumptions:
        return with_neighbours(partial(_with_rooms, analyses))
    try:
        found = _first_execution(_analyses(programs, completed))
    except MemoryFaultError as fault:  # what we assumed may have led it astray, below the start of a buffer
        with suppress(ArgumentError, UndecidedError):
            return _first_execution(analyses)
        raise fault from None
    return replace(found, assumptions=(*assumptions, *found.assumptions))


def _with_rooms(analyses: list[LaunchAnalysis], rooms: Rooms) -> Execution:
    if rooms:
        programs = [analysis.program for analysis in analyses]
        analyses = _analyses(programs, analyses[0].launch, partial(load_launch, rooms=rooms))
    return _first_execution(analyses)


def _analyses(programs: Iterable[Program], launch: Launch, load: Load | None = None) -> list[LaunchAnalysis]:
    """Return the launch at each level; PTX among them tells how much each block works."""
    levels = tuple(programs)
    ptx = next((program for program in levels if program.level is Level.PTX), None)
    return [LaunchAnalysis(program, launch, load=load, ptx=ptx) for program in levels]


def _complete(analysis: LaunchAnalysis) -> tuple[Launch, tuple[Assumption, ...]]:
    """Return the launch with buffers for pointers it leaves out, as far as analysis of the PTX finds them."""
    if analysis.program.level is not Level.PTX or not analysis.bound.missing:
        return analysis.launch, ()
    try:
        return complete(analysis.bound, lambda: analysis.counted)
    except ArgumentError:  # a number is missing: the emulator lists everything that is
        return analysis.launch, ()


def _on_likely_contents(programs: Sequence[Program], launch: Launch) -> Execution | None:
    """Return the execution on the indices that addresses ask for; None where there are none, or they fail.

    An index may be right for its buffer and too large for what the kernel reads beside it.
    """
    if programs[-1].level is not Level.PTX:
        return None
    with suppress(InputError, UndecidedError):
        likely = with_likely_contents(bind(programs[-1], launch))
        if likely is not launch:
            found = _first_execution(_analyses(programs, likely))
            return None if any(a.parameter == FAILED_CONTENTS for a in found.assumptions) else found
    return None


def _first_execution(analyses: Sequence[LaunchAnalysis]) -> Execution:
    """Return the execution that the first strategy finds at the first level that has one."""
    found = attempt(product(analyses, STRATEGIES))
    return found if isinstance(found, Execution) else count_with_assumptions(analyses[-1], found)


def execute(
    program: Program,
    launch: Launch,
    loop_counts: Mapping[int, float] | None = None,
    *,
    limits: Limits = LIMITS,
    engine: Engine | None = None,
    arrays: Mapping[str, NDArray[Any]] | None = None,
) -> Execution:
    """Return what a launch of one program does by emulation, as far as it goes.

    The parameters are those of :class:`~warpwatt.emulate.strategies.LaunchAnalysis`; ``arrays`` are contents
    of buffers by the launch's names, in place of their fills.

    Raises
    ------
    InputError
        If a thread touches memory out of bounds or waits for ever, or the emulator cannot follow the program.
    """
    load = None if arrays is None else partial(load_launch, arrays=arrays)
    analysis = LaunchAnalysis(program, launch, loop_counts or {}, limits, engine, load)
    found = attempt((analysis, strategy) for strategy in EMULATION)
    if isinstance(found, Execution):
        return found
    raise InputError(f"kernel {demangle(program.name)} is not emulated: {found.reason}")
