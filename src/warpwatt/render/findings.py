"""Why a prediction is what it is, as sentences with numbers: :func:`findings`.

Each small function looks at one thing and yields what is worth saying about it, or nothing. Text, JSON and
HTML show the same findings.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from warpwatt.core.prediction import LineCost, Prediction
from warpwatt.core.program import SourceLine, Unit
from warpwatt.core.units import binary_bytes, si
from warpwatt.core.warps import Stall
from warpwatt.gpus.loans import loans
from warpwatt.models.bounds import dram_peak, unit_flops
from warpwatt.models.sensor import launches_to_fill, sensor, shown
from warpwatt.render.figures import count, interval, percent, plural
from warpwatt.render.learned import effect_sentence, learned_parts
from warpwatt.render.method import method_text
from warpwatt.render.rates import busy_units, of_peak, rates
from warpwatt.render.reach import WORTH_SAYING, active_lanes, pattern_text, reaches
from warpwatt.render.reasons import Finding, advice, limits, scheduler, waits
from warpwatt.render.roofline import compute_roof, roofline
from warpwatt.render.verdict import verdict
from warpwatt.render.words import (
    STALL_REASONS,
    component_name,
    feature_name,
    names_unit,
    unit_name,
)

if TYPE_CHECKING:
    from warpwatt.render.reach import Reach

NOTABLE_TRAFFIC = 0.1
"""Share of the DRAM traffic from which its source is mentioned."""
MOST_SOURCES = 3
MOST_PARTS = 5
"""Parts of the power that are listed in watts."""
NO_HITS = 0.005
"""Hit shares below this are as good as none."""
IN_PARTS = 0.1
"""Share of L2's time that its bytes do not explain from which on the reason is said."""
FULL_WARP = 32.0
FLOP_UNITS = (Unit.FP32, Unit.FP64, Unit.FP16, Unit.TENSOR)


def findings(prediction: Prediction) -> list[Finding]:
    """Return everything worth saying in the order of Nsight Compute's sections, what would help early."""
    light, memory = (bottleneck, limits, advice), (accesses, traffic, sources, spills)
    state = (scheduler, warps, waits, divergence)
    parts = (*light, roof, *memory, *state, occupancy, energy, watts, learned, loops, counted, assumed)
    return [finding for part in parts for finding in part(prediction)]


def bottleneck(prediction: Prediction) -> Iterator[Finding]:
    """Yield what binds, with the rate it reaches and the rate there is."""
    name = prediction.timing.bottleneck
    detail = "; ".join(filter(None, (_busy(prediction), _attained(prediction, name))))
    yield Finding("Speed of Light", f"The kernel is limited by {name}{': ' + detail if detail else ''}.")
    parts = sorted(prediction.timing.breakdown.items(), key=lambda part: -part[1])
    if len(parts) > 1:
        listed = ", ".join(f"{unit_name(part)} {si(seconds, 's')}" for part, seconds in parts[:4])
        model = prediction.timing.model
        yield Finding("Speed of Light", f"Time by component, as the {model} model sees it: {listed}.")
    if prediction.timing.instructions_per_cycle:
        rates = prediction.timing.instructions_per_cycle.items()
        listed = ", ".join(f"{name} {rate:.3g}" for name, rate in rates)
        yield Finding("Speed of Light", f"Warp instructions per cycle and SM: {listed}.")
    yield from (Finding("Speed of Light", remark) for remark in prediction.timing.remarks)


def _attained(prediction: Prediction, name: str) -> str:
    """Return amount, rate and share of the peak for the bottlenecks that have one."""
    case, seconds, known = prediction.case, prediction.time.value, rates(prediction)
    key = next((key for key in ("dram", "l2") if names_unit(name, key)), "")
    if key and seconds > 0 and "miss" not in name.lower():
        level, busy = known[key], verdict(prediction.timing).share
        in_parts = key == "l2" and busy > level.rate / level.peak + IN_PARTS
        said = f"{_rate(level.traffic.total, seconds, 'B')}, {level.peak_text}"
        return said + ("; parts of lines take it as long as whole ones" if in_parts else "")
    for unit, flops in unit_flops(case.workload.execution).items():
        if unit in FLOP_UNITS and names_unit(name, unit) and seconds > 0:
            peak = compute_roof(case, unit).peak
            share = f", {of_peak(flops / seconds, peak, 'FLOP/s')}, data sheet" if peak > 0 else ""
            return _rate(flops, seconds, "FLOP") + share
    return ""


def _rate(amount: float, seconds: float, unit: str) -> str:
    return f"{si(amount, unit)} in {si(seconds, 's')} are {si(amount / seconds, unit + '/s')}"


