"""From a bound launch to an :class:`Execution`, by running sampled blocks.

Only what executions and addresses depend on is run (:mod:`~warpwatt.emulate.slice`), for a sample of blocks
whose size does not depend on the grid (:mod:`~warpwatt.emulate.sampling`), and scaled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np

from warpwatt.core.arguments import Buffer
from warpwatt.core.errors import InputError
from warpwatt.core.execution import Assumption, Execution
from warpwatt.core.garbage import collecting_later
from warpwatt.core.launch import WARP_SIZE, Launch
from warpwatt.core.program import Level, Program
from warpwatt.core.progress import step
from warpwatt.core.streams import WarpStreams
from warpwatt.emulate.assumptions import (
    nan_assumptions,
    product_assumptions,
    sampling_assumptions,
    trace_assumptions,
    uncovered_assumptions,
)
from warpwatt.emulate.beginnings import Beginnings
from warpwatt.emulate.block_classes import measured_classes, sample_by_work, traced_classes
from warpwatt.emulate.caches.reuse import reuse_of
from warpwatt.emulate.context import load_launch
from warpwatt.emulate.counted_blocks import blocks_may_differ, count_blocks
from warpwatt.emulate.failures import failure
from warpwatt.emulate.hazards import remarks
from warpwatt.emulate.idle_blocks import short_blocks, work_by_running
from warpwatt.emulate.ir import PRODUCTS
from warpwatt.emulate.layout import PARAMETER_BANK
from warpwatt.emulate.lift import lift
from warpwatt.emulate.pairs import leaders, multiplies_in_pairs, with_partners
from warpwatt.emulate.patterns import access_patterns, constant_reads, footprints
from warpwatt.emulate.run import Run, Stop
from warpwatt.emulate.sampling import sample, whole
from warpwatt.emulate.scaling import concatenate, scale
from warpwatt.emulate.slice import control_slice, reads_contents
from warpwatt.emulate.spins import without_polls, without_spins
from warpwatt.emulate.streams import first_accesses, warp_streams
from warpwatt.emulate.tickets import FIRST_TURN, counters, last_apart
from warpwatt.emulate.trips import loop_trips
from warpwatt.emulate.units import run_further, run_units, starter
from warpwatt.isa.sass.products import is_product

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from warpwatt.core.blocks import BlockClasses
    from warpwatt.emulate.counted_blocks import Counted
    from warpwatt.emulate.ir import Routine
    from warpwatt.emulate.memory import DeviceMemory
    from warpwatt.emulate.run import Context, Limits, Trace
    from warpwatt.emulate.sampling import Sample
    from warpwatt.emulate.scaling import GridRun
    from warpwatt.emulate.tickets import Counters
    from warpwatt.emulate.units import Engine, Sampled, Start
    from warpwatt.program.binding import BoundLaunch
    from warpwatt.program.block_work import BlockWork

    Load = Callable[[BoundLaunch], tuple[Context, DeviceMemory]]

MOST_ENDED = 0.5
"""Share of the grid for which blocks that were traced to their end must stand to speak for the others."""
_FAILED = frozenset({Stop.FAULT, Stop.DEADLOCK})


@dataclass(frozen=True, slots=True, eq=False)
class Emulation:
    """What came of running sampled blocks of a launch.

    Attributes
    ----------
    bound
        The launch, bound to the program that was lifted: indices of instructions are its.
    buffers
        Name and bytes of each buffer, by slot of device memory.
    begin
        Runs the beginnings of other blocks.
    counted
        Many more blocks, counted without a trace, where they differ.
    """

    bound: BoundLaunch
    routine: Routine
    buffers: Mapping[int, tuple[str, float | None]]
    sampled: Sampled
    begin: Beginnings
    counted: Counted | None = None

    @property
    def stopped(self) -> Run | None:
        """The run that failed, or spent the budget before any unit ended; None where there are counts."""
        cut = self.sampled.cut
        return None if cut is None or (self.sampled.runs and cut.stop not in _FAILED) else cut

    @property
    def unknown_opcodes(self) -> tuple[str, ...]:
        """Opcodes it executed that the emulator has no semantics for, by their first part."""
        runs = (*self.sampled.runs, *filter(None, [self.sampled.cut]))
        names = {opcode.partition(".")[0] for run in runs for opcode in run.unknown.values()}
        return tuple(sorted(names))

    @property
    def assumes_contents(self) -> bool:
        """Whether there are buffers whose contents nobody described."""
        return any(isinstance(a, Buffer) and a.assumed_fill for a in self.bound.arguments.values())

    def assumed_contents(
        self, executions: NDArray[Any], requests: NDArray[Any] | None = None
    ) -> tuple[Assumption, ...]:
        """Return the assumptions about contents of buffers that decide what was executed.

        ``requests`` are the executions of accesses with a lane on, where that is known.
        """
        if not self.assumes_contents:
            return ()
        from warpwatt.emulate.contents import data_assumptions
        from warpwatt.emulate.decisions import Seen
        from warpwatt.emulate.steering import data_dependence

        seen = Seen(executions, executions if requests is None else requests)
        return tuple(data_assumptions(data_dependence(self.routine), self.bound, seen))

    def failure(self) -> tuple[InputError, tuple[Assumption, ...]]:
        """Return why it stopped as an error, and the assumptions about contents that may be the reason."""
        assert self.stopped is not None
        assumed = tuple(self._at_fault(self.stopped))
        return failure(self.stopped, self.bound, self.buffers, assumed), assumed

    def _at_fault(self, run: Run) -> Iterator[Assumption]:
        """Yield the assumed contents that a run depends on where it stopped."""
        if not self.assumes_contents:
            return
        from warpwatt.emulate.contents import contents_at_fault
        from warpwatt.emulate.decisions import Seen
        from warpwatt.emulate.steering import data_dependence

        dependence = data_dependence(self.routine)
        at = run.fault.instruction if run.stop is Stop.FAULT and run.fault is not None else -1
        loads = dependence.behind.get(at, dependence.control)
        yield from contents_at_fault(loads, self.bound, Seen(run.executions, run.executions))


@step("emulating")
def run_sample(
    bound: BoundLaunch,
    limits: Limits,
    engine: Engine | None = None,
    load: Load | None = None,
    work: BlockWork | None = None,
) -> Emulation:
    """Run sampled blocks of a launch of a PTX or SASS program.

    Parameters
    ----------
    limits
        Bounds of all sampled blocks together.
    engine
        Who runs the micro-operations; the native engine where there is one.
    load
        What puts the launch on a device; None: its buffers as they are described.
    work
        How much the blocks of the grid work, as far as analysis knows.

    Raises
    ------
    ArgumentError
        If an argument is missing or does not fit.
    """
    routine, control = prepared(bound.program)
    bound = replace(bound, program=routine.program)
    device = _Device(bound, routine, control, limits, engine, load or load_launch)
    grid, alone = bound.launch.grid, _stands_alone(bound.launch)
    drawn = counters(routine, control, device.fresh, grid.count // 2) if alone else None
    if drawn is not None and drawn.shared:
        ran = device.run(whole(grid), FIRST_TURN)
        if ran.found.cut is None:
            return device.emulation(ran)
    device = replace(device, drawn=drawn)
    taken = _first_sample(bound.launch, work, drawn)
    ran, counted = device.run(taken), None
    if ran.found.cheap:
        every = device.run(whole(grid))
        if not alone or every.found.traced or (counted := count_blocks(device.fresh, ran.found)) is None:
            ran = every
    elif alone and drawn is None and engine is None and blocks_may_differ(ran.found, bound, routine, control):
        counted = count_blocks(device.fresh, ran.found)
    again = _better_sample(taken, ran.found, counted, device.fresh) if alone else None
    if again is not None:
        ran = device.run(again)
    elif counted is None:
        ran = replace(ran, found=run_further(ran.start, ran.found, limits))
    return device.emulation(ran, counted)


@dataclass(frozen=True, slots=True, eq=False)
class _Ran:
    """Sampled blocks that were run, what runs more of them, and the memory that they share."""

    found: Sampled
    start: Start
    memory: DeviceMemory


@dataclass(frozen=True, slots=True, eq=False)
class _Device:
    """Where blocks of a launch are run, each sample on memory as the launch finds it.

    ``drawn``: what blocks draw numbers from, set for each to what those before it leave.
    """

    bound: BoundLaunch
    routine: Routine
    control: Routine
    limits: Limits
    engine: Engine | None
    load: Load
    drawn: Counters | None = None

    def fresh(self, first_turn: int = 0) -> tuple[Start, DeviceMemory]:
        """Return what runs blocks, and their memory as the launch finds it."""
        context, memory = self.load(self.bound)
        context = replace(context, first_turn=first_turn)
        return starter(self.engine, _steered(self.routine, self.control, context), context, memory), memory

    def run(self, taken: Sample, first_turn: int = 0) -> _Ran:
        """Run the blocks of a sample."""
        start, memory = self.fresh(first_turn)
        if self.drawn is not None:
            start = self.drawn.numbered(start, memory)
        found = run_units(start, taken, self.limits, spare=not reads_contents(self.control))
        return _Ran(found, start, memory)

    def emulation(self, ran: _Ran, counted: Counted | None = None) -> Emulation:
        """Return what came of it; from then on the memory knows which buffers were touched."""
        found = ran.found.localised(ran.memory)
        counted = counted and counted.localised(ran.memory)
        return Emulation(self.bound, self.routine, ran.memory.buffers, found, Beginnings(self.fresh), counted)


def _first_sample(launch: Launch, work: BlockWork | None, drawn: Counters | None) -> Sample:
    """Return which blocks are run before any was seen: by what analysis knows of their work."""
    if not _stands_alone(launch):
        return sample(launch.grid, launch.cluster)
    if drawn is not None and work is not None:
        work = last_apart(work)
    return sample_by_work(launch.grid, work)


def _better_sample(
    taken: Sample,
    found: Sampled,
    counted: Counted | None,
    fresh: Callable[[], tuple[Start, DeviceMemory]],
) -> Sample | None:
    """Return a sample by what blocks were seen to do; None where the one that was taken is as good."""
    grid = taken.grid
    if counted is not None:
        better = sample_by_work(grid, counted.work, anywhere=True)
        return better if better.order is not None or taken.order is not None else None
    longest = short_blocks(found)
    if longest is None:
        return None
    return sample_by_work(grid, work_by_running(fresh()[0], found, longest), anywhere=True)


def _stands_alone(launch: Launch) -> bool:
    """Whether the blocks of a launch, of which there are several, run without others."""
    return launch.grid.count > 1 and launch.cluster.count == 1 and not launch.cooperative


@lru_cache(maxsize=64)
@collecting_later()
def prepared(program: Program) -> tuple[Routine, Routine]:
    """Return a program lifted, and its part that is run."""
    routine = lift(program)
    if program.stack:
        from warpwatt.emulate.spills import without_spills  # which few kernels need

        routine = without_spills(routine)
    return routine, control_slice(routine)


def _steered(routine: Routine, control: Routine, context: Context) -> Routine:
    """Return what is run: less than for any launch, where products of matrices would have to be computed."""
    if PRODUCTS.isdisjoint(control.functions):
        return control
    block = context.banks[PARAMETER_BANK][routine.program.parameter_base :]
    return _decided(routine, block)


@lru_cache(maxsize=16)
def _decided(routine: Routine, parameters: bytes) -> Routine:
    from warpwatt.emulate.decided_branches import without_untaken  # which few kernels need

    return control_slice(without_untaken(routine, parameters))


def scale_to_grid(emulation: Emulation) -> Execution:
    """Return what the whole grid does, from sampled blocks that ran to their end."""
    bound, found, buffers = emulation.bound, emulation.sampled, emulation.buffers
    program, launch = bound.program, bound.launch
    strata = [found.sample.strata[k] for k in found.units]
    grid = scale(found.runs, found.sample.weights(found.units), strata)
    if emulation.counted is not None:
        more = emulation.counted
        grid = grid.counted_by(more.run, more.each, more.work.uncertainty)
    trace = concatenate([r.trace for r in found.runs if r.trace is not None])
    blocks = found.sample.blocks(found.units)
    scales = _scales(found.runs, len(program.instructions))
    alone = launch.cluster.count == 1 and not launch.cooperative  # else a block runs with its neighbours only
    begin = emulation.begin if alone else None
    reuse = reuse_of(trace, program, blocks, buffers, routine=emulation.routine, scales=scales, begin=begin)
    classes = measured_classes(found.sample, _instructions(found))
    streams = _streams(emulation.routine, trace, found, launch, classes)
    executions = grid.executions
    if streams is not None:
        streams, left = without_polls(streams, program)
        executions = executions * [left.get(i, 1.0) for i in range(len(executions))]
    if classes is None and trace.complete and _traced_whole(streams, launch):
        classes = traced_classes(streams)
    warp_weights = np.repeat(blocks.weights, launch.warps_per_block)
    return Execution(
        program,
        launch,
        counts=tuple(executions.tolist()),
        lanes=tuple(_mean_lanes(program, grid.executions, grid.lanes)),
        loops=loop_trips(trace, emulation.routine, warp_weights, grid.executions),
        accesses=access_patterns(grid, program, buffers, reuse),
        assumptions=(
            *sampling_assumptions(found.sample, found.units, grid.spread, cut=found.cut is not None),
            *trace_assumptions(found.runs, program),
            *uncovered_assumptions(found.runs, program, grid),
            *product_assumptions(program, grid),
            *emulation.assumed_contents(grid.executions, _requests(grid)),
            *nan_assumptions(launch),
        ),
        footprints=footprints(reuse),
        constants=constant_reads(grid),
        reuse=reuse,
        streams=streams,
        classes=classes,
        remarks=remarks(found.runs, program),
        blocks_run=sum(len(run.blocks) for run in found.runs),
    )


def _requests(grid: GridRun) -> NDArray[np.float64]:
    """Return how often each instruction accessed memory."""
    found = np.zeros(len(grid.executions))
    for index, access in grid.accesses.items():
        found[index] = access.sums["requests"]
    return found


def _instructions(found: Sampled) -> dict[int, float]:
    """Return the warp instructions of each unit that was run."""
    return {unit: float(run.warp_instructions) for unit, run in zip(found.units, found.runs, strict=True)}


def _traced_whole(streams: WarpStreams | None, launch: Launch) -> TypeGuard[WarpStreams]:
    """Whether streams hold every block of a launch, each on its own."""
    return streams is not None and launch.cluster.count == 1 and len(streams.blocks) == launch.grid.count


def _streams(
    routine: Routine, trace: Trace, found: Sampled, launch: Launch, classes: BlockClasses | None
) -> WarpStreams | None:
    """Return what warps do of the blocks that were traced to their end, else as far as they were.

    Where blocks do unequal work, or those that were traced to their end stand for few, every class or place
    has streams, if only as far as it was traced.
    """
    pairs = zip(found.units, found.runs, strict=True)
    begun = {unit: run.trace for unit, run in pairs if run.trace is not None and len(run.trace.step_block)}
    traced = {unit: trace for unit, trace in begun.items() if trace.complete} or begun
    if routine.program.level is not Level.SASS or not traced:
        return None
    strata, populations = found.sample.strata, found.sample.populations
    whole_strata = {strata[unit] for unit in traced}
    ended = sum(populations[stratum] for stratum in whole_strata) / sum(populations.values())
    if (classes is not None and classes.unequal) or ended < MOST_ENDED:
        traced = {u: t for u, t in begun.items() if u in traced or strata[u] not in whole_strata}
    ran = [block for unit in traced for block in found.sample.units[unit]]
    trace = trace if len(traced) == len(found.runs) else concatenate(list(traced.values()))
    units = [(unit, found.sample.units[unit]) for unit in traced]
    weights = found.sample.weights([unit for unit, _ in units])
    each = tuple(weight for (_, blocks), weight in zip(units, weights, strict=True) for _ in blocks)
    streams = warp_streams(routine, trace, ran, launch.warps_per_block)
    paired = launch.cluster.count > 1 and multiplies_in_pairs(routine.program)
    if paired:
        streams = with_partners(streams, trace, first_accesses(trace), routine.program, launch)
    streams = without_spins(streams, routine.program)
    streams = replace(streams, weights=each[: len(streams.blocks)])
    return leaders(streams, launch) if paired else streams


def _mean_lanes(program: Program, executions: NDArray[np.float64], lanes: NDArray[np.float64]) -> list[float]:
    """Return active lanes per execution; a warp whose lanes are all off still issues.

    A product in tensor memory is started once, whatever lanes are active.
    """
    mean = np.divide(lanes, executions, out=np.zeros(len(lanes)), where=executions > 0)
    mean = np.minimum(mean, WARP_SIZE)
    once = np.array([is_product(i.opcode) for i in program.instructions], np.bool_)
    mean = np.where(once & (mean > 1), mean / WARP_SIZE, mean)
    return [float(x) for x in mean]


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
