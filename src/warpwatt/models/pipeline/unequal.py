"""Launches whose blocks do unequal work: each class simulated by itself, the grid put together from them.

Blocks start in the order of their numbers, each in the first slot of an SM that is free (Graham's list
scheduling, Bell System Technical Journal 45(9), 1966): the launch ends with its last block, not when the
average SM would.
"""

from __future__ import annotations

import heapq
import math
import operator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from warpwatt.models.pipeline.chip import busiest_unit, simulate_launch
from warpwatt.models.pipeline.last_sm import simulate_one_wave, simulate_until_last
from warpwatt.models.pipeline.simulator import Counters

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from warpwatt.core.blocks import BlockClasses
    from warpwatt.core.streams import WarpStreams
    from warpwatt.models.pipeline.chip import ChipLaunch, ChipSimulation
    from warpwatt.models.pipeline.machine import Machine
    from warpwatt.models.pipeline.simulator import Simulation

SIMULATED = 4
"""Classes simulated at most; the others take as long as the one with the most work, in proportion."""
IDLE, LONGEST = 0.2, 0.5
"""Share of idle blocks, and of the time that one block takes, from which on the user is told."""
STEPS = 200_000
"""Blocks whose start is followed one by one; of longer runs whole rounds are taken at once."""


@dataclass(frozen=True, slots=True)
class _Residence:
    """How long a block of a class is resident, in cycles, and what one adds to the counts of its SM."""

    cycles: float
    counts: Simulation


def simulate_grid(launched: ChipLaunch) -> ChipSimulation:
    """Return cycles until the last block has ended; unequal ones with the counts of an average SM."""
    classes = launched.classes
    if classes is None or not classes.unequal:
        return simulate_until_last(launched)
    found = _unequal(launched, classes)
    fullest = simulate_one_wave(launched, classes)
    return (
        found if fullest is None or fullest.cycles <= found.cycles else replace(found, cycles=fullest.cycles)
    )


def _unequal(launched: ChipLaunch, classes: BlockClasses) -> ChipSimulation:
    machine = launched.machine
    main, residences, instructions = _residences(launched, classes)
    runs = zip(classes.order, classes.counts, strict=True)
    ended = makespan(
        [(residences[k].cycles, round(n)) for k, n in runs], machine.sm_count * launched.resident
    )
    sm = _average_sm(main, residences, classes, machine.sm_count)
    fullest = simulate_one_wave(launched, classes)
    cycles = max(ended, _busiest(sm, machine), fullest.cycles if fullest else 0.0)
    sm = sm._replace(counters=sm.counters._replace(cycles=cycles))
    told = _remarks(classes, cycles, max(r.cycles for r in residences))
    return replace(main, cycles=cycles, sm=sm, instructions=instructions, remarks=told)


def _average_sm(
    main: ChipSimulation, residences: Sequence[_Residence], classes: BlockClasses, sms: int
) -> Simulation:
    """Return the counts of an average SM; the warps' waits are those of the main class, as many as fit."""
    pairs = [(n / sms, r.counts) for n, r in zip(classes.populations, residences, strict=True)]
    counters = Counters(*np.sum([share * np.array(one.counters) for share, one in pairs], axis=0).tolist())
    grown = main.sm.scaled(counters.warp_cycles / max(1.0, main.sm.counters.warp_cycles))
    return grown._replace(
        counters=counters,
        pipe_busy=np.sum([share * one.pipe_busy for share, one in pairs], axis=0),
        sm_pipe_busy=np.sum([share * one.sm_pipe_busy for share, one in pairs], axis=0),
    )


def _busiest(sm: Simulation, machine: Machine) -> float:
    """Return the cycles that the busiest unit or level of memory works: classes share them."""
    return max(
        busiest_unit(sm, machine),
        sm.counters.l2_bytes / machine.l2_bytes,
        sm.counters.dram_bytes / machine.dram_bytes,
    )


def _remarks(classes: BlockClasses, cycles: float, longest: float) -> tuple[str, ...]:
    """Return what the user should know; ``longest`` are the cycles of one block, of ``cycles`` in all."""
    found = []
    idle, blocks = classes.idle(), sum(classes.populations)
    if idle >= IDLE:
        found.append(_idle(idle, blocks))
    if longest >= LONGEST * cycles:
        times = (
            max(classes.instructions)
            * blocks
            / sum(map(operator.mul, classes.populations, classes.instructions))
        )
        found.append(
            f"the launch lasts as long as the block that works longest, {times:,.1f} times the mean: "
            "give its work to more blocks"
        )
    return tuple(found)


