"""The facts of a prediction that can change: conditions, resources, instructions, memory, stalls, energy.

Each small function lists facts of one topic as ``name -> (measure, value)``; :func:`figures` puts those of
two predictions beside each other and keeps what differs.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping

from warpwatt.core.comparison import CLEAR_SHARE, Figure, Measure, Topic
from warpwatt.core.prediction import LineCost, Prediction
from warpwatt.core.warps import Stall
from warpwatt.models.efficiency import banking, coalescing

Facts = dict[str, tuple[Measure, "float | str | None"]]
SHARE_STEP = 0.01
"""Shares that differ by less are the same."""
LINE_STALL_STEP = 0.02
"""The same for stalls of one line."""


def figures(old: Prediction, new: Prediction) -> tuple[Figure, ...]:
    """Return the facts that differ, by topic, the greatest change of a topic first."""
    found = []
    for topic, facts in TOPICS.items():
        differing = _differing(topic, facts(old), facts(new))
        least = SHARE_STEP * max(_whole(topic, old), _whole(topic, new))
        found += sorted((one for one in differing if _amount(one) >= least), key=_size, reverse=True)
    return tuple(found)


def _whole(topic: Topic, prediction: Prediction) -> float:
    """Return what the amounts of a topic are parts of, 0 where they are not."""
    if topic is Topic.ENERGY:
        return prediction.energy.value
    return prediction.case.workload.execution.warp_instructions if topic is Topic.INSTRUCTIONS else 0.0


def _amount(figure: Figure) -> float:
    """Return the larger of both values, 0 of a text."""
    sides = (side for side in (figure.old, figure.new) if isinstance(side, (int, float)))
    return max(map(abs, sides), default=0.0)


def line_figures(old: LineCost | None, new: LineCost | None) -> tuple[Figure, ...]:
    """Return the facts that differ of a line that is on both sides, the greatest change first."""
    if old is None or new is None:
        return ()
    before, after = _line_facts(old), _line_facts(new)
    counted = _differing(Topic.INSTRUCTIONS, before, after)
    stalls = [
        figure
        for figure in _differing(Topic.STALLS, _shares(old.stalls), _shares(new.stalls))
        if _step(figure) >= LINE_STALL_STEP
    ]
    return (*sorted(counted, key=_size, reverse=True), *sorted(stalls, key=_step, reverse=True))


def _differing(topic: Topic, old: Facts, new: Facts) -> list[Figure]:
    pairs = []
    for name in dict.fromkeys((*old, *new)):
        measure = (old.get(name) or new[name])[0]
        zero = 0.0 if measure in (Measure.SHARE, Measure.JOULES) else None
        before, after = old.get(name, (measure, zero))[1], new.get(name, (measure, zero))[1]
        figure = Figure(topic, name, measure, before, after)
        if _differs(figure):
            pairs.append(figure)
    return pairs


def _differs(figure: Figure) -> bool:
    if figure.measure is Measure.TEXT or figure.old is None or figure.new is None:
        return figure.old != figure.new
    if figure.measure is Measure.SHARE:
        return _step(figure) >= SHARE_STEP
    return abs(float(figure.new) - float(figure.old)) > CLEAR_SHARE * abs(float(figure.old))


def _step(figure: Figure) -> float:
    return abs(float(figure.new or 0.0) - float(figure.old or 0.0))


def _size(figure: Figure) -> float:
    """Return how much a figure changes: texts and things that come or go before factors, factors by size."""
    if figure.measure is Measure.TEXT or figure.old is None or figure.new is None:
        return float("inf")
    if figure.measure in (Measure.SHARE, Measure.JOULES):
        return _step(figure)
    low, high = sorted((float(figure.old), float(figure.new)))
    return high / low if low > 0 else float("inf")


def _conditions(p: Prediction) -> Facts:
    case = p.case
    launch = case.launch
    return {
        "limited by": (Measure.TEXT, p.timing.bottleneck),
        "GPU": (Measure.TEXT, case.gpu.name),
        "grid": (Measure.TEXT, str(launch.grid)),
        "block": (Measure.TEXT, str(launch.block)),
        "dynamic shared memory": (Measure.SIZE, float(launch.dynamic_shared)),
        "compiler": (Measure.TEXT, case.kernel.toolkit),
        "SM clock": (Measure.HERTZ, case.clocks.sm),
        "memory clock": (Measure.HERTZ, case.clocks.memory),
        "power limit holds the clock down": (Measure.TEXT, "yes" if p.limited_by_power else "no"),
        "time model": (Measure.TEXT, p.timing.model),
        "power model": (Measure.TEXT, p.power_result.model),
    }


def _resources(p: Prediction) -> Facts:
    held = p.case.kernel.resources
    return {
        "registers per thread": (Measure.COUNT, float(held.registers)),
        "static shared memory": (Measure.SIZE, float(held.static_shared)),
        "spills per thread": (Measure.SIZE, float(held.spill_stores + held.spill_loads)),
        "stack per thread": (Measure.SIZE, float(held.local)),
    }


def _occupancy(p: Prediction) -> Facts:
    work = p.case.workload
    return {
        "occupancy": (Measure.SHARE, work.occupancy.theoretical),
        "limiter of occupancy": (Measure.TEXT, work.occupancy.limiter),
        "blocks per SM": (Measure.COUNT, float(work.occupancy.blocks_per_sm)),
        "waves": (Measure.COUNT, work.waves),
        "active SMs": (Measure.COUNT, float(work.active_sms)),
    }


def _instructions(p: Prediction) -> Facts:
    execution = p.case.workload.execution
    units: dict[str, float] = defaultdict(float)
    for instruction, count in zip(execution.program.instructions, execution.counts, strict=True):
        units[f"on unit {instruction.unit}"] += count
    total = execution.warp_instructions
    return {
        "warp instructions": (Measure.COUNT, total),
        "floating-point operations": (Measure.COUNT, execution.flops),
        **{name: (Measure.COUNT, count) for name, count in units.items()},
    }


def _memory(p: Prediction) -> Facts:
    work = p.case.workload
    return {
        "L1 traffic": (Measure.BYTES, work.l1.total),
        "L2 traffic": (Measure.BYTES, work.l2.total),
        "DRAM traffic": (Measure.BYTES, work.dram.total),
        "shared-memory wavefronts": (Measure.COUNT, work.shared_wavefronts),
        "coalescing": (Measure.SHARE, coalescing(work.execution)),
        "bank efficiency": (Measure.SHARE, banking(work.execution)),
    }


def _stalls(p: Prediction) -> Facts:
    return _shares(p.timing.stalls)


def _energy(p: Prediction) -> Facts:
    return {name: (Measure.JOULES, joules) for name, joules in p.energy_components.items()}


TOPICS: Mapping[Topic, Callable[[Prediction], Facts]] = {
    Topic.CONDITIONS: _conditions,
    Topic.RESOURCES: _resources,
    Topic.OCCUPANCY: _occupancy,
    Topic.INSTRUCTIONS: _instructions,
    Topic.MEMORY: _memory,
    Topic.STALLS: _stalls,
    Topic.ENERGY: _energy,
}


def _shares(shares: Mapping[Stall, float]) -> Facts:
    return {str(name): (Measure.SHARE, share) for name, share in shares.items()}


def _line_facts(line: LineCost) -> Facts:
    """Return what a line executes and asks of memory."""
    facts: Facts = {
        "warp instructions": (Measure.COUNT, line.warp_instructions),
        "bytes asked for": (Measure.BYTES, line.bytes),
    }
    sectors = [pattern.sectors for _, pattern in line.accesses if pattern.sectors > 0]
    passes = [pattern.wavefronts for _, pattern in line.accesses if not pattern.sectors]
    if sectors:
        facts["sectors per request"] = Measure.COUNT, max(sectors)
    if passes:
        facts["wavefronts per request"] = Measure.COUNT, max(passes)
    return facts
