"""The charts of the report for both sides of a comparison: the new over the old, on one scale."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from warpwatt.core.prediction import Prediction
from warpwatt.core.units import si
from warpwatt.core.warps import Stall
from warpwatt.render.figures import percent
from warpwatt.render.plots.roofline import roofline_plot
from warpwatt.render.report.curves import clock_charts, occupancy_charts
from warpwatt.render.report.memory import crossings
from warpwatt.render.roofline import instruction_roofline, roofline
from warpwatt.render.words import STALL_REASONS, component_name, unit_name

if TYPE_CHECKING:
    from warpwatt.render.plots.lines import LineChart
    from warpwatt.render.plots.roofline import RooflinePlot
    from warpwatt.render.report.report import Report
    from warpwatt.render.roofline import Roofline

SMALL = 0.005
"""Bars below this share of the scale on both sides are left out."""
SAME = 0.005
"""Roofs that differ by less are one."""


@dataclass(frozen=True, slots=True)
class PairBar:
    """One quantity of both sides; widths in percent of the chart's scale."""

    label: str
    old: float
    new: float
    text: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class PairChart:
    """One card of bars: new over old."""

    name: str
    title: str
    bars: tuple[PairBar, ...]
    kind: str = ""
    about: str = ""


@dataclass(frozen=True, slots=True)
class Charts:
    """All charts of one kernel; None and empty where a side cannot be drawn."""

    bars: tuple[PairChart, ...]
    roofline: RooflinePlot | None
    occupancy: tuple[LineChart, ...]
    clocks: tuple[LineChart, ...]

    @property
    def lines(self) -> Mapping[str, LineChart]:
        """The line charts by name, as cursors know them."""
        groups = (("occupancy", self.occupancy), ("clocks", self.clocks))
        return {f"{group}-{chart.name}": chart for group, charts in groups for chart in charts}


def charts(old: Report, new: Report) -> Charts:
    """Return the charts of both sides."""
    sides = old.prediction, new.prediction
    bars = (_busy(*sides), _memory(*sides), _stalls(*sides), _energy(*sides))
    swept = old.clocks and new.clocks
    return Charts(
        tuple(one for one in bars if one.bars),
        _roofline(*sides),
        occupancy_charts(new.occupancy, old.occupancy),
        clock_charts(new.clocks, old.clocks).charts if new.clocks and swept else (),
    )


def _pairs(
    old: Mapping[str, float], new: Mapping[str, float], unit: str = "", hints: Mapping[str, str] | None = None
) -> tuple[PairBar, ...]:
    """Return bars on one scale, the largest first: shares of one where there is no ``unit``."""
    largest = max((*old.values(), *new.values()), default=0.0)
    full = largest if unit else 1.0
    names = sorted({**new, **old}, key=lambda name: -max(old.get(name, 0.0), new.get(name, 0.0)))
    return tuple(
        PairBar(
            name,
            _width(old.get(name, 0.0), full),
            _width(new.get(name, 0.0), full),
            f"{_said(old.get(name), unit)} → {_said(new.get(name), unit)}",
            (hints or {}).get(name, ""),
        )
        for name in names
        if full > 0 and max(old.get(name, 0.0), new.get(name, 0.0)) >= SMALL * full
    )


def _width(amount: float, full: float) -> float:
    return round(100 * min(1.0, max(0.0, amount / full)), 1)


def _said(amount: float | None, unit: str) -> str:
    if amount is None:
        return "none"
    return si(amount, unit) if unit else percent(amount)


def _busy(*sides: Prediction) -> PairChart:
    old, new = ({unit_name(k): v for k, v in side.timing.busy.items()} for side in sides)
    return PairChart("speed-of-light", "Speed of Light", _pairs(old, new))


def _memory(*sides: Prediction) -> PairChart:
    old, new = (
        {
            f"{one.name} {way}": amount
            for one in crossings(side)
            for way, amount in (("read", one.read), ("written", one.written))
            if amount > 0
        }
        for side in sides
    )
    return PairChart("memory", "Memory", _pairs(old, new, "B"))


def _stalls(*sides: Prediction) -> PairChart:
    old, new = ({str(stall): v for stall, v in side.timing.stalls.items() if v} for side in sides)
    hints = {str(stall): STALL_REASONS.get(stall, "") for stall in Stall}
    about = "Shares of all warp time, each side of its own."
    return PairChart("stalls", "Scheduler and Warp State", _pairs(old, new, hints=hints), "stall", about)


def _energy(*sides: Prediction) -> PairChart:
    old, new = ({component_name(k): v for k, v in side.energy_components.items() if v} for side in sides)
    return PairChart("energy", "Energy by component", _pairs(old, new, "J"), "energy")


def _roofline(old: Prediction, new: Prediction) -> RooflinePlot | None:
    """Return both kernels under the roofs; the old's where they differ, too, called so."""
    for counted in (roofline, instruction_roofline):
        before, after = counted(old), counted(new)
        if before is not None and after is not None:
            return roofline_plot([("old", _told_apart(before, after)), ("new", after)])
    return None


def _told_apart(old: Roofline, new: Roofline) -> Roofline:
    peaks = {roof.name: roof.peak for roof in new.roofs}
    roofs = tuple(
        replace(roof, name=f"{roof.name}, old")
        if roof.name in peaks and abs(roof.peak / peaks[roof.name] - 1) > SAME
        else roof
        for roof in old.roofs
    )
    return replace(old, roofs=roofs)