def _busy(prediction: Prediction) -> str:
    """Return how busy the limiting unit is, else which unit is busiest."""
    order, limit = busy_units(prediction), verdict(prediction.timing)
    busiest, most = (unit_name(order[0][0]), order[0][1]) if order else ("", 0.0)
    if limit.share > 0:
        through = f", the {busiest} that it shares {percent(most)}" if most > limit.share else ""
        return f"it is busy {percent(limit.share)} of the time{through}"
    return f"the busiest unit is {busiest}, {percent(most)} of the time" if busiest else ""


def roof(prediction: Prediction) -> Iterator[Finding]:
    """Yield on which side of the ridge the kernel lies."""
    line = roofline(prediction)
    if line is None:
        return
    side = "left" if line.binding is line.memory else "right"
    share = line.performance / line.ceiling(line.intensity)
    yield Finding(
        "Roofline",
        f"{line.intensity:.3g} FLOP per DRAM byte lies {side} of the ridge at {line.ridge:.3g}, under the "
        f"{line.binding.name} roof: "
        f"{si(line.performance, 'FLOP/s')} are {percent(share)} of what the data sheet's roof allows there.",
    )


def accesses(prediction: Prediction) -> Iterator[Finding]:
    """Yield uncoalesced accesses and bank conflicts, costliest line first."""
    found = reaches(prediction.case.workload)
    for cost in sorted(prediction.lines, key=lambda line: (-line.time_share, line.file, line.line)):
        sentences = dict.fromkeys(filter(None, (_waste(r) for r in found.get((cost.file, cost.line), ()))))
        for sentence in sentences:
            yield Finding("Memory", f"Line {cost.line}: {sentence}.", SourceLine(cost.file, cost.line))


def line_findings(prediction: Prediction, cost: LineCost) -> list[str]:
    """Return what there is to say about the memory accesses and the active lanes of one line."""
    place = cost.file, cost.line
    found = reaches(prediction.case.workload).get(place, ())
    said = dict.fromkeys(filter(None, (_waste(reach) for reach in found)))
    lanes = active_lanes(prediction.case.workload.execution).get(place)
    if lanes is not None and lanes * WORTH_SAYING < FULL_WARP:
        said[f"on average {count(round(lanes, 1))} of 32 lanes are active"] = None
    return list(said)


def _waste(reach: Reach) -> str:
    """Return what is wrong with accesses of a line, empty if nothing is."""
    if not reach.wasteful:
        return ""
    return _conflict(reach) if reach.shared else _scatter(reach)


def _scatter(reach: Reach) -> str:
    stride = f"stride {reach.stride} B" if reach.stride is not None else "irregular addresses"
    seen = "" if reach.known else " (assumed: the addresses depend on data)"
    return f"{pattern_text(reach)}; {stride} ({reach.doing}{_times(reach)}){seen}"


def _conflict(reach: Reach) -> str:
    ways = f"{count(reach.wavefronts / reach.ideal)}-way bank conflict: " if reach.ideal else ""
    return f"{ways}{pattern_text(reach)} ({reach.doing}{_times(reach)})"


def _times(reach: Reach) -> str:
    number = len(reach.instructions)
    return f", {number} instructions" if number > 1 else ""


def sources(prediction: Prediction) -> Iterator[Finding]:
    """Yield the accesses behind most of the DRAM traffic, and how much of theirs the caches hold."""
    moved = [r for line in reaches(prediction.case.workload).values() for r in line if r.dram is not None]
    whole = prediction.case.workload.dram.total
    for reach in sorted(moved, key=lambda r: -_dram(r))[:MOST_SOURCES]:
        if whole > 0 and _dram(reach) >= NOTABLE_TRAFFIC * whole:
            share, moved_bytes = percent(_dram(reach) / whole), si(_dram(reach), "B")
            text = f"Line {reach.line.line}: {reach.doing} moves {moved_bytes} of DRAM traffic ({share})"
            yield Finding("Memory", f"{text}{_caught(reach)}.", reach.line)


def _dram(reach: Reach) -> float:
    return reach.dram.total if reach.dram is not None else 0.0


def _caught(reach: Reach) -> str:
    """Return the share of the sectors of reads that each cache has."""
    if reach.access == "write" or reach.l1_hits is None:
        return ""
    if reach.l1_hits + (reach.l2_hits or 0.0) < NO_HITS:
        return "; no cache has any of it"
    second = f", L2 {percent(reach.l2_hits)} of the rest" if reach.l2_hits is not None else ""
    return f"; L1 has {percent(reach.l1_hits)} of its sectors{second}"


