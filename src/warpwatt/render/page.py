"""What the HTML page shows, as plain values: the template only places them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from warpwatt.core.units import binary_bytes, si
from warpwatt.render.code import Listing, listings, short_names
from warpwatt.render.comparison import best, by_launch, shared_warnings
from warpwatt.render.console import plain
from warpwatt.render.document import all_warnings
from warpwatt.render.figures import bounds, copies, count, dimensions, percent, plural, quantity
from warpwatt.render.findings import findings
from warpwatt.render.method import method_text
from warpwatt.render.plot import RooflinePlot, roofline_plot
from warpwatt.render.reach import active_lanes, hit_texts, reaches, stride_text
from warpwatt.render.reasons import HELP, no_advice_text, stall_text
from warpwatt.render.roofline import dram_peak, roofline
from warpwatt.render.words import speed_of_light_order, unit_name

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from warpwatt.core.advice import Advice
    from warpwatt.core.estimate import Estimate
    from warpwatt.core.execution import LoopTrips
    from warpwatt.core.prediction import LineCost, Prediction
    from warpwatt.render.context import Context
    from warpwatt.render.finding import Finding
    from warpwatt.render.reach import Reach


SMALL = 0.005
"""Lines below this share of time and of energy stand only in the source column."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A quantity with its interval, as text and as percentages of a common scale for its bar."""

    name: str
    value: str
    interval: str
    source: str
    middle: float
    low: float
    high: float
    best: bool = False


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar: ``share`` in percent of the full width."""

    label: str
    share: float
    text: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class HotLine:
    """One row of the table of lines; ``heat`` and ``warm`` are shares of time and energy, 0 to 1."""

    place: str
    text: str
    heat: float
    warm: float
    time: str
    energy: str
    instructions: str
    lanes: str
    flops: str
    bytes: str
    stalls: str = ""
    """What warps wait for there, and for whom."""


@dataclass(frozen=True, slots=True)
class AdviceRow:
    """One change: what it saves of time and energy, what it is and how to get there; ``width`` in percent."""

    share: str
    width: float
    text: str
    fix: str
    saved: str
    energy: str


@dataclass(frozen=True, slots=True)
class AccessRow:
    """One row of the table of accesses: what a line does to a buffer; ``waste`` marks more than would do."""

    place: str
    name: str
    requests: str
    lanes: str
    seen: str
    ideal: str
    waste: bool
    stride: str
    l1_hits: str
    l2_hits: str
    l2: str
    dram: str


@dataclass(frozen=True, slots=True)
class Account:
    """One prediction, ready to be placed."""

    anchor: str
    kernel: str
    gpu: str
    figures: tuple[Figure, ...]
    conditions: tuple[tuple[str, str], ...]
    findings: tuple[tuple[str, tuple[Finding, ...]], ...]
    speed_of_light: tuple[Bar, ...]
    plot: RooflinePlot | None
    time: tuple[Bar, ...]
    energy: tuple[Bar, ...]
    memory: tuple[tuple[str, ...], ...]
    stalls: tuple[Bar, ...]
    occupancy: tuple[Bar, ...]
    limits: tuple[tuple[str, int], ...]
    listings: tuple[Listing, ...]
    lines: tuple[HotLine, ...]
    accesses: tuple[AccessRow, ...]
    loops: tuple[tuple[str, ...], ...]
    assumptions: tuple[tuple[str, str], ...]
    warnings: tuple[str, ...]
    provenance: tuple[tuple[str, str], ...]
    sources: tuple[tuple[str, str], ...]
    advice: tuple[AdviceRow, ...] | None = None
    no_advice: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the comparison."""

    anchor: str
    gpu: str
    time: Figure
    power: Figure
    energy: Figure
    clock: str
    occupancy: str
    bottleneck: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """One kernel and launch on several GPUs."""

    title: str
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Page:
    """The whole page."""

    title: str
    comparisons: tuple[Comparison, ...]
    accounts: tuple[Account, ...]
    warnings: tuple[str, ...]
    context: Context