def _idle(share: float, blocks: float) -> str:
    """Return that this share of so many blocks does next to nothing; of nearly all, how many are left.

    >>> for share, blocks in ((0.976, 16_000.0), (0.75, 4.0), (0.999, 1e5), (0.99999, 1e5)):
    ...     print(_idle(share, blocks))
    98% of the blocks do next to nothing: 384 do the work
    75% of the blocks do next to nothing: 1 does the work
    all but 100 of 100,000 blocks do next to nothing
    all but 1 of 100,000 blocks do next to nothing
    """
    percent, working = f"{share:.0%}", max(1, round(blocks * (1.0 - share)))
    if percent == "100%":
        return f"all but {working:,} of {blocks:,.0f} blocks do next to nothing"
    does = "does" if working == 1 else "do"
    return f"{percent} of the blocks do next to nothing: {working:,} {does} the work"


def _residences(
    launched: ChipLaunch, classes: BlockClasses
) -> tuple[ChipSimulation, list[_Residence], float]:
    """Return the simulation of the class with the most work, the residence of each class, what it took."""
    traced = [k for k in range(len(classes.populations)) if _of_class(launched.streams, classes, k)]
    crowd = max(traced, key=lambda k: classes.populations[k])
    wanted = dict.fromkeys((*traced[:SIMULATED], crowd))
    simulated, found = {}, {}
    for k in wanted:
        alike, blocks = _alone(launched, classes, k)
        simulated[k] = simulate_launch(alike)
        rounds = max(1, math.ceil(blocks / alike.resident))  # the last one, perhaps with fewer, counts too
        found[k] = _Residence(simulated[k].cycles / rounds, _of_whole(simulated[k]).scaled(1.0 / blocks))
    residences = [
        found.get(k) or _in_proportion(found, classes.instructions, w)
        for k, w in enumerate(classes.instructions)
    ]
    return simulated[traced[0]], residences, sum(s.instructions for s in simulated.values())


def _of_whole(found: ChipSimulation) -> Simulation:
    """Return what an SM counts in all its cycles: of long blocks one wave was simulated."""
    return found.sm.scaled(found.cycles / max(1.0, found.sm.counters.cycles))


def _in_proportion(
    found: Mapping[int, _Residence], instructions: Sequence[float], wanted: float
) -> _Residence:
    """Return the residence of a block from that of the class whose blocks do the most similar work."""
    nearest = min(found, key=lambda k: abs(math.log(max(1.0, instructions[k]) / max(1.0, wanted))))
    share = wanted / max(1.0, instructions[nearest])
    return _Residence(found[nearest].cycles * share, found[nearest].counts.scaled(share))


def _alone(launched: ChipLaunch, classes: BlockClasses, number: int) -> tuple[ChipLaunch, float]:
    """Return a class as a launch of its own, its longest run, and the blocks of it that an SM gets.

    As many stand on an SM together as the run brings there.
    """
    run = _longest_run(classes, number)
    sms = launched.machine.sm_count
    streams = _of_class(launched.streams, classes, number)
    assert streams is not None
    alike = replace(
        launched,
        streams=streams,
        blocks=round(run),
        resident=min(launched.resident, math.ceil(run / sms)),
        instructions=classes.instructions[number],
        classes=None,
    )
    return alike, math.ceil(round(run) / sms)


def _longest_run(classes: BlockClasses, number: int) -> float:
    """Return how many blocks of a class follow one another, but for those that are gone at once."""
    kept = np.isin(classes.order, (*classes.working, number))
    order, counts = classes.order[kept], classes.counts[kept]
    starts = np.flatnonzero(np.diff(order, prepend=-1))
    runs = np.add.reduceat(counts, starts)[order[starts] == number]
    return max(1.0, float(runs.max(initial=0.0)))


@lru_cache(maxsize=32)
def _of_class(streams: WarpStreams, classes: BlockClasses, number: int) -> WarpStreams | None:
    """Return the streams of a class; always the same ones, so that what is found in them is kept."""
    places = [p for p, block in enumerate(streams.blocks) if classes.of_block.get(block) == number]
    return streams.only(places) if places else None


def makespan(runs: Sequence[tuple[float, int]], slots: int) -> float:
    """Return when the last of some blocks ends that start in order, each in the first free of ``slots``.

    ``runs`` are durations and how many blocks in a row have it. Of runs that fill all slots several times,
    whole rounds are taken at once.

    >>> makespan([(1.0, 5), (10.0, 1)], 2), makespan([(10.0, 1), (1.0, 5)], 2), makespan([(2.0, 10**9)], 10)
    (12.0, 10.0, 200000000.0)
    """
    free = [0.0] * slots
    steps = 0
    for duration, count in runs:
        rounds = max(0, count // slots - 1) if steps + count > STEPS or count > 4 * slots else 0
        if rounds:
            free = [at + rounds * duration for at in free]
        for _ in range(count - rounds * slots):
            heapq.heapreplace(free, free[0] + duration)
        steps += count - rounds * slots
    return float(np.max(free))
