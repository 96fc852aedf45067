"""From one SM to the whole launch: which blocks it gets, how much of them is simulated, and the rest.

The fullest SM decides. What is left out of its simulation (waves in the middle, iterations in the middle of
loops) is added by the difference between a smaller and a larger simulation.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import numpy as np

from warpwatt.core.arrays import GOLDEN
from warpwatt.core.blocks import BlockClasses
from warpwatt.core.execution import AccessPattern
from warpwatt.core.program import Program
from warpwatt.core.streams import WarpStreams
from warpwatt.models.pipeline.alike import accesses_of_different, first_alike
from warpwatt.models.pipeline.codes import SCOREBOARD_REASONS
from warpwatt.models.pipeline.machine import settings
from warpwatt.models.pipeline.shorten import runs
from warpwatt.models.pipeline.simulator import Counters, Inputs, Simulation, simulate, simulate_with_beginning
from warpwatt.models.pipeline.streams import access_costs, equally_far

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from warpwatt.models.pipeline.machine import Machine
    from warpwatt.models.pipeline.simulator import Records

BUDGET = 200_000
"""Warp instructions of the largest simulation; beyond it loops are cut short."""
SMALLER = 0.2
"""Iterations of the smaller simulation over those of the larger: the less, the less of the unevenness of both
is in what is drawn through them (13 kernels whose loops are cut, beside whole simulations on H200: within
1.0 % instead of 1.5 % with 0.6)."""
TRACED = 0.6
"""Share of a block's work in the streams below which they stand for its beginning only."""

IN_PART = 1.2
"""Work of a block over that in the streams from which on blocks were traced in part."""
FEWEST_TRIPS, REPEATING = 3, 0.8
"""Loops cut to so many iterations must leave less than this share of a block to be worth it."""
LEAST = 0.05
"""Part of the work in which two simulations must differ for a slope."""
LEAST_WAVES, MOST_WAVES = 2, 16
"""Waves of blocks simulated: in the first ones blocks that started together are in step, some computing while
others load only later; the most are enough for the memory system to settle."""
WHOLE = 1.5
"""Work of :data:`LEAST_WAVES` waves over the budget up to which whole blocks are simulated, however long: one
wave with its loops cut short has all waves begin and end by themselves (77 kernels beside budgets of
4,000,000 on H200: 3.8 % off, root mean square, 8 of them by 5 to 19 %; 2.4 % and one of them with this)."""
STARVED, SATED = 0.75, 0.98
"""Shares of DRAM's bandwidth that an SM uses where its blocks, in step with each other, leave some idle."""
APART = 0.5
"""Part of the time in which an SM ends a block by which its blocks start one behind the other, where they do
not do so by themselves in the waves that are simulated: in long launches all SMs together keep DRAM busy."""


@dataclass(frozen=True, eq=False)
class ChipLaunch:
    """What is simulated: streams of sampled blocks, the grid, resident blocks per SM."""

    program: Program
    table: Records
    streams: WarpStreams
    machine: Machine
    blocks: int
    resident: int
    accesses: Mapping[int, AccessPattern] = field(default_factory=dict)
    classes: BlockClasses | None = None
    """Where blocks do unequal work: which do how much."""
    instructions: float | None = None
    """Warp instructions of a block of the grid, on average; None: as sampled. Of long blocks the streams hold
    the beginning only."""

    @property
    def scale(self) -> float:
        """How many times the work of the blocks in the streams the blocks of the grid do."""
        if self.instructions is None:
            return 1.0
        steps, per_block = self.streams.steps, self.streams.starts[:: self.streams.warps_per_block]
        before = np.concatenate(([0], np.cumsum(steps[:, 1] - steps[:, 0])))
        work = np.diff(before[per_block])
        done = float(np.average(work, weights=self.streams.weights or None))
        return self.instructions / (done + self.streams.waited)

    @cached_property
    def costs(self) -> NDArray[np.float64]:
        """Rows of :func:`access_costs` per access of the streams, 0 of blocks that do what others do."""
        return _costs(_Priced(self.streams, self.machine.name, id(self.accesses), self))