def page(predictions: Sequence[Prediction], context: Context) -> Page:
    """Return the page of some predictions; a comparison only where there is more than one."""
    anchors = {id(p): f"prediction-{number}" for number, p in enumerate(predictions, start=1)}
    groups = by_launch(predictions) if len(predictions) > 1 else []
    kernels = dict.fromkeys(kernel_name(p) for p in predictions)
    return Page(
        title=", ".join(kernels) or "no predictions",
        comparisons=tuple(_comparison(group, anchors) for group in groups),
        accounts=tuple(account(p, anchors[id(p)], context) for p in predictions),
        warnings=tuple(shared_warnings(predictions)),
        context=context,
    )


def kernel_name(prediction: Prediction) -> str:
    """Return the kernel's name as people write it."""
    return prediction.case.kernel.demangled or prediction.case.kernel.name


def _comparison(group: Sequence[Prediction], anchors: Mapping[int, str]) -> Comparison:
    times, powers, energies = [p.time for p in group], [p.power for p in group], [p.energy for p in group]
    columns = zip(
        group,
        _figures("time", times, best(times)),
        _figures("power", powers, None),
        _figures("energy", energies, best(energies)),
        strict=True,
    )
    rows = tuple(_row(p, anchors[id(p)], *figures) for p, *figures in columns)
    return Comparison(f"{kernel_name(group[0])}, {_shape(group[0])}", rows)


def _row(prediction: Prediction, anchor: str, time: Figure, power: Figure, energy: Figure) -> Row:
    case = prediction.case
    held = " (power limit)" if prediction.limited_by_power else ""
    return Row(
        anchor, case.gpu.name, time, power, energy, si(case.clocks.sm, "Hz") + held,
        percent(case.workload.occupancy.theoretical), prediction.timing.bottleneck,
    )  # fmt: skip


def _figures(name: str, estimates: Sequence[Estimate], mark: int | None) -> list[Figure]:
    """Return figures on one scale, the one at ``mark`` as the best."""
    full = max(estimate.high for estimate in estimates)
    return [_figure(name, estimate, full, marked=i == mark) for i, estimate in enumerate(estimates)]


def _figure(name: str, estimate: Estimate, full: float, *, marked: bool = False) -> Figure:
    scale = 100 / full if full > 0 else 0.0
    ends = (estimate.value, estimate.low, estimate.high)
    middle, low, high = (round(min(100.0, max(0.0, x * scale)), 1) for x in ends)
    return Figure(name, quantity(estimate), bounds(estimate), str(estimate.source), middle, low, high, marked)


def _shape(prediction: Prediction) -> str:
    launch = prediction.case.launch
    return f"{dimensions(launch.grid)} blocks × {dimensions(launch.block)} threads"


def account(prediction: Prediction, anchor: str, context: Context) -> Account:
    """Return one prediction, ready to be placed."""
    roof = roofline(prediction)
    timing, workload = prediction.timing, prediction.case.workload
    quantities = (("Time", prediction.time), ("Power", prediction.power), ("Energy", prediction.energy))
    return Account(
        anchor=anchor,
        kernel=kernel_name(prediction),
        gpu=prediction.case.gpu.name,
        figures=tuple(_figure(name, e, 1.1 * e.high) for name, e in quantities),
        conditions=_conditions(prediction),
        findings=_topics(prediction),
        speed_of_light=tuple(_bar(name, share) for name, share in speed_of_light_order(timing.utilisation)),
        plot=roofline_plot(roof) if roof else None,
        time=_parts(timing.breakdown, prediction.time.value, "s"),
        energy=_parts(prediction.energy_components, sum(prediction.energy_components.values()), "J"),
        memory=_memory(prediction),
        stalls=tuple(_bar(str(s), x) for s, x in sorted(timing.stalls.items(), key=lambda p: -p[1]) if x),
        occupancy=(_occupancy(prediction),),
        limits=tuple(workload.occupancy.limits.items()),
        listings=tuple(listings(prediction, context)),
        lines=_lines(prediction),
        accesses=_accesses(prediction),
        loops=tuple(_loop(loop) for loop in workload.execution.loops),
        assumptions=tuple((a.message, a.fix) for a in prediction.assumptions),
        warnings=tuple(all_warnings(prediction)),
        provenance=_provenance(prediction, context),
        sources=_sources(prediction),
        advice=None if prediction.advice is None else tuple(_advice(a) for a in prediction.advice),
        no_advice=no_advice_text(prediction),
    )


