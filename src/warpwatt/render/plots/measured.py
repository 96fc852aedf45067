"""Geometry of measured points and the curves fitted to them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from warpwatt.render.plots.axes import LinearAxis, LogAxis, Tick, round_step

if TYPE_CHECKING:
    from warpwatt.lab.measure.constants import Plot

WIDTH, HEIGHT = 420, 260
LEFT, RIGHT, TOP, BOTTOM = 70, WIDTH - 14, 12, HEIGHT - 44
TICKS = 5


@dataclass(frozen=True, slots=True)
class Point:
    """A measured point and what it says when pointed at."""

    x: float
    y: float
    text: str


@dataclass(frozen=True, slots=True)
class Picture:
    """A plot in pixels; ``curve`` are the corners of the fitted curve, empty for none."""

    plot: Plot
    x_ticks: list[Tick]
    y_ticks: list[Tick]
    points: list[Point]
    curve: str
    width: int = WIDTH
    height: int = HEIGHT
    left: int = LEFT
    right: int = RIGHT
    top: int = TOP
    bottom: int = BOTTOM


def picture(plot: Plot) -> Picture:
    """Return where points, curve and grid lines of a plot lie."""
    x = _axis(plot.x, LEFT, RIGHT, logarithmic=plot.logarithmic_x, from_zero=False)
    y = _axis([*plot.y, *plot.curve_y], BOTTOM, TOP, logarithmic=False, from_zero=True)
    curve = " ".join(f"{x(a)},{y(b)}" for a, b in zip(plot.curve_x, plot.curve_y, strict=True))
    points = [Point(x(a), y(b), f"{a:.6g}: {b:.6g}") for a, b in zip(plot.x, plot.y, strict=True)]
    return Picture(plot, _ticks(x), _ticks(y), points, curve)


def _ticks(axis: LinearAxis | LogAxis) -> list[Tick]:
    """Return round values along an axis."""
    if isinstance(axis, LogAxis):
        values = axis.decades[:: max((len(axis.decades) - 1) // TICKS, 1)]
    else:
        values = axis.multiples(round_step((axis.high - axis.low) / TICKS))
    return [Tick(axis(value), f"{value:.4g}") for value in values]


def _axis(
    values: Sequence[float], start: float, end: float, *, logarithmic: bool, from_zero: bool
) -> LinearAxis | LogAxis:
    """Return an axis that holds the values, never empty."""
    low, high = min(values), max(values)
    if logarithmic and low > 0:
        return LogAxis(low / 1.2, high * 1.2, start, end)
    low = min(low, 0.0) if from_zero else low
    margin = (high - low) * 0.05 or abs(high) * 0.05 or 1.0
    return LinearAxis(low if from_zero else low - margin, high + margin, start, end)