@dataclass(frozen=True, slots=True)
class _Priced:
    """A launch as a key: its accesses cost the same at every clock."""

    streams: WarpStreams
    machine: str
    accesses: int
    launched: ChipLaunch = field(compare=False)


@lru_cache(maxsize=8)
def _costs(key: _Priced) -> NDArray[np.float64]:
    launched = key.launched
    return access_costs(
        launched.streams,
        launched.table,
        launched.program,
        launched.machine,
        launched.accesses,
        accesses_of_different(launched.streams),
    )


@dataclass(frozen=True, slots=True, eq=False)
class ChipSimulation:
    """What the fullest SM does, what was left out of loops and waves included."""

    cycles: float
    """From first dispatch to last completion."""
    sm: Simulation
    """The rest stands for ``sm.counters.cycles`` of them."""
    instructions: float
    """Warp instructions simulated, all simulations together."""
    remarks: tuple[str, ...] = ()
    """What the user should know of it."""


def simulate_launch(launched: ChipLaunch) -> ChipSimulation:
    """Return the cycles of the fullest SM, where blocks do much the same work."""
    on_sm = math.ceil(launched.blocks / launched.machine.sm_count)
    resident = min(launched.resident, on_sm)
    if launched.scale > IN_PART and launched.streams.objects is None:
        launched = replace(launched, streams=equally_far(launched.streams, launched.program))
    affordable = BUDGET / 2 / launched.streams.instructions_per_block
    cut_short = 2 * WHOLE * affordable < min(on_sm, LEAST_WAVES * resident) and _repeats(launched)
    if cut_short or launched.scale > 1.0 / TRACED:
        return _long_blocks(launched, on_sm, resident)
    found = _short_blocks(launched, on_sm, resident, affordable)
    return replace(found, cycles=found.cycles * launched.scale)


def _repeats(launched: ChipLaunch) -> bool:
    """Whether there are loops to cut short; of straight code whole waves have to be simulated."""
    streams = launched.streams
    return runs(streams).instructions(FEWEST_TRIPS) < REPEATING * streams.instructions_per_block


def _short_blocks(launched: ChipLaunch, on_sm: int, resident: int, affordable: float) -> ChipSimulation:
    """Simulate several waves of whole blocks; the difference of two simulations stands for the others."""
    few, many = _waves(on_sm, resident, affordable)
    whole = _some_waves(launched, on_sm, resident, (few, many))
    done = launched.streams.instructions_per_block * (many + few * (many < on_sm))
    if few < many < MOST_WAVES * resident and resident > 1 and _fed_in_step(launched, whole, on_sm):
        turn = max(launched.machine.dispatch_cycles, APART * whole.counters.cycles / on_sm)
        staggered = replace(launched, machine=replace(launched.machine, dispatch_cycles=turn))
        found = _some_waves(staggered, on_sm, resident, (few, many))
        if found.counters.cycles < whole.counters.cycles:
            waited = whole.counters.dispatch_busy
            whole = found._replace(counters=found.counters._replace(dispatch_busy=waited))
        done *= 2
    return ChipSimulation(whole.counters.cycles, whole, done)


def _some_waves(launched: ChipLaunch, on_sm: int, resident: int, waves: tuple[int, int]) -> Simulation:
    """Return what all blocks of an SM count, from simulations of a few of them and of more."""
    few, many = waves
    inputs = _inputs(launched, launched.streams, many, resident, on_sm)
    if few == many:
        return simulate(inputs)
    large, small = simulate_with_beginning(inputs, few)
    return _continued(large, small, (on_sm - many) / (many - few))


def _fed_in_step(launched: ChipLaunch, sm: Simulation, on_sm: int) -> bool:
    """Whether an SM uses most of its share of DRAM, and not all of it: its blocks begin and end together."""
    machine = launched.machine
    share = machine.dram_bytes * on_sm * machine.sm_count / launched.blocks
    return STARVED <= sm.counters.dram_bytes / (sm.counters.cycles * share) < SATED


