"""Line charts: curves with intervals, steps, and the points that matter on them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from warpwatt.render.plots.axes import LinearAxis, Tick

WIDTH, HEIGHT = 420, 270
LEFT, RIGHT, TOP, BOTTOM = 62, 30, 16, 44


@dataclass(frozen=True, slots=True)
class Mark:
    """A point worth a mark: ``kind`` is ``"own"`` or ``"best"``, ``text`` what it says when pointed at."""

    x: float
    y: float
    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class LineChart:
    """One picture.

    ``path`` is the curve, ``beyond`` its part that cannot be reached, ``band`` the outline of the intervals;
    empty for none. ``stops`` are the pixels of the points, for the cursor, ``notes`` what it says at each.
    """

    name: str
    title: str
    x_title: str
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]
    path: str
    stops: tuple[float, ...]
    heights: tuple[float, ...]
    notes: tuple[str, ...]
    marks: tuple[Mark, ...] = ()
    beyond: str = ""
    baseline: str = ""
    """The curve of what is compared with; empty for none."""
    band: str = ""
    width: int = WIDTH
    height: int = HEIGHT
    left: int = LEFT
    right: int = WIDTH - RIGHT
    top: int = TOP
    bottom: int = HEIGHT - BOTTOM


def x_axis(values: Sequence[float], unit: str) -> LinearAxis:
    """Return an axis with little room around the values."""
    low, high = min(values), max(values)
    room = 0.02 * (high - low) or 0.1 * abs(high) or 1.0
    return LinearAxis(low - room, high + room, LEFT, WIDTH - RIGHT, unit)


def y_axis(high: float, unit: str) -> LinearAxis:
    """Return an axis from zero to a little above ``high``."""
    return LinearAxis(0.0, 1.08 * high or 1.0, HEIGHT - BOTTOM, TOP, unit)


def path_data(points: Sequence[tuple[float, float]]) -> str:
    """Return the path through pixels; empty for fewer than two.

    >>> path_data([(0.0, 1.0), (2.0, 3.0)]), path_data([(0.0, 1.0)])
    ('M0.0 1.0 L2.0 3.0', '')
    """
    return "M" + " L".join(f"{x} {y}" for x, y in points) if len(points) > 1 else ""


def steps(points: Sequence[tuple[float, float]]) -> str:
    """Return the path of a quantity that holds its height until the next point.

    >>> steps([(0.0, 1.0), (1.0, 1.0), (2.0, 3.0)])
    'M0.0 1.0 H2.0 V3.0'
    """
    path, height = f"M{points[0][0]} {points[0][1]}", points[0][1]
    for x, y in points[1:]:
        if y != height:
            path, height = f"{path} H{x} V{y}", y
    last = points[-1][0]
    return path if path.endswith(f"H{last} V{height}") else f"{path} H{last}"


def outline(upper: Sequence[tuple[float, float]], lower: Sequence[tuple[float, float]]) -> str:
    """Return the closed path along ``upper`` and back along ``lower``."""
    return f"{path_data([*upper, *reversed(lower)])} Z" if len(upper) > 1 else ""
