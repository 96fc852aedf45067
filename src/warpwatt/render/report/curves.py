"""Line charts: occupancy against what limits it; time, power and energy against the SM clock."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from warpwatt.core.estimate import Estimate
from warpwatt.core.units import binary_bytes, si
from warpwatt.render.figures import interval, percent, plural
from warpwatt.render.plots.axes import binary_ticks
from warpwatt.render.plots.lines import LineChart, Mark, outline, path_data, steps, x_axis, y_axis
from warpwatt.render.report.values import Dataset

if TYPE_CHECKING:
    from warpwatt.gpus.occupancy_curves import OccupancyCurve, OccupancyPoint
    from warpwatt.render.plots.axes import LinearAxis
    from warpwatt.sweep.clock_sweep import ClockPoint, ClockSweep


BYTES = "B per block"
X_TITLES = {BYTES: "Shared memory per block", "threads": "Threads per block"}


def occupancy_charts(
    curves: Sequence[OccupancyCurve], baseline: Sequence[OccupancyCurve] = ()
) -> tuple[LineChart, ...]:
    """Return one chart of warps per SM for each curve, over the curves of what is compared with."""
    before = baseline or (None,) * len(curves)
    return tuple(_occupancy_chart(curve, old) for curve, old in zip(curves, before, strict=True))


def occupancy_data(curves: Sequence[OccupancyCurve]) -> Dataset:
    """Return every point of every curve."""
    rows = tuple(
        (curve.name.lower(), p.value, p.warps, p.blocks, p.warps / curve.most, p.limiter, p is curve.own)
        for curve in curves
        for p in curve.points
    )
    columns = ("quantity", "value", "warps_per_sm", "blocks_per_sm", "occupancy", "limited_by", "launch")
    return Dataset("Occupancy what-if", columns, rows)


def occupancy_hints(curves: Sequence[OccupancyCurve]) -> tuple[str, ...]:
    """Return for each quantity the nearest value that holds more warps, where there is one."""
    return tuple(_hint(curve, curve.better) for curve in curves if curve.better is not None)


def _hint(curve: OccupancyCurve, better: OccupancyPoint) -> str:
    now, then = (percent(point.warps / curve.most) for point in (curve.own, better))
    change = f"{_amount(curve, better.value)} instead of {_amount(curve, curve.own.value)}"
    return f"{curve.name}: {change} give {then} for {now}"


def _amount(curve: OccupancyCurve, value: int) -> str:
    return binary_bytes(value) if curve.unit == BYTES else str(value)


def _occupancy_chart(curve: OccupancyCurve, old: OccupancyCurve | None) -> LineChart:
    both = [curve] if old is None else [curve, old]
    x = x_axis([point.value for one in both for point in one.points], "")
    y = y_axis(max(one.most for one in both), "")
    pixels = [(x(point.value), y(point.warps)) for point in curve.points]
    marks = [_own_mark(curve, x, y, "own", "this launch")]
    if old is not None:
        marks.insert(0, _own_mark(old, x, y, "old", "old"))
    return LineChart(
        name=curve.name.lower().replace(" ", "-"),
        title=f"Warps per SM against {curve.name.lower()}",
        x_title=X_TITLES.get(curve.unit, f"{curve.name} {curve.unit}"),
        x_ticks=binary_ticks(x, lambda value: _amount(curve, round(value))),
        y_ticks=binary_ticks(y, lambda value: f"{value:.0f}"),
        path=steps(pixels),
        baseline=steps([(x(point.value), y(point.warps)) for point in old.points]) if old else "",
        stops=tuple(place for place, _ in pixels),
        heights=tuple(height for _, height in pixels),
        notes=tuple(_occupancy_note(curve, point) for point in curve.points),
        marks=tuple(marks),
    )


def _own_mark(curve: OccupancyCurve, x: LinearAxis, y: LinearAxis, kind: str, said: str) -> Mark:
    own = curve.own
    return Mark(x(own.value), y(own.warps), kind, f"{said}: {_occupancy_note(curve, own)}")


def _occupancy_note(curve: OccupancyCurve, point: OccupancyPoint) -> str:
    held = f"{point.warps} warps in {plural(point.blocks, 'block')}, {percent(point.warps / curve.most)}"
    limited = f"limited by {point.limiter}" if point.blocks else f"no block fits: {point.limiter}"
    return f"{_amount(curve, point.value)} {curve.unit.removeprefix('B ')}: {held}, {limited}"


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


def clock_charts(sweep: ClockSweep, baseline: ClockSweep | None = None) -> ClockCharts:
    """Return the charts of a sweep, over the curves of what is compared with."""
    charts = tuple(_clock_chart(sweep, baseline, name, unit, of) for name, unit, of in QUANTITIES)
    how = f"{len(sweep.points)} clocks that the driver offers, memory clock as predicted."
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


def _clock_chart(
    sweep: ClockSweep, old: ClockSweep | None, name: str, unit: str, of: Callable[[ClockPoint], Estimate]
) -> LineChart:
    points, before = sweep.points, old.points if old else ()
    x = x_axis([point.clock for point in (*points, *before)], "Hz")
    y = y_axis(max(of(point).high for point in (*points, *before)), unit)
    marks = _marks(sweep, of, x, y)
    if old is not None:
        own = old.predicted
        text = f"old: {_clock_note(own, of(own))}"
        marks = (Mark(x(own.clock), y(of(own).value), "old", text), *marks)
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
        baseline=path_data(_pixels(before, of, x, y)),
        band=outline(
            [(x(p.clock), y(of(p).high)) for p in reached], [(x(p.clock), y(of(p).low)) for p in reached]
        ),
        stops=tuple(x(point.clock) for point in points),
        heights=tuple(y(of(point).value) for point in points),
        notes=tuple(_clock_note(point, of(point)) for point in points),
        marks=marks,
    )


def _pixels(
    points: Sequence[ClockPoint], of: Callable[[ClockPoint], Estimate], x: LinearAxis, y: LinearAxis
) -> list[tuple[float, float]]:
    return [(x(point.clock), y(of(point).value)) for point in points]


def _marks(
    sweep: ClockSweep, of: Callable[[ClockPoint], Estimate], x: LinearAxis, y: LinearAxis
) -> tuple[Mark, ...]:
    own, best = sweep.predicted, sweep.thriftiest
    marks = [Mark(x(own.clock), y(of(own).value), "own", f"predicted: {_clock_note(own, of(own))}")]
    if best is not own:
        text = f"least energy: {_clock_note(best, of(best))}"
        marks.insert(0, Mark(x(best.clock), y(of(best).value), "best", text))
    return tuple(marks)


def _clock_note(point: ClockPoint, estimate: Estimate) -> str:
    limit = "" if point.sustained else ", more than the power limit sustains"
    return f"{interval(estimate)} at {si(point.clock, 'Hz', CLOCK_DIGITS)}{limit}"
