"""``execute``: from a program and a launch to an :class:`Execution`, by running sampled blocks.

Only what executions and addresses depend on is run (:mod:`~warpwatt.emulate.slice`), for a sample of blocks
whose size does not depend on the grid (:mod:`~warpwatt.emulate.sampling`), and scaled.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from warpwatt.core.execution import Execution
from warpwatt.core.launch import WARP_SIZE
from warpwatt.core.program import Level
from warpwatt.emulate.caches.reuse import reuse_of
from warpwatt.emulate.context import bind
from warpwatt.emulate.doubts import data_doubts, nan_doubts, sampling_doubts, uncovered_doubts
from warpwatt.emulate.failures import endless, failure
from warpwatt.emulate.joined import joined, scaled
from warpwatt.emulate.lift import lift
from warpwatt.emulate.patterns import access_patterns, footprints
from warpwatt.emulate.run import Limits, Run, Stop
from warpwatt.emulate.sampling import sample, whole
from warpwatt.emulate.slice import DataDependence, control_slice, data_dependence
from warpwatt.emulate.streams import warp_streams
from warpwatt.emulate.trips import loop_trips
from warpwatt.emulate.units import run_units, starter

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from warpwatt.core.launch import Launch
    from warpwatt.core.program import Program
    from warpwatt.core.streams import WarpStreams
    from warpwatt.emulate.ir import Routine
    from warpwatt.emulate.run import Trace
    from warpwatt.emulate.units import Engine, Sampled

LIMITS = Limits(warp_instructions=20_000_000, trace_bytes=32 * 2**20)
"""Bounds of all units of one launch together."""
_FAILED = frozenset({Stop.FAULT, Stop.DEADLOCK})


def execute(
    program: Program,
    launch: Launch,
    loop_counts: Mapping[int, float] | None = None,
    *,
    limits: Limits = LIMITS,
    engine: Engine | None = None,
    arrays: Mapping[str, NDArray[Any]] | None = None,
) -> Execution:
    """Return what a launch of a PTX or SASS program does, from running sampled blocks.

    Parameters
    ----------
    loop_counts
        Source line of a loop to its iterations per entry, for kernels that spend the budget in one block:
        see :func:`warpwatt.program.counting.static_execution`, which then counts.
    limits
        Budget of warp instructions and bytes of trace of all sampled blocks together.
    engine
        Who runs the micro-operations; the native engine where there is one.
    arrays
        Contents of buffers by the launch's names, in place of their fills.

    Raises
    ------
    ArgumentError
        If an argument is missing or does not fit.
    MemoryFaultError, DeadlockError
        If a sampled thread touches memory out of bounds, or waits for ever at a barrier.
    EndlessLoopError
        If one block spends the budget in a loop that analysis does not know the end of either.

    Where contents of buffers that the user did not describe may be the reason of such an error, the counts
    are those of analysis instead, and an assumption says so.
    """
    routine, short, dependence = prepared(program)
    context, memory = bind(routine.program, launch, arrays=arrays)
    buffers = {s: (name, float(memory.sizes[s])) for s, name in memory.names.items()}
    taken = sample(launch.grid, launch.cluster)
    found = run_units(starter(engine, short, context, memory), taken, limits)
    if found.cheap:
        context, memory = bind(routine.program, launch, arrays=arrays)
        found = run_units(starter(engine, short, context, memory), whole(launch.grid), limits)
    bad = next((r for r in (found.cut, *found.runs) if r is not None and r.stop in _FAILED), None)
    if bad is None and found.runs:
        return _execution(found, routine, launch, buffers, dependence)
    assert found.cut is not None
    return _instead(found.cut, routine, launch, loop_counts, buffers, dependence)


def _instead(
    cut: Run,
    routine: Routine,
    launch: Launch,
    loop_counts: Mapping[int, float] | None,
    buffers: Mapping[int, tuple[str, float | None]],
    dependence: DataDependence,
) -> Execution:
    """Return an estimate by analysis where a run failed for reasons that may not be the user's; else raise.

    Those are a block too long for the budget whose loops analysis can count, and contents of buffers that
    nobody described, which may lead threads anywhere.
    """
    from warpwatt.emulate.shortened import analysed, shortened  # noqa: PLC0415 - static analysis, seldom needed

    doubts = list(data_doubts(dependence, routine.program, launch, cut.executions))
    error = failure(cut, routine.program, launch, buffers)
    if error is None:
        counted = shortened(cut, routine, launch, loop_counts, buffers)
        if counted is not None:
            return counted
        error = endless(cut, routine.program, int(cut.executions.sum()), doubts)
    if not doubts:
        raise error
    return analysed(routine, launch, loop_counts, error, doubts)


@lru_cache(maxsize=64)
def prepared(program: Program) -> tuple[Routine, Routine, DataDependence]:
    """Return a program lifted, its part that is run (see :mod:`~warpwatt.emulate.slice`), and its doubts."""
    routine = lift(program)
    return routine, control_slice(routine), data_dependence(routine)


def _execution(
    found: Sampled,
    routine: Routine,
    launch: Launch,
    buffers: Mapping[int, tuple[str, float | None]],
    dependence: DataDependence,
) -> Execution:
    """Scale the runs to the grid."""
    program = routine.program
    weights = found.sample.weights(found.units)
    strata = [found.sample.strata[k] for k in found.units]
    grid = scaled(found.runs, weights, strata)
    trace = joined([r.trace for r in found.runs if r.trace is not None])
    blocks = found.sample.blocks(found.units)
    reuse = reuse_of(
        trace,
        program,
        blocks,
        buffers,
        routine=routine,
        scales=_scales(found.runs, len(program.instructions)),
    )
    warp_weights = np.repeat(blocks.weights, launch.warps_per_block)
    return Execution(
        program,
        launch,
        counts=tuple(grid.executions.tolist()),
        lanes=tuple(_mean_lanes(grid.executions, grid.lanes)),
        loops=loop_trips(trace, routine, warp_weights, grid.executions),
        accesses=access_patterns(grid, program, buffers, reuse),
        assumptions=(
            *sampling_doubts(found.sample, found.units, grid.spread, cut=found.cut is not None),
            *uncovered_doubts(found.runs, program, grid),
            *data_doubts(dependence, program, launch, grid.executions),
            *nan_doubts(launch),
        ),
        footprints=footprints(reuse),
        reuse=reuse,
        streams=_streams(routine, trace, found, launch),
        blocks_run=sum(len(run.blocks) for run in found.runs),
    )


def _streams(routine: Routine, trace: Trace, found: Sampled, launch: Launch) -> WarpStreams | None:
    """Return what warps do of the blocks that were traced to their end, else as far as they were."""
    pairs = zip(found.units, found.runs, strict=True)
    begun = {unit: run.trace for unit, run in pairs if run.trace is not None and len(run.trace.step_block)}
    traced = {unit: trace for unit, trace in begun.items() if trace.complete} or begun
    if routine.program.level is not Level.SASS or not traced:
        return None
    ran = [block for unit in traced for block in found.sample.units[unit]]
    trace = trace if len(traced) == len(found.runs) else joined(list(traced.values()))
    units = [(unit, found.sample.units[unit]) for unit in traced]
    weights = found.sample.weights([unit for unit, _ in units])
    each = tuple(weight for (_, blocks), weight in zip(units, weights, strict=True) for _ in blocks)
    streams = warp_streams(routine, trace, ran, launch.warps_per_block)
    return replace(streams, weights=each[: len(streams.blocks)])


def _mean_lanes(executions: NDArray[np.float64], lanes: NDArray[np.float64]) -> list[float]:
    """Return active lanes per execution; a warp whose lanes are all off still issues."""
    mean = np.divide(lanes, executions, out=np.zeros(len(lanes)), where=executions > 0)
    return [float(x) for x in np.minimum(mean, WARP_SIZE)]


def _scales(runs: Sequence[Run], instructions: int) -> dict[int, float]:
    """Return how many times more accesses instructions made than a trace that was cut short holds."""
    if all(r.trace is None or r.trace.complete for r in runs):
        return {}
    made, held = np.zeros(instructions), np.zeros(instructions)
    for run in runs:
        np.add.at(made, run.accesses.instruction, run.accesses.requests)
        if run.trace is not None:
            held += np.bincount(run.trace.access_instruction, minlength=instructions)
    return {int(i): float(made[i] / held[i]) for i in np.flatnonzero((held > 0) & (made > held))}
