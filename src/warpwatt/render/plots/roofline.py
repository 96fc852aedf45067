"""Geometry of the hierarchical roofline: roofs, labels, and a point for every level of memory."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

from warpwatt.core.units import si
from warpwatt.render.figures import percent
from warpwatt.render.plots.axes import LogAxis, Tick

if TYPE_CHECKING:
    from warpwatt.render.roofline import Level, Roof, Roofline

WIDTH, HEIGHT = 720, 400
LEFT, RIGHT, TOP, BOTTOM = 88, 24, 18, 50
ROOM = 3.0
"""Factor left free around ridges and points."""
LABEL_HEIGHT = 14
LABEL_LENGTH = 104
"""Pixels that a label takes, about."""
ORDER = ("L1", "L2", "DRAM")
"""Of levels that share a label."""
NEAR = 34
"""Pixels below which two points of a kernel share one label."""


@dataclass(frozen=True, slots=True)
class Line:
    """One roof as drawn, with its label at ``(label_x, label_y)`` turned by ``angle`` degrees.

    ``rise`` lifts the label off a sloping line: negative above it, positive below.
    """

    name: str
    label: str
    kind: str
    binding: bool
    peak: float
    x1: float
    y1: float
    x2: float
    y2: float
    label_x: float
    label_y: float
    angle: float = 0.0
    rise: float = 0.0


@dataclass(frozen=True, slots=True)
class Point:
    """One kernel at one level of memory; ``ceiling`` is the pixel of what the roofs allow there."""

    level: str
    x: float
    ceiling: float
    text: str
    label: str


@dataclass(frozen=True, slots=True)
class Mark:
    """One kernel: its points at one height, between the pixels of its interval."""

    name: str
    y: float
    y_low: float
    y_high: float
    points: tuple[Point, ...]


@dataclass(frozen=True, slots=True)
class RooflinePlot:
    """Everything the template draws; pixels, and the sentence that describes the picture."""

    lines: tuple[Line, ...]
    marks: tuple[Mark, ...]
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]
    description: str
    x_axis: LogAxis
    y_axis: LogAxis
    unit: str = "FLOP"
    width: int = WIDTH
    height: int = HEIGHT
    left: int = LEFT
    right: int = WIDTH - RIGHT
    top: int = TOP
    bottom: int = HEIGHT - BOTTOM
    peaks: tuple[tuple[str, str, float], ...] = field(default=())
    """Name, kind and peak of every roof, for the cursor."""


def roofline_plot(named: Sequence[tuple[str, Roofline]]) -> RooflinePlot:
    """Return the picture of one or several kernels on one GPU; of roofs that differ, the highest."""
    rooflines = [roof for _, roof in named]
    unit = rooflines[0].unit
    roofs = _highest(rooflines)
    x = _x_axis(rooflines, roofs)
    y = _y_axis(rooflines, roofs, x)
    binding = {roof.nearest.name for roof in rooflines}
    slopes = [roof for roof in roofs if roof.kind == "memory"]
    flats = [roof for roof in roofs if roof.kind == "compute"]
    return RooflinePlot(
        lines=(
            *_slopes(slopes, flats, x, y, binding),
            *_flats(flats, slopes, x, y, binding, unit),
        ),
        marks=tuple(_mark(name, roof, x, y) for name, roof in named),
        x_ticks=tuple(Tick(x(v), f"{v:g}") for v in x.decades),
        y_ticks=tuple(Tick(y(v), si(v, f"{unit}/s", 1)) for v in y.decades),
        description=" ".join(_sentence(name if len(named) > 1 else "The kernel", r) for name, r in named),
        x_axis=x,
        y_axis=y,
        unit=unit,
        peaks=tuple((roof.name, roof.kind, roof.peak) for roof in roofs),
    )


def _sentence(name: str, roof: Roofline) -> str:
    point = f"{si(roof.performance, f'{roof.unit}/s')} at {roof.intensity:.3g} {roof.unit}/B"
    return f"{name} reaches {point}; the {roof.binding.name} roof lies above it."


def _highest(rooflines: Iterable[Roofline]) -> list[Roof]:
    """Return one roof of each name."""
    found: dict[str, Roof] = {}
    for roof in (one for roofline in rooflines for one in roofline.roofs):
        if roof.name not in found or roof.peak > found[roof.name].peak:
            found[roof.name] = roof
    return list(found.values())


def _x_axis(rooflines: Sequence[Roofline], roofs: Sequence[Roof]) -> LogAxis:
    """Return the intensities: some room around the ridges of the lowest compute roof and the points."""
    compute = [roof.peak for roof in roofs if roof.kind == "compute"]
    memory = [roof.peak for roof in roofs if roof.kind == "memory"]
    points = [level.intensity for roofline in rooflines for level in roofline.levels]
    low = min(*points, min(compute) / max(memory))
    high = max(*points, max(compute) / min(memory))
    return LogAxis(low / ROOM, high * ROOM, LEFT, WIDTH - RIGHT)


def _y_axis(rooflines: Sequence[Roofline], roofs: Sequence[Roof], x: LogAxis) -> LogAxis:
    """Return the rates: from below the kernels and the start of the DRAM roof to above all roofs."""
    lowest = min(roof.peak for roof in roofs if roof.kind == "memory") * x.low
    low = min(*(roofline.low for roofline in rooflines), lowest * ROOM)
    high = max(roof.peak for roof in roofs if roof.kind == "compute")
    return LogAxis(low / ROOM, high * ROOM, HEIGHT - BOTTOM, TOP)


def _flats(
    flats: Sequence[Roof], slopes: Sequence[Roof], x: LogAxis, y: LogAxis, binding: set[str], unit: str
) -> list[Line]:
    """Return the compute roofs: level, from the steepest memory roof to the right edge; equal ones as one."""
    steepest = max(roof.peak for roof in slopes)
    together: dict[float, list[Roof]] = {}
    for roof in sorted(flats, key=lambda roof: -roof.peak):
        together.setdefault(y(roof.peak), []).append(roof)
    lines, label_at = [], float(TOP)
    for height, same in together.items():
        name, peak = ", ".join(roof.name for roof in same), same[0].peak
        start = x(max(x.low, peak / steepest))
        label_at = max(height - 5, label_at + LABEL_HEIGHT)
        bound = any(roof.name in binding for roof in same)
        label = f"{name} {si(peak, f'{unit}/s')}"
        place = (start, height, x.end, height, x.end - 4, round(label_at, 1))
        lines.append(Line(name, label, "compute", bound, peak, *place))
    return lines


def _slopes(
    slopes: Sequence[Roof], flats: Sequence[Roof], x: LogAxis, y: LogAxis, binding: set[str]
) -> list[Line]:
    """Return the memory roofs: rising from the left or lower edge to the highest compute roof."""
    top = max(roof.peak for roof in flats)
    ordered = sorted(slopes, key=lambda roof: roof.peak)
    shifts = [0.0, *_label_shifts([y(roof.peak * x.low * ROOM) for roof in ordered[1:]])]
    lines = []
    for number, (roof, shift) in enumerate(zip(ordered, shifts, strict=True)):
        left, right = max(x.low, y.low / roof.peak), top / roof.peak
        x1, y1, x2, y2 = x(left), y(left * roof.peak), x(right), y(top)
        angle = math.atan2(y2 - y1, x2 - x1)
        along = 12 + shift
        place = (round(x1 + along * math.cos(angle), 1), round(y1 + along * math.sin(angle), 1))
        label = f"{roof.name} {si(roof.peak, 'B/s')}"
        turned = round(math.degrees(angle), 1)
        bound, rise = roof.name in binding, -6.0 if number else 15.0
        lines.append(Line(roof.name, label, "memory", bound, roof.peak, x1, y1, x2, y2, *place, turned, rise))
    return lines


def _label_shifts(heights: Sequence[float]) -> list[float]:
    """Return how far along its line each label goes, so that those of close lines stand one after another.

    >>> _label_shifts([300.0, 290.0, 200.0])
    [0.0, 104.0, 0.0]
    """
    shifts = [0.0]
    for below, above in pairwise(heights):
        shifts.append(shifts[-1] + LABEL_LENGTH if below - above < LABEL_HEIGHT * 1.6 else 0.0)
    return shifts


def _mark(name: str, roof: Roofline, x: LogAxis, y: LogAxis) -> Mark:
    levels = sorted(roof.levels, key=lambda level: level.intensity)
    labels = _labels([(level.roof.name, x(level.intensity)) for level in levels])
    points = tuple(_point(level, label, roof, x, y) for level, label in zip(levels, labels, strict=True))
    return Mark(name, y(roof.performance), y(roof.low), y(roof.high), points)


def _point(level: Level, label: str, roof: Roofline, x: LogAxis, y: LogAxis) -> Point:
    allowed = min(roof.compute.peak, level.roof.peak * level.intensity)
    unit = f"{roof.unit}/s"
    text = (
        f"{level.roof.name}: {si(roof.performance, unit)} ({si(roof.low, unit)} to {si(roof.high, unit)}) at "
        f"{level.intensity:.3g} {roof.unit}/B, {percent(roof.performance / allowed)} of what the roofs allow"
    )
    return Point(level.roof.name, x(level.intensity), y(allowed), text, label)


def _labels(places: Sequence[tuple[str, float]]) -> list[str]:
    """Return a label for each point, those of close points together at the first.

    >>> _labels([("L2", 10.0), ("L1", 20.0), ("DRAM", 90.0)])
    ['L1, L2', '', 'DRAM']
    """
    labels: list[str] = []
    first, at = 0, -math.inf
    for number, (name, position) in enumerate(places):
        if position - at < NEAR and labels:
            labels[first] += f", {name}"
            labels.append("")
        else:
            first, at = number, position
            labels.append(name)
    return [", ".join(sorted(label.split(", "), key=ORDER.index)) if label else "" for label in labels]
