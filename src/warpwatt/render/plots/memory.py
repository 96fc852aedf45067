"""Geometry of the memory chart: boxes of the hierarchy and the traffic between them."""

from __future__ import annotations

import math
from dataclasses import dataclass

WIDTH, HEIGHT = 960, 292
THINNEST, THICKEST = 2.0, 16.0
"""Pixels that an arrow is wide."""


@dataclass(frozen=True, slots=True)
class Box:
    """One unit: its name and the lines under it; ``heat`` is the share of its peak, 0 to 1."""

    name: str
    lines: tuple[str, ...]
    heat: float
    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Arrow:
    """Traffic one way: ``label`` stands above it; ``heat`` is the share of the link's peak."""

    name: str
    label: str
    thickness: float
    heat: float
    x1: float
    x2: float
    y1: float
    y2: float
    head: str
    """Points of the triangle at its end."""
    label_x: float
    label_y: float
    anchor: str = "middle"


@dataclass(frozen=True, slots=True)
class MemoryChart:
    """Everything the template draws, and the sentence that describes it."""

    boxes: tuple[Box, ...]
    arrows: tuple[Arrow, ...]
    description: str
    width: int = WIDTH
    height: int = HEIGHT
    narrow: MemoryChart | None = None
    """The same for narrow screens, from top to bottom."""


LOW = 150
"""Height of the picture where shared memory is not used."""
NARROW_WIDTH, NARROW_HEIGHT = 350, 436
PLACES = {
    "sm": (8, 16, 118, 260),
    "l1": (288, 16, 166, 118),
    "shared": (288, 158, 166, 118),
    "l2": (600, 16, 128, 118),
    "dram": (860, 16, 92, 118),
}
"""Box to its left, top, width and height."""
NARROW_PLACES = {
    "sm": (4, 4, 342, 66),
    "l1": (4, 130, 165, 66),
    "shared": (181, 130, 165, 66),
    "l2": (4, 256, 342, 56),
    "dram": (4, 372, 342, 56),
}
REACH = 10
"""Length of an arrow's head."""


def thickness(amount: float, most: float) -> float:
    """Return how wide an arrow is drawn: its area grows with the amount, small ones stay visible.

    >>> thickness(0.0, 1.0), thickness(1.0, 1.0), thickness(0.25, 1.0)
    (0.0, 16.0, 9.0)
    """
    if amount <= 0 or most <= 0:
        return 0.0
    return round(THINNEST + (THICKEST - THINNEST) * math.sqrt(amount / most), 1)


def arrow(name: str, label: str, wide: float, heat: float, ends: tuple[str, str], second: bool) -> Arrow:
    """Return the arrow between two boxes, in the upper or lower half of the one with less height."""
    begin, goal = (PLACES[end] for end in ends)
    rightwards = begin[0] < goal[0]
    left, right = (begin, goal) if rightwards else (goal, begin)
    x1, x2 = left[0] + left[2] + 4, right[0] - 4
    small = left if left[3] <= right[3] else right
    y = round(small[1] + small[3] * (0.78 if second else 0.34), 1)
    half = max(6.0, wide / 2 + 4)
    tip, base = (x2, x2 - REACH) if rightwards else (x1, x1 + REACH)
    head = f"{tip},{y} {base},{y - half} {base},{y + half}"
    start, end = (x1, base) if rightwards else (base, x2)
    return Arrow(name, label, wide, heat, start, end, y, y, head, (start + end) / 2, y - wide / 2 - 6)


def upright_arrow(
    name: str, label: str, wide: float, heat: float, ends: tuple[str, str], second: bool
) -> Arrow:
    """Return the arrow between two boxes of the narrow picture, its label to the right of both arrows."""
    begin, goal = (NARROW_PLACES[end] for end in ends)
    downwards = begin[1] < goal[1]
    upper, lower = (begin, goal) if downwards else (goal, begin)
    y1, y2 = upper[1] + upper[3] + 4, lower[1] - 4
    left = max(begin[0], goal[0])
    x = left + (48 if second else 18)
    half = max(6.0, wide / 2 + 4)
    tip, base = (y2, y2 - REACH) if downwards else (y1, y1 + REACH)
    head = f"{x},{tip} {x - half},{base} {x + half},{base}"
    start, end = (y1, base) if downwards else (base, y2)
    label_y = (y1 + y2) / 2 + (17 if second else -5)
    return Arrow(name, label, wide, heat, x, x, start, end, head, left + 66, label_y, "start")
