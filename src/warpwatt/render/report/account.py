"""One prediction, ready to be placed: the sections of the report in Nsight Compute's order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from warpwatt.core.advice import Advice
from warpwatt.core.prediction import Prediction
from warpwatt.core.units import binary_bytes, si
from warpwatt.render.console import plain
from warpwatt.render.figures import bounds, copies, percent, quantity
from warpwatt.render.findings import findings
from warpwatt.render.plots.reservations import reservation_pictures
from warpwatt.render.plots.roofline import roofline_plot
from warpwatt.render.reasons import HELP, no_advice_text
from warpwatt.render.report.charts import bar_charts, occupancy_bar, static_energy
from warpwatt.render.report.columns import Column, Library, columns, heat_names
from warpwatt.render.report.curves import ClockCharts, clock_charts, occupancy_charts, occupancy_hints
from warpwatt.render.report.lines import (
    AccessRow,
    HotLine,
    access_rows,
    hot_lines,
    loop_rows,
)
from warpwatt.render.report.memory import memory_chart, memory_rows
from warpwatt.render.report.provenance import Origin, origins, provenance, sources
from warpwatt.render.report.tables import plot_data
from warpwatt.render.report.values import Bar, Figure, figure, kernel_name, shape
from warpwatt.render.roofline import instruction_roofline, roofline
from warpwatt.render.warned import all_warnings

if TYPE_CHECKING:
    from warpwatt.render.context import Context
    from warpwatt.render.plots.lines import LineChart
    from warpwatt.render.plots.memory import MemoryChart
    from warpwatt.render.plots.reservations import Reservations
    from warpwatt.render.plots.roofline import RooflinePlot
    from warpwatt.render.reasons import Finding
    from warpwatt.render.report.report import Report
    from warpwatt.render.report.values import Dataset
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
    reservations: Reservations | None = None


def account(report: Report, anchor: str, context: Context, library: Library) -> Account:
    """Return one prediction, ready to be placed; its listings go into ``library``."""
    prediction = report.prediction
    roof = roofline(prediction) or instruction_roofline(prediction)
    workload = prediction.case.workload
    quantities = (("Time", prediction.time), ("Power", prediction.power), ("Energy", prediction.energy))
    topics, listed = _topics(prediction), columns(prediction, context, library)
    bars = bar_charts(prediction)
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
        static_energy=static_energy(prediction),
        memory_chart=memory_chart(prediction),
        memory=memory_rows(prediction),
        stalls=bars["stalls"],
        occupancy=(occupancy_bar(prediction),),
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
        data=plot_data(report, roof, bars),
        advice=None if prediction.advice is None else tuple(_advice(a) for a in prediction.advice),
        no_advice=no_advice_text(prediction),
        reservations=_reservations(prediction),
    )


def _reservations(prediction: Prediction) -> Reservations | None:
    table = prediction.timing.reservations
    return None if table is None else reservation_pictures(table())


def _conditions(prediction: Prediction) -> tuple[tuple[str, str], ...]:
    case, resources = prediction.case, prediction.case.kernel.resources
    held = case.workload.occupancy
    limited = ", power limit binds" if prediction.limited_by_power else ""
    return (
        ("Limited by", plain(prediction.timing.bottleneck)),
        ("Launch", f"{shape(prediction)}, {case.workload.waves:.3g} waves"),
        ("Clocks", f"SM {si(case.clocks.sm, 'Hz')}, memory {si(case.clocks.memory, 'Hz')}{limited}"),
        ("Occupancy", f"{percent(held.resident)}, limited by {held.limiter}"),
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


def _levels(roof: Roofline) -> tuple[tuple[str, ...], ...]:
    """Return level, bytes, intensity, what the roofs allow there and the share of it that is reached."""
    rows = []
    for level in roof.levels:
        allowed = min(roof.compute.peak, level.roof.peak * level.intensity)
        rows.append((
            level.roof.name, si(level.bytes, "B"), f"{level.intensity:.3g}", si(allowed, f"{roof.unit}/s"),
            percent(roof.performance / allowed),
        ))  # fmt: skip
    return tuple(rows)


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
