"""One prediction, ready to be placed: the sections of the report in Nsight Compute's order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from warpwatt.core.units import binary_bytes, si
from warpwatt.models.power.component.parameters import STATIC
from warpwatt.render.console import plain
from warpwatt.render.document import all_warnings
from warpwatt.render.figures import bounds, copies, dimensions, percent, plural, quantity
from warpwatt.render.findings import findings
from warpwatt.render.plots.roofline import roofline_plot
from warpwatt.render.reasons import HELP, no_advice_text
from warpwatt.render.report.clocks import ClockCharts, clock_charts, clock_data
from warpwatt.render.report.columns import Column, Library, columns, heat_names
from warpwatt.render.report.data import Dataset, bars_data
from warpwatt.render.report.lines import (
    SMALL,
    AccessRow,
    HotLine,
    access_rows,
    hot_lines,
    lines_data,
    loop_rows,
)
from warpwatt.render.report.memory import memory_chart, memory_data, memory_rows
from warpwatt.render.report.occupancy import occupancy_charts, occupancy_data, occupancy_hints
from warpwatt.render.report.provenance import Origin, origins, provenance, sources
from warpwatt.render.report.values import Bar, Figure, bar, figure, parts
from warpwatt.render.roofline import roofline
from warpwatt.render.words import STALL_REASONS, speed_of_light_order

if TYPE_CHECKING:
    from collections.abc import Mapping

    from warpwatt.advise.report import Report
    from warpwatt.core.advice import Advice
    from warpwatt.core.case import Stall
    from warpwatt.core.prediction import Prediction
    from warpwatt.render.context import Context
    from warpwatt.render.finding import Finding
    from warpwatt.render.plots.lines import LineChart
    from warpwatt.render.plots.memory import MemoryChart
    from warpwatt.render.plots.roofline import RooflinePlot
    from warpwatt.render.roofline import Roofline

Findings = tuple[tuple[str, tuple["Finding", ...]], ...]
PLACED = ("Speed of Light", "Roofline", "Memory", "Scheduler and Warp State", "Occupancy", "Energy")
"""Topics of findings that have a section of their own."""


@dataclass(frozen=True, slots=True)
class AdviceRow:
    """One change: what it saves of time and energy, what it is and how to get there; ``width`` in percent."""

    share: str
    width: float
    text: str
    fix: str
    saved: str
    time: str
    energy: str


@dataclass(frozen=True, slots=True)
class Account:
    """One prediction, ready to be placed; ``data`` is what its plots hand out, by the plot's name."""

    anchor: str
    kernel: str
    gpu: str
    figures: tuple[Figure, ...]
    conditions: tuple[tuple[str, str], ...]
    findings: Mapping[str, tuple[Finding, ...]]
    other_findings: Findings
    speed_of_light: tuple[Bar, ...]
    roofline: Roofline | None
    plot: RooflinePlot | None
    levels: tuple[tuple[str, ...], ...]
    time: tuple[Bar, ...]
    energy: tuple[Bar, ...]
    static_energy: str
    memory_chart: MemoryChart
    memory: tuple[tuple[str, ...], ...]
    stalls: tuple[Bar, ...]
    occupancy: tuple[Bar, ...]
    limits: tuple[tuple[str, int], ...]
    occupancy_charts: tuple[LineChart, ...]
    occupancy_hints: tuple[str, ...]
    clocks: ClockCharts | None
    no_clocks: str
    columns: tuple[Column, ...]
    heats: tuple[str, ...]
    lines: tuple[HotLine, ...]
    accesses: tuple[AccessRow, ...]
    loops: tuple[tuple[str, ...], ...]
    assumptions: tuple[tuple[str, str], ...]
    warnings: tuple[str, ...]
    origins: tuple[Origin, ...]
    provenance: tuple[tuple[str, str], ...]
    sources: tuple[tuple[str, str], ...]
    data: Mapping[str, Dataset]
    advice: tuple[AdviceRow, ...] | None = None
    no_advice: str = ""