def _conditions(prediction: Prediction) -> tuple[tuple[str, str], ...]:
    case, resources = prediction.case, prediction.case.kernel.resources
    held = case.workload.occupancy
    limited = ", power limit binds" if prediction.limited_by_power else ""
    return (
        ("Limited by", prediction.timing.bottleneck),
        ("Launch", f"{_shape(prediction)}, {case.workload.waves:.3g} waves"),
        ("Clocks", f"SM {si(case.clocks.sm, 'Hz')}, memory {si(case.clocks.memory, 'Hz')}{limited}"),
        ("Occupancy", f"{percent(held.theoretical)}, limited by {held.limiter}"),
        ("Registers", f"{resources.registers} per thread{' (assumed)' if resources.assumed else ''}"),
        ("Shared memory", f"{binary_bytes(held.shared_per_block)} per block"),
        ("Launch overhead", f"{quantity(prediction.launch_overhead)} beside the time"),
        ("Copies", f"{copies(prediction.transfer)} beside the time"),
    )


def _topics(prediction: Prediction) -> tuple[tuple[str, tuple[Finding, ...]], ...]:
    """Return the findings by topic; assumptions and advice have sections of their own."""
    topics: dict[str, list[Finding]] = {}
    for finding in findings(prediction):
        if finding.topic not in ("Assumptions", HELP):
            topics.setdefault(finding.topic, []).append(finding)
    return tuple((topic, tuple(group)) for topic, group in topics.items())


def _bar(label: str, share: float, note: str = "") -> Bar:
    return Bar(label, round(100 * min(1.0, max(0.0, share)), 1), percent(share), note)


def _parts(parts: Mapping[str, float], whole: float, unit: str) -> tuple[Bar, ...]:
    """Return components as bars, largest first."""
    if not whole > 0:
        return ()
    ordered = sorted(parts.items(), key=lambda part: -part[1])
    return tuple(_bar(unit_name(name), value / whole, si(value, unit)) for name, value in ordered if value)


def _memory(prediction: Prediction) -> tuple[tuple[str, ...], ...]:
    workload, time = prediction.case.workload, prediction.time.value
    peaks = {"dram": dram_peak(prediction.case), "l2": prediction.case.gpu.memory.l2_bandwidth}
    rows = []
    for key, traffic in (("l1", workload.l1), ("l2", workload.l2), ("dram", workload.dram)):
        rate = traffic.total / time if time > 0 else 0.0
        peak = peaks.get(key)
        share = f"{percent(rate / peak)} of {si(peak, 'B/s')}" if peak else ""
        rows.append((unit_name(key), si(traffic.read, "B"), si(traffic.written, "B"), si(rate, "B/s"), share))
    return tuple(rows)


def _occupancy(prediction: Prediction) -> Bar:
    held = prediction.case.workload.occupancy
    note = f"{held.warps_per_sm} of {held.max_warps_per_sm} warps in {plural(held.blocks_per_sm, 'block')}"
    return _bar("Theoretical", held.theoretical, note)


def _lines(prediction: Prediction) -> tuple[HotLine, ...]:
    """Return the lines that cost something, hottest first."""
    short, lanes = _short(prediction), active_lanes(prediction.case.workload.execution)
    return tuple(
        _line(line, short[line.file], lanes.get((line.file, line.line)))
        for line in _hottest(prediction)
        if max(line.time_share, line.energy_share) >= SMALL
    )


def _hottest(prediction: Prediction) -> list[LineCost]:
    return sorted(prediction.lines, key=lambda line: (-line.time_share, line.file, line.line))


