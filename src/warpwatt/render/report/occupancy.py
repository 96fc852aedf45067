"""Charts of occupancy against registers, block size and shared memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warpwatt.core.units import binary_bytes
from warpwatt.render.figures import percent, plural
from warpwatt.render.plots.axes import binary_ticks
from warpwatt.render.plots.lines import LineChart, Mark, steps, x_axis, y_axis
from warpwatt.render.report.data import Dataset

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warpwatt.gpus.occupancy_curves import OccupancyCurve, OccupancyPoint

BYTES = "B per block"
X_TITLES = {BYTES: "Shared memory per block", "threads": "Threads per block"}


def occupancy_charts(curves: Sequence[OccupancyCurve]) -> tuple[LineChart, ...]:
    """Return one chart of warps per SM for each curve."""
    return tuple(_chart(curve) for curve in curves)


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


def _chart(curve: OccupancyCurve) -> LineChart:
    x = x_axis([point.value for point in curve.points], "")
    y = y_axis(curve.most, "")
    pixels = [(x(point.value), y(point.warps)) for point in curve.points]
    own = curve.own
    mark = Mark(x(own.value), y(own.warps), "own", f"this launch: {_note(curve, own)}")
    return LineChart(
        name=curve.name.lower().replace(" ", "-"),
        title=f"Warps per SM against {curve.name.lower()}",
        x_title=X_TITLES.get(curve.unit, f"{curve.name} {curve.unit}"),
        x_ticks=binary_ticks(x, lambda value: _amount(curve, round(value))),
        y_ticks=binary_ticks(y, lambda value: f"{value:.0f}"),
        path=steps(pixels),
        stops=tuple(place for place, _ in pixels),
        heights=tuple(height for _, height in pixels),
        notes=tuple(_note(curve, point) for point in curve.points),
        marks=(mark,),
    )


def _note(curve: OccupancyCurve, point: OccupancyPoint) -> str:
    held = f"{point.warps} warps in {plural(point.blocks, 'block')}, {percent(point.warps / curve.most)}"
    limited = f"limited by {point.limiter}" if point.blocks else f"no block fits: {point.limiter}"
    return f"{_amount(curve, point.value)} {curve.unit.removeprefix('B ')}: {held}, {limited}"