def account(report: Report, anchor: str, context: Context, library: Library) -> Account:
    """Return one prediction, ready to be placed; its listings go into ``library``."""
    prediction = report.prediction
    roof = roofline(prediction)
    workload = prediction.case.workload
    quantities = (("Time", prediction.time), ("Power", prediction.power), ("Energy", prediction.energy))
    topics, listed = _topics(prediction), columns(prediction, context, library)
    bars = _bars(prediction)
    return Account(
        anchor=anchor,
        kernel=kernel_name(prediction),
        gpu=plain(prediction.case.gpu.name),
        figures=tuple(figure(name, e, 1.1 * e.high) for name, e in quantities),
        conditions=_conditions(prediction),
        findings={topic: topics.get(topic, ()) for topic in PLACED},
        other_findings=tuple((topic, own) for topic, own in topics.items() if topic not in PLACED),
        speed_of_light=bars["speed-of-light"],
        roofline=roof,
        plot=roofline_plot([(kernel_name(prediction), roof)]) if roof else None,
        levels=_levels(roof) if roof else (),
        time=bars["time"],
        energy=bars["energy"],
        static_energy=_static(prediction),
        memory_chart=memory_chart(prediction),
        memory=memory_rows(prediction),
        stalls=bars["stalls"],
        occupancy=(_occupancy(prediction),),
        limits=tuple(workload.occupancy.limits.items()),
        occupancy_charts=occupancy_charts(report.occupancy),
        occupancy_hints=occupancy_hints(report.occupancy),
        clocks=clock_charts(report.clocks) if report.clocks else None,
        no_clocks=report.no_clocks,
        columns=listed,
        heats=heat_names(listed),
        lines=hot_lines(prediction),
        accesses=access_rows(prediction),
        loops=loop_rows(prediction),
        assumptions=tuple((plain(a.message), plain(a.fix)) for a in prediction.assumptions),
        warnings=tuple(plain(warning) for warning in all_warnings(prediction)),
        origins=origins(prediction),
        provenance=provenance(prediction, context),
        sources=sources(prediction),
        data=_data(report, roof, bars),
        advice=None if prediction.advice is None else tuple(_advice(a) for a in prediction.advice),
        no_advice=no_advice_text(prediction),
    )


def kernel_name(prediction: Prediction) -> str:
    """Return the kernel's name as people write it."""
    return plain(prediction.case.kernel.demangled or prediction.case.kernel.name)


def shape(prediction: Prediction) -> str:
    """Return blocks and threads of the launch."""
    launch = prediction.case.launch
    return f"{dimensions(launch.grid)} blocks × {dimensions(launch.block)} threads"


def _conditions(prediction: Prediction) -> tuple[tuple[str, str], ...]:
    case, resources = prediction.case, prediction.case.kernel.resources
    held = case.workload.occupancy
    limited = ", power limit binds" if prediction.limited_by_power else ""
    return (
        ("Limited by", plain(prediction.timing.bottleneck)),
        ("Launch", f"{shape(prediction)}, {case.workload.waves:.3g} waves"),
        ("Clocks", f"SM {si(case.clocks.sm, 'Hz')}, memory {si(case.clocks.memory, 'Hz')}{limited}"),
        ("Occupancy", f"{percent(held.theoretical)}, limited by {held.limiter}"),
        ("Registers", f"{resources.registers} per thread{' (assumed)' if resources.assumed else ''}"),
        ("Shared memory", f"{binary_bytes(held.shared_per_block)} per block"),
        ("Launch overhead", f"{quantity(prediction.launch_overhead)} beside the time"),
        ("Copies", f"{copies(prediction.transfer)} beside the time"),
    )


def _topics(prediction: Prediction) -> dict[str, tuple[Finding, ...]]:
    """Return the findings by topic; assumptions and advice have sections of their own."""
    topics: dict[str, list[Finding]] = {}
    for finding in findings(prediction):
        if finding.topic not in ("Assumptions", HELP):
            topics.setdefault(finding.topic, []).append(finding)
    return {topic: tuple(group) for topic, group in topics.items()}


def _bars(prediction: Prediction) -> dict[str, tuple[Bar, ...]]:
    """Return the bar charts by name."""
    timing = prediction.timing
    components = prediction.energy_components
    return {
        "speed-of-light": tuple(bar(name, x) for name, x in speed_of_light_order(timing.utilisation)),
        "time": () if _same_names(prediction) else parts(timing.breakdown, prediction.time.value, "s"),
        "energy": parts(components, sum(components.values()), "J"),
        "stalls": _stalls(prediction),
    }


def _stalls(prediction: Prediction) -> tuple[Bar, ...]:
    """Return the warp states, longest first, with cycles per issued instruction as in Nsight Compute."""
    timing = prediction.timing
    cycles = timing.warps.per_issue() if timing.warps else {}
    ordered = sorted(timing.stalls.items(), key=lambda pair: -pair[1])
    seconds = timing.breakdown if _same_names(prediction) else {}
    return tuple(_stall(s, share, cycles.get(s), seconds.get(str(s))) for s, share in ordered if share)


