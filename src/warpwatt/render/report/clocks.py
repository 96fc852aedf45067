"""Charts of the clock sweep: time, power and energy against the SM clock."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from warpwatt.core.units import si
from warpwatt.render.figures import interval, percent
from warpwatt.render.plots.lines import LineChart, Mark, outline, path_data, x_axis, y_axis
from warpwatt.render.report.data import Dataset

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from warpwatt.core.estimate import Estimate
    from warpwatt.render.plots.axes import LinearAxis
    from warpwatt.sweep.clock_sweep import ClockPoint, ClockSweep

CLOCK_DIGITS = 4
QUANTITIES: tuple[tuple[str, str, Callable[[ClockPoint], Estimate]], ...] = (
    ("Time", "s", lambda point: point.time),
    ("Power", "W", lambda point: point.power),
    ("Energy", "J", lambda point: point.energy),
)


@dataclass(frozen=True, slots=True)
class ClockCharts:
    """The charts and what they say in one sentence."""

    charts: tuple[LineChart, ...]
    summary: str
    how: str


def clock_charts(sweep: ClockSweep) -> ClockCharts:
    """Return the charts of a sweep."""
    charts = tuple(_chart(sweep, name, unit, of) for name, unit, of in QUANTITIES)
    how = (
        f"{len(sweep.points)} clocks that the driver offers, memory clock as predicted; the time model was "
        f"asked at {sweep.asked} of them, the rest is read off a curve through the prediction."
    )
    return ClockCharts(charts, _summary(sweep), how)


def clock_data(sweep: ClockSweep) -> Dataset:
    """Return every point with its intervals."""
    names = tuple(f"{name.lower()}{end}_{unit.lower() if unit == 's' else unit}"
                  for name, unit, _ in QUANTITIES for end in ("", "_low", "_high"))  # fmt: skip
    rows = tuple(
        (p.clock, *(x for _, _, of in QUANTITIES for x in (of(p).value, of(p).low, of(p).high)),
         p.sustained, p.predicted)
        for p in sweep.points
    )  # fmt: skip
    return Dataset("Clock sweep", ("sm_clock_Hz", *names, "within_power_limit", "predicted"), rows)


def _summary(sweep: ClockSweep) -> str:
    """Return what the clock of least energy would save and cost."""
    now, best = sweep.predicted, sweep.thriftiest
    saved = 1 - best.energy.value / now.energy.value
    if saved < 0.005:
        return f"The predicted clock, {si(now.clock, 'Hz', CLOCK_DIGITS)}, is about that of least energy."
    slower = best.time.value / now.time.value - 1
    return (
        f"Least energy at {si(best.clock, 'Hz', CLOCK_DIGITS)}: {si(best.energy.value, 'J')}, "
        f"{percent(saved)} less, in {percent(slower)} more time."
    )


def _chart(sweep: ClockSweep, name: str, unit: str, of: Callable[[ClockPoint], Estimate]) -> LineChart:
    points = sweep.points
    x = x_axis([point.clock for point in points], "Hz")
    y = y_axis(max(of(point).high for point in points), unit)
    reached = [point for point in points if point.sustained]
    beyond = [*reached[-1:], *(point for point in points if not point.sustained)]
    return LineChart(
        name=name.lower(),
        title=f"{name} against SM clock",
        x_title="SM clock",
        x_ticks=tuple(x.ticks),
        y_ticks=tuple(y.ticks),
        path=path_data(_pixels(reached, of, x, y)),
        beyond=path_data(_pixels(beyond, of, x, y)),
        band=outline(
            [(x(p.clock), y(of(p).high)) for p in reached], [(x(p.clock), y(of(p).low)) for p in reached]
        ),
        stops=tuple(x(point.clock) for point in points),
        heights=tuple(y(of(point).value) for point in points),
        notes=tuple(_note(point, of(point)) for point in points),
        marks=_marks(sweep, of, x, y),
    )


def _pixels(
    points: Sequence[ClockPoint], of: Callable[[ClockPoint], Estimate], x: LinearAxis, y: LinearAxis
) -> list[tuple[float, float]]:
    return [(x(point.clock), y(of(point).value)) for point in points]


def _marks(
    sweep: ClockSweep, of: Callable[[ClockPoint], Estimate], x: LinearAxis, y: LinearAxis
) -> tuple[Mark, ...]:
    own, best = sweep.predicted, sweep.thriftiest
    marks = [Mark(x(own.clock), y(of(own).value), "own", f"predicted: {_note(own, of(own))}")]
    if best is not own:
        text = f"least energy: {_note(best, of(best))}"
        marks.insert(0, Mark(x(best.clock), y(of(best).value), "best", text))
    return tuple(marks)


def _note(point: ClockPoint, estimate: Estimate) -> str:
    limit = "" if point.sustained else ", more than the power limit sustains"
    return f"{interval(estimate)} at {si(point.clock, 'Hz', CLOCK_DIGITS)}{limit}"
