"""Levels of a memory hierarchy in a curve against footprint: where it is flat, how high, and how far."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from warpwatt.lab.measure.fits import Parameter
from warpwatt.lab.measure.piecewise import piecewise_linear
from warpwatt.lab.measure.statistics import median_error

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Vector = NDArray[np.float64]

RISE = 0.06
"""Relative rise over a piece up to which it counts as flat, and difference of levels that are one."""
LEAST_POINTS = 3
MOST_PIECES = 10
STEPPED = 1e-3
"""Relative resolution: what is printed or counted in whole steps differs by so much for nothing."""


@dataclass(frozen=True, slots=True)
class Level:
    """A flat stretch from footprint ``low`` to ``high``; ``height`` is the median and its standard error."""

    low: float
    high: float
    height: Parameter
    points: int


def levels(x: Sequence[float] | Vector, y: Sequence[float] | Vector) -> tuple[Level, ...]:
    """Return the flat stretches of a curve, by rising footprint.

    Lines in pieces through the logarithms; a piece that hardly rises is a level, neighbours of the same
    height are one.

    Raises
    ------
    InputError
        If there are too few points.

    >>> found = levels([1, 2, 4, 8, 16, 32, 64], [30, 30, 30, 30, 200, 200, 200])
    >>> [(level.low, level.high, level.height.value) for level in found]
    [(1.0, 8.0, 30.0), (16.0, 64.0, 200.0)]
    """
    order = np.argsort(np.asarray(x, float), kind="stable")
    xs, ys = np.asarray(x, float)[order], np.asarray(y, float)[order]
    heights = np.round(np.log(ys) / STEPPED) * STEPPED
    fit = piecewise_linear(np.log2(xs), heights, most=MOST_PIECES, least_points=LEAST_POINTS)
    stretches: list[tuple[int, int]] = []
    start = 0
    for piece in fit.pieces:
        stop = start + piece.points
        if abs(piece(piece.high) - piece(piece.low)) <= RISE:
            if stretches and stretches[-1][1] == start and _same(ys, stretches[-1], (start, stop)):
                stretches[-1] = stretches[-1][0], stop
            else:
                stretches.append((start, stop))
        start = stop
    return tuple(_level(xs[a:b], ys[a:b]) for a, b in stretches)


def _same(y: Vector, first: tuple[int, int], second: tuple[int, int]) -> bool:
    heights = [float(np.median(y[a:b])) for a, b in (first, second)]
    return abs(math.log(heights[0] / heights[1])) <= RISE


def _level(x: Vector, y: Vector) -> Level:
    return Level(float(x[0]), float(x[-1]), Parameter(float(np.median(y)), median_error(y)), y.size)