def traffic(prediction: Prediction) -> Iterator[Finding]:
    """Yield how much each cache level catches, and a contradiction between traffic and time."""
    workload = prediction.case.workload
    least = workload.dram.total / dram_peak(prediction.case)
    if 0 < prediction.time.value < least:
        text = f"DRAM traffic alone takes {si(least, 's')} at full bandwidth: time or traffic is wrong here."
        yield Finding("Memory", text, fix="--model")
    if workload.l1.total > 0 and workload.l2.total > 0:
        caught_l1 = 1 - workload.l2.total / workload.l1.total
        caught_l2 = 1 - workload.dram.total / workload.l2.total
        yield Finding(
            "Memory",
            f"{si(workload.l1.total, 'B')} pass L1, {si(workload.l2.total, 'B')} L2 and "
            f"{si(workload.dram.total, 'B')} DRAM: L1 saves {percent(max(0.0, caught_l1))} of its traffic, "
            f"L2 {percent(max(0.0, caught_l2))}.",
        )


def warps(prediction: Prediction) -> Iterator[Finding]:
    """Yield the stall reasons that cost most."""
    stalls = {s: x for s, x in prediction.timing.stalls.items() if s is not Stall.SELECTED}
    for stall, share in sorted(stalls.items(), key=lambda pair: -pair[1])[:2]:
        if share >= 0.1:
            text = f"{stall} takes {percent(share)} of the warps' time: {STALL_REASONS[stall]}."
            yield Finding("Scheduler and Warp State", text)


def occupancy(prediction: Prediction) -> Iterator[Finding]:
    """Yield what limits the resident warps, and how full the last wave is."""
    workload, resources = prediction.case.workload, prediction.case.kernel.resources
    held = workload.occupancy
    why = {
        "registers": f" ({plural(resources.registers, 'register')} per thread)",
        "shared memory": f" ({binary_bytes(held.shared_per_block)} per block)",
        "grid": f" (only {plural(prediction.case.launch.grid.count, 'block')})",
    }.get(held.limiter, "")
    others = [f"{name} would allow {n}" for name, n in held.limits.items() if n > held.resident_blocks]
    rest = f"; {', '.join(others)}" if others and held.resident < 1 else ""
    yield Finding(
        "Occupancy",
        f"{percent(held.resident)}: {held.resident_warps} of {held.max_warps_per_sm} warps per SM in "
        f"{plural(held.resident_blocks, 'block')}, limited by {held.limiter}{why}{rest}.",
    )
    if resources.assumed:
        text = f"{plural(resources.registers, 'register')} per thread are assumed: no compiler reported them."
        yield Finding("Occupancy", text)
    yield from _tail(prediction)


def _tail(prediction: Prediction) -> Iterator[Finding]:
    waves, sms = prediction.case.workload.waves, prediction.case.gpu.sm_count
    active = prediction.case.workload.active_sms
    if active < sms:
        yield Finding("Occupancy", f"The grid keeps only {active} of {sms} SMs busy.")
    last = waves - math.floor(waves)
    if 1 < waves < 8 and 0 < last < 0.75:
        yield Finding("Occupancy", f"{waves:.3g} waves: the last one fills {percent(last)} of the GPU.")


def divergence(prediction: Prediction) -> Iterator[Finding]:
    """Yield lines whose warps run with many lanes switched off, those that waste most first."""
    lanes = active_lanes(prediction.case.workload.execution)
    costs = {(line.file, line.line): line for line in prediction.lines}
    idle = {
        place: (FULL_WARP - lanes[place]) * costs[place].warp_instructions for place in lanes.keys() & costs
    }
    for place in sorted(idle, key=lambda place: (-idle[place], place))[:3]:
        if lanes[place] * WORTH_SAYING < FULL_WARP:
            text = f"Line {place[1]}: on average {count(round(lanes[place], 1))} of 32 lanes are active."
            yield Finding("Scheduler and Warp State", text, SourceLine(*place))


def spills(prediction: Prediction) -> Iterator[Finding]:
    """Yield register spills."""
    resources = prediction.case.kernel.resources
    if resources.spill_stores or resources.spill_loads:
        yield Finding(
            "Memory",
            f"{plural(resources.registers, 'register')} per thread do not suffice: "
            f"{resources.spill_stores} B stored and {resources.spill_loads} B loaded per thread "
            "through local memory.",
            fix="fewer live values, a smaller tile, or more registers (__launch_bounds__, -maxrregcount)",
        )