def _long_blocks(launched: ChipLaunch, on_sm: int, resident: int) -> ChipSimulation:
    """Simulate one wave with its loops cut short; it stands for the others, the last one for itself.

    Blocks are replaced one by one: at any time each is of another age, and none ends alone before the last
    wave. So in a wave that others follow the oldest block becomes the youngest whenever the work of a block
    is done. No unit works longer than all the time, whatever the difference of two short simulations says.
    Long blocks never wait for their dispatch, but for the first wave, which the others do not repeat.
    """
    at_once = replace(launched.machine, dispatch_cycles=0.0, warp_dispatch_cycles=0.0)
    launched = replace(launched, machine=at_once)
    found = runs(launched.streams)
    limit = found.limit(BUDGET / resident)
    if found.instructions(limit) * resident > BUDGET:  # inner loops too
        found = runs(found.cut(limit), longest=False)
        limit = found.limit(BUDGET / resident)
    streams, rest = found.cut(limit), on_sm % resident
    smaller = max(2, int(limit * SMALLER))
    fewer = found.cut(smaller)
    done, less = (_work_in_line(launched, one, resident) for one in (streams, fewer))
    tells = done - less >= LEAST * done
    wanted = [(streams, resident), *([(streams, rest)] if rest else []), (fewer, resident)]
    rotates = on_sm > resident
    large, *others = _run_each(launched, wanted if tells else wanted[:-1], resident, on_sm, rotates=rotates)
    whole = _lengthened(launched, (done, less), large, others[-1] if tells else None)
    wave = max(whole.counters.cycles, busiest_unit(whole, launched.machine))
    cycles = wave * (on_sm // resident)
    if rest:
        cycles += wave * others[0].counters.cycles / large.counters.cycles
    simulated = streams.instructions_per_block * (resident + rest)
    return ChipSimulation(cycles, whole._replace(counters=whole.counters._replace(cycles=wave)), simulated)


def busiest_unit(sm: Simulation, machine: Machine) -> float:
    """Return the cycles that the busiest unit of an SM works."""
    of_sub_core = max(sm.counters.issued_instructions, *sm.pipe_busy) / machine.sub_cores
    return float(max(of_sub_core, sm.counters.lsu_busy, *sm.sm_pipe_busy))


def _lengthened(
    launched: ChipLaunch, work: tuple[float, float], large: Simulation, shorter: Simulation | None
) -> Simulation:
    """Return what whole loops would count, where loops cut to two limits count ``large`` and ``shorter``.

    ``work`` are the warp instructions of a block in each of the two. ``shorter`` None: they differ too little
    to tell a slope from.
    """
    whole = _mean_work(launched.streams) * launched.scale
    done, less = work
    if shorter is None:
        return _continued(large, None, whole / done - 1.0)
    return _continued(large, shorter, (whole - done) / (done - less))


def _continued(large: Simulation, small: Simulation | None, times: float) -> Simulation:
    """Return the counts of ``large`` and ``times`` the difference to ``small`` (None: nothing) added.

    No count falls below zero. Waits for results keep their parts of each instruction's scoreboard stalls.
    """

    def more(name: str) -> NDArray[np.float64]:
        counted = np.asarray(getattr(large, name))
        fewer = 0.0 if small is None else np.asarray(getattr(small, name))
        return np.maximum(0.0, counted + times * (counted - fewer))

    stalls = more("stalls")
    before, after = (s[:, SCOREBOARD_REASONS].sum(axis=1) for s in (large.stalls, stalls))
    grown = np.divide(after, before, out=np.zeros(len(stalls)), where=before > 0)
    return large._replace(
        counters=Counters(*more("counters").tolist()),
        pipe_busy=more("pipe_busy"),
        sm_pipe_busy=more("sm_pipe_busy"),
        stalls=stalls,
        awaited=large.awaited * grown[:, None],
    )


def _waves(on_sm: int, resident: int, affordable: float) -> tuple[int, int]:
    """Return the blocks of a smaller and a larger simulation, both with the remainder of the last wave.

    The larger has the ``affordable`` blocks, at least :data:`LEAST_WAVES`, at most :data:`MOST_WAVES`.

    >>> _waves(3, 4, 100), _waves(9, 4, 9), _waves(41, 4, 0), _waves(401, 4, 33)
    ((3, 3), (9, 9), (5, 9), (17, 33))
    """
    rest = on_sm % resident
    waves = min(MOST_WAVES, max(LEAST_WAVES, int((affordable - rest) / resident)))
    many = rest + waves * resident
    if many >= on_sm:
        return on_sm, on_sm
    return rest + waves // 2 * resident, many


def _run_each(
    launched: ChipLaunch,
    wanted: Sequence[tuple[WarpStreams, int]],
    resident: int,
    on_sm: int,
    *,
    rotates: bool = False,
) -> list[Simulation]:
    """Simulate several numbers of blocks of several streams, at the same time where there are processors.

    ``rotates``: whether the oldest block becomes the youngest after the work of a block.
    """

    def do(streams: WarpStreams, blocks: int) -> Simulation:
        return simulate(_inputs(launched, streams, blocks, resident, on_sm, rotates=rotates))

    _ = launched.costs  # here, so that no two threads work it out
    with ThreadPoolExecutor(len(wanted)) as pool:
        others = [pool.submit(do, *one) for one in wanted[1:]]
        return [do(*wanted[0]), *(one.result() for one in others)]


def _inputs(
    launched: ChipLaunch,
    streams: WarpStreams,
    blocks: int,
    resident: int,
    on_sm: int,
    *,
    rotates: bool = False,
) -> Inputs:
    """Return what is simulated of ``blocks`` blocks on one SM."""
    machine = launched.machine
    share = on_sm * machine.sm_count / launched.blocks  # the fullest SM's part of the traffic
    rotation = max(1, int(streams.instructions_per_block)) if rotates else 0
    return Inputs(
        settings(
            machine, resident, streams.warps_per_block, share, rotation, machine.sharers(launched.blocks)
        ),
        launched.table,
        streams.starts,
        np.ascontiguousarray(streams.steps),
        streams.access_instruction,
        launched.costs,
        first_alike(launched.streams)[_line(launched.streams, blocks)],
    )


def _mean_work(streams: WarpStreams) -> float:
    """Return the warp instructions of a block, each sampled one counting for those that it stands for."""
    return float(np.average(streams.work_of_blocks, weights=streams.weights or None))


def _work_in_line(launched: ChipLaunch, streams: WarpStreams, blocks: int) -> float:
    """Return the warp instructions that the blocks in a line have left on average, their loops cut."""
    return float(streams.work_of_blocks[_line(launched.streams, blocks)].mean())


def _line(streams: WarpStreams, blocks: int) -> NDArray[np.int64]:
    """Return which sampled block stands in each place of the line: each as often as its weight says.

    A short line has blocks of all lengths: the median first, then what is spread evenly around it.
    A line of as many blocks as the weights say in all has exactly those; of others a shorter line is the
    beginning of a longer one.

    >>> from warpwatt.core.streams import WarpStreams
    >>> steps = np.array([[0, 9, 0]] * 3)
    >>> streams = WarpStreams(1, (0, 7, 9), np.arange(4), steps, *[np.zeros(0)] * 5, weights=(0.5, 4.0, 0.5))
    >>> _line(streams, 10).tolist()
    [1, 1, 1, 1, 2, 1, 1, 1, 1, 0]
    """
    weights = np.array(streams.weights or (1.0,) * len(streams.blocks))
    if streams.weights and weights.sum() == blocks and not (weights % 1).any():
        return np.repeat(np.arange(len(weights)), weights.astype(np.int64))
    order = np.argsort(streams.work_of_blocks, kind="stable")
    reached = np.cumsum(weights[order]) / weights.sum()
    places = (0.5 + np.arange(blocks) * GOLDEN) % 1.0
    return order[np.minimum(np.searchsorted(reached, places, side="right"), len(weights) - 1)]
