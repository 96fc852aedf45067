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
    y: float
    head: str
    """Points of the triangle at its end."""


@dataclass(frozen=True, slots=True)
class MemoryChart:
    """Everything the template draws, and the sentence that describes it."""

    boxes: tuple[Box, ...]
    arrows: tuple[Arrow, ...]
    description: str
    width: int = WIDTH
    height: int = HEIGHT


LOW = 150
"""Height of the picture where shared memory is not used."""
PLACES = {
    "sm": (8, 16, 118, 260),
    "l1": (288, 16, 166, 118),
    "shared": (288, 158, 166, 118),
    "l2": (600, 16, 128, 118),
    "dram": (860, 16, 92, 118),
}
"""Box to its left, top, width and height."""


def thickness(amount: float, most: float) -> float:
    """Return how wide an arrow is drawn: its area grows with the amount, small ones stay visible.

    >>> thickness(0.0, 1.0), thickness(1.0, 1.0), thickness(0.25, 1.0)
    (0.0, 16.0, 9.0)
    """
    if amount <= 0 or most <= 0:
        return 0.0
    return round(THINNEST + (THICKEST - THINNEST) * math.sqrt(amount / most), 1)


def arrow(name: str, label: str, wide: float, heat: float, ends: tuple[str, str], lower: bool) -> Arrow:
    """Return the arrow between two boxes, in the upper or lower half of the one with less height."""
    first, second = (PLACES[end] for end in ends)
    rightwards = first[0] < second[0]
    left, right = (first, second) if rightwards else (second, first)
    x1, x2 = left[0] + left[2] + 4, right[0] - 4
    small = left if left[3] <= right[3] else right
    y = small[1] + small[3] * (0.78 if lower else 0.34)
    reach, half = 10, max(6.0, wide / 2 + 4)
    tip, base = (x2, x2 - reach) if rightwards else (x1, x1 + reach)
    head = f"{tip},{y} {base},{y - half} {base},{y + half}"
    start, end = (x1, base) if rightwards else (base, x2)
    return Arrow(name, label, wide, heat, start, end, round(y, 1), head)