def energy(prediction: Prediction) -> Iterator[Finding]:
    """Yield where the energy goes, and whether the power limit slows the clocks."""
    case, parts = prediction.case, prediction.energy_components
    whole = sum(parts.values())
    if whole > 0:
        ordered = sorted(parts.items(), key=lambda part: -part[1])[:4]
        listed = ", ".join(f"{component_name(name)} {percent(joules / whole)}" for name, joules in ordered)
        yield Finding("Energy", f"{interval(prediction.energy)} per launch: {listed}.")
        yield from _reading(prediction)
    if prediction.limited_by_power:
        limit = si(case.gpu.power_limit, "W") if case.gpu.power_limit else "its power limit"
        yield Finding(
            "Energy",
            f"The board reaches {limit}: the SM clock falls to {si(case.clocks.sm, 'Hz')} of "
            f"{si(case.gpu.boost_clock, 'Hz')}.",
            fix="--clock",
        )


def _reading(prediction: Prediction) -> Iterator[Finding]:
    """Yield what the board's sensor shows of a launch that is shorter than it averages."""
    from warpwatt.models.component.waiting import waiting_watts  # brings numpy, which renderers do without

    gpu, seconds = prediction.case.gpu, prediction.time.value
    window = sensor(gpu).window
    waiting = waiting_watts(gpu) if gpu.rated_power is not None else None
    if seconds >= window or waiting is None:
        return
    one = shown(prediction.power.value, seconds, waiting, window)
    many, full = launches_to_fill(seconds, prediction.launch_overhead.value, window), prediction.power.value
    yield Finding(
        "Energy",
        f"The board's sensor averages over {si(window, 's')}: it shows {si(one, 'W')} of one launch "
        f"({si(waiting, 'W')} between launches) and {si(full, 'W')} only after {many} in a row.",
    )


def watts(prediction: Prediction) -> Iterator[Finding]:
    """Yield what raises or lowers the power, in watts: components, and what a learned part makes of them."""
    result = prediction.power_result
    if result.learned is not None:
        return
    effects = result.reasons() if result.reasons is not None else {}
    change = math.fsum(effects.values())
    physical = math.fsum(result.components.values()) - change
    if not physical > 0:
        return
    scale = physical / (physical + change)
    parts = {component_name(name): part * scale for name, part in result.components.items()}
    text = f"Power is raised by {_largest(parts)}"
    if effects:
        named = {feature_name(name): effect for name, effect in effects.items()}
        text += f"; what was learned from measurements changes that by {change:+.3g} W: {_largest(named)}"
    yield Finding("Energy", f"{text}.")


def learned(prediction: Prediction) -> Iterator[Finding]:
    """Yield what moves a time or power that was learned altogether."""
    for what, _, reasons in learned_parts(prediction):
        yield Finding("Energy", effect_sentence(what, reasons))


def _largest(parts: Mapping[str, float]) -> str:
    """Return the largest parts in watts with their signs, and the others together."""
    ordered = sorted(parts.items(), key=lambda part: -abs(part[1]))
    rest = math.fsum(part for _, part in ordered[MOST_PARTS:])
    listed = [f"{name} {part:+.3g} W" for name, part in ordered[:MOST_PARTS]]
    return ", ".join([*listed, f"others {rest:+.3g} W"] if len(ordered) > MOST_PARTS else listed)


def loops(prediction: Prediction) -> Iterator[Finding]:
    """Yield loops whose trip count is assumed, unless an assumption says so already."""
    said = {a.line for a in prediction.assumptions if "--loop" in a.fix}
    for loop in prediction.case.workload.execution.loops:
        if not loop.known and loop.line not in said:
            where = f"Line {loop.line.line}" if loop.line else "A loop"
            text = f"{where}: {plural(loop.trips, 'iteration')} assumed; the number depends on data."
            fix = f"--loop {loop.line.line}=COUNT" if loop.line else "--loop LINE=COUNT"
            yield Finding("Source", text, loop.line, fix)


def counted(prediction: Prediction) -> Iterator[Finding]:
    """Yield how executions and addresses were found."""
    text = method_text(prediction.case.workload.execution)
    yield Finding("Counts", f"{text[0].upper()}{text[1:]}.")


def assumed(prediction: Prediction) -> Iterator[Finding]:
    """Yield what was taken for granted, and instructions and latencies that are not the GPU's own."""
    for assumption in prediction.assumptions:
        yield Finding("Assumptions", _sentence(assumption.message), assumption.line, assumption.fix)
    unknown = prediction.case.workload.execution.program.unknown
    if unknown:
        text = f"{plural(unknown, 'instruction')} with an unknown opcode: estimated, the interval is wider."
        yield Finding("Assumptions", text, fix="--unknown error")
    for loan in loans(prediction.case.gpu):
        if loan.measured and not loan.generation:
            yield Finding("Assumptions", _sentence(str(loan)))


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else f"{text}."