def _stall(stall: Stall, share: float, cycles: float | None, seconds: float | None) -> Bar:
    notes = (f"{cycles:.2f} cycles" if cycles is not None else "", si(seconds, "s") if seconds else "")
    hint = STALL_REASONS.get(stall, "") if share >= SMALL else ""
    return bar(str(stall), share, ", ".join(note for note in notes if note), cycles, hint)


def _same_names(prediction: Prediction) -> bool:
    """Return whether the time model divides the time by warp states, so that one chart shows both."""
    timing = prediction.timing
    return bool(timing.stalls) and set(timing.breakdown) <= {str(stall) for stall in timing.stalls}


def _levels(roof: Roofline) -> tuple[tuple[str, ...], ...]:
    """Return level, bytes, intensity, what the roofs allow there and the share of it that is reached."""
    rows = []
    for level in roof.levels:
        allowed = min(roof.compute.peak, level.roof.peak * level.intensity)
        rows.append((
            level.roof.name, si(level.bytes, "B"), f"{level.intensity:.3g}", si(allowed, "FLOP/s"),
            percent(roof.performance / allowed),
        ))  # fmt: skip
    return tuple(rows)


def _static(prediction: Prediction) -> str:
    """Return what part of the energy is drawn however little the kernel does; empty where not known."""
    components = prediction.energy_components
    whole, fixed = sum(components.values()), sum(components.get(name, 0.0) for name in STATIC)
    if not (whole > 0 and fixed > 0):
        return ""
    return f"{percent(fixed / whole)} is drawn however little the kernel does."


def _occupancy(prediction: Prediction) -> Bar:
    held = prediction.case.workload.occupancy
    note = f"{held.warps_per_sm} of {held.max_warps_per_sm} warps in {plural(held.blocks_per_sm, 'block')}"
    return bar("Theoretical", held.theoretical, note)


def _advice(advice: Advice) -> AdviceRow:
    around = bounds(advice.saved)
    return AdviceRow(
        share=percent(advice.share),
        width=round(100 * min(1.0, max(0.0, advice.share)), 1),
        text=plain(advice.text),
        fix=plain(advice.fix),
        saved=si(advice.saved.value, "s") + (f" ({around})" if around else ""),
        time=si(advice.time.value, "s"),
        energy=percent(advice.energy_share) if advice.energy_share > 0 else "none",
    )


def _data(report: Report, roof: Roofline | None, bars: Mapping[str, tuple[Bar, ...]]) -> dict[str, Dataset]:
    """Return what the plots hand out."""
    prediction = report.prediction
    found = {
        "speed-of-light": bars_data("Speed of Light", "unit", "", bars["speed-of-light"]),
        "memory": memory_data(prediction),
        "stalls": bars_data("Warp states", "state", "cycles_per_issue", bars["stalls"]),
        "time": bars_data("Time by component", "component", "time_s", bars["time"]),
        "energy": bars_data("Energy by component", "component", "energy_J", bars["energy"]),
        "occupancy": occupancy_data(report.occupancy),
        "lines": lines_data(prediction),
    }
    if roof is not None:
        found["roofline"] = roofline_data([(kernel_name(prediction), roof)])
    if report.clocks is not None:
        found["clocks"] = clock_data(report.clocks)
    if prediction.advice:
        found["advice"] = _advice_data(prediction.advice)
    return found


def roofline_data(named: list[tuple[str, Roofline]]) -> Dataset:
    """Return roofs and points as one table."""
    roofs = dict.fromkeys((r.name, r.kind, r.peak) for _, roofline_ in named for r in roofline_.roofs)
    rows = [("roof", name, kind, peak, None, None, None, None) for name, kind, peak in roofs]
    points = [
        ("point", name, level.roof.name, None, level.intensity, one.performance, one.low, one.high)
        for name, one in named
        for level in one.levels
    ]
    columns_ = ("row", "name", "level", "peak_per_s", "FLOP_per_B", "FLOP_per_s", "low_per_s", "high_per_s")
    return Dataset("Roofline", columns_, (*rows, *points))


def _advice_data(advice: tuple[Advice, ...]) -> Dataset:
    columns_ = ("kind", "change", "line", "time_s", "time_saved_s", "time_saved_share", "energy_saved_share")
    rows = tuple(
        (
            a.kind,
            plain(a.text),
            a.line.line if a.line else None,
            a.time.value,
            a.saved.value,
            a.share,
            a.energy_share,
        )
        for a in advice
    )
    return Dataset("Advice", columns_, rows)