def _short(prediction: Prediction) -> dict[str, str]:
    return short_names(list(dict.fromkeys(line.file for line in _hottest(prediction))))


def _line(line: LineCost, file: str, lanes: float | None) -> HotLine:
    return HotLine(
        place=f"{file}:{line.line}",
        text=plain(line.text.strip()),
        heat=round(line.time_share, 3),
        warm=round(line.energy_share, 3),
        time=percent(line.time_share),
        energy=percent(line.energy_share),
        instructions=count(line.warp_instructions),
        lanes="" if lanes is None else count(round(lanes, 1)),
        flops=count(line.flops),
        bytes=si(line.bytes, "B"),
        stalls=stall_text(line),
    )


def _advice(advice: Advice) -> AdviceRow:
    around = bounds(advice.saved)
    return AdviceRow(
        share=percent(advice.share),
        width=round(100 * min(1.0, max(0.0, advice.share)), 1),
        text=plain(advice.text),
        fix=plain(advice.fix),
        saved=si(advice.saved.value, "s") + (f" ({around})" if around else ""),
        energy=percent(advice.energy_share) if advice.energy_share > 0 else "none",
    )


def _accesses(prediction: Prediction) -> tuple[AccessRow, ...]:
    """Return what each line does to each buffer, hottest line first."""
    found, short = reaches(prediction.case.workload), _short(prediction)
    return tuple(
        _access(reach, f"{short[line.file]}:{line.line}")
        for line in _hottest(prediction)
        for reach in found.get((line.file, line.line), ())
    )


def _access(reach: Reach, place: str) -> AccessRow:
    l1_hits, l2_hits = hit_texts(reach)
    return AccessRow(
        place=place,
        name=plain(reach.name),
        requests=count(reach.requests),
        lanes=count(round(reach.lanes, 1)),
        seen=reach.seen_text,
        ideal=count(reach.ideal),
        waste=reach.wasteful,
        stride=stride_text(reach),
        l1_hits=l1_hits,
        l2_hits=l2_hits,
        l2="" if reach.l2 is None else si(reach.l2.total, "B"),
        dram="" if reach.dram is None else si(reach.dram.total, "B"),
    )


def _loop(loop: LoopTrips) -> tuple[str, ...]:
    where = str(loop.line.line) if loop.line else ""
    how = loop.expression or ("" if loop.known else "assumed; depends on data")
    fix = "" if loop.known else f"--loop {where or 'LINE'}=COUNT"
    return (where, count(loop.trips), count(loop.lanes), how, fix)


def _provenance(prediction: Prediction, context: Context) -> tuple[tuple[str, str], ...]:
    case, kernel = prediction.case, prediction.case.kernel
    profile = f"measured on {case.profile.gpu}" if case.profile else "none"
    calibration, borrowed = case.gpu.calibration, case.gpu.memory.borrowed_from
    rows = (
        ("Tool", f"WarpWatt {context.version}"),
        ("Command", context.command),
        ("Time model", prediction.timing.model),
        ("Power model", prediction.power_result.model),
        ("Kernel symbol", kernel.name),
        ("Source file", kernel.source.as_posix() if kernel.source else ""),
        ("Compiled for", kernel.target),
        ("Compiler", kernel.toolkit),
        ("Toolkits", ", ".join(f"{name} {version}" for name, version in context.toolkits.items())),
        ("Analysed level", str(case.workload.execution.program.level).upper()),
        ("Counts", method_text(case.workload.execution)),
        ("Profile", profile),
        ("Calibration", f"{calibration.date}, {calibration.protocol}" if calibration else "none"),
        ("Memory timings", f"measured on {borrowed}" if borrowed else ""),
        ("Seed", str(context.seed)),
    )
    return tuple((name, value) for name, value in rows if value)


def _sources(prediction: Prediction) -> tuple[tuple[str, str], ...]:
    """Return field and citation of every number of the GPU, its capability and its memory."""
    gpu = prediction.case.gpu
    cited = {**gpu.capability.sources, **gpu.memory.sources, **gpu.sources}
    return tuple(sorted(cited.items()))
