"""Lines in pieces, the break points found: the best partition by dynamic programming, its size by BIC.

Pieces need not meet: the latencies of Alavani 2023, Table 3.3, jump from one to the next. Levels of a memory
hierarchy are pieces too, flat ones, over the logarithm of the footprint: how high, and how far.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from warpwatt.core.errors import InputError
from warpwatt.lab.measure.fits import Parameter, quality, standard_errors
from warpwatt.lab.measure.statistics import median_error

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from warpwatt.lab.measure.fits import Points, Vector

MOST_PIECES = 8


@dataclass(frozen=True, slots=True)
class Piece:
    """A line y = a + b·x over the points from ``low`` to ``high``; ``b`` is 0 where pieces are flat."""

    low: float
    high: float
    a: Parameter
    b: Parameter
    points: int

    def __call__(self, x: float) -> float:
        """Return the line at x."""
        return self.a.value + self.b.value * x


@dataclass(frozen=True, slots=True, eq=False)
class Piecewise:
    """Lines in order of x; ``breaks`` lie between them, each with the uncertainty of the gap it lies in."""

    pieces: tuple[Piece, ...]
    breaks: tuple[Parameter, ...]
    r2: float
    rmse: float
    residuals: Vector
    """In order of x."""

    def __call__(self, x: float) -> float:
        """Return the line at x; outside the points that of the nearest piece."""
        index = sum(x > one.value for one in self.breaks)
        return self.pieces[index](x)


def fit_piecewise_linear(
    x: Points,
    y: Points,
    *,
    most: int = MOST_PIECES,
    least_points: int = 4,
    flat: bool = False,
) -> Piecewise:
    """Fit lines to pieces of the points, as many as pay (Bayesian information criterion).

    Parameters
    ----------
    most
        Pieces at most.
    least_points
        Points of a piece at least.
    flat
        Whether lines are level.

    Raises
    ------
    InputError
        If there are fewer points than one piece needs.

    >>> fit = fit_piecewise_linear(range(12), [1.0] * 6 + [5.0] * 6, flat=True)
    >>> [round(piece.a.value, 9) for piece in fit.pieces], fit.breaks[0].value
    ([1.0, 5.0], 5.5)
    """
    order = np.argsort(np.asarray(x, float), kind="stable")
    xs, ys = np.asarray(x, float)[order], np.asarray(y, float)[order]
    if xs.size < max(least_points, 2):
        raise InputError(f"{xs.size} points are too few for pieces of {least_points}")
    costs = _costs(xs, ys, flat=flat)
    starts = _best_partition(costs, xs, ys, most, least_points, flat=flat)
    bounds = [*starts, xs.size]
    pieces, residuals = [], np.empty_like(ys)
    for start, stop in pairwise(bounds):
        piece, rest = _piece(xs[start:stop], ys[start:stop], flat=flat)
        pieces.append(piece)
        residuals[start:stop] = rest
    breaks = [between(xs[stop - 1], xs[stop]) for stop in starts[1:]]
    r2, rmse = quality(residuals, ys)
    return Piecewise(tuple(pieces), tuple(breaks), r2, rmse, residuals)


def between(low: float, high: float) -> Parameter:
    """Return the middle of a gap; anywhere in it is as likely."""
    return Parameter(float((low + high) / 2), float((high - low) / math.sqrt(12)))


def _costs(x: Vector, y: Vector, *, flat: bool) -> Vector:
    """Return the sum of squares of one line through the points i to j, at [i, j]; infinite where j < i."""
    x, y = x - x.mean(), y - y.mean()
    sums = [np.concatenate([[0.0], np.cumsum(v)]) for v in (np.ones_like(x), x, y, x * x, x * y, y * y)]
    count, sx, sy, sxx, sxy, syy = (s[None, 1:] - s[:-1, None] for s in sums)
    with np.errstate(divide="ignore", invalid="ignore"):
        cost = syy - sy * sy / count
        if not flat:
            spread = sxx - sx * sx / count
            cost = cost - np.where(spread > 1e-12 * sxx, (sxy - sx * sy / count) ** 2 / spread, 0.0)
    return np.where(count >= 1, np.maximum(cost, 0.0), np.inf)


def _best_partition(
    costs: Vector, x: Vector, y: Vector, most: int, least_points: int, *, flat: bool
) -> list[int]:
    """Return where the pieces of the best partition start, the first at 0.

    A partition into k pieces costs n·ln(RSS/n) + p·ln n, p counting lines and breaks. Points at one x are
    never parted. Sums of squares below rounding count as rounding.
    """
    size = x.size
    allowed = costs.copy()
    length = np.arange(size)[None, :] - np.arange(size)[:, None] + 1
    allowed[length < least_points] = np.inf
    tied = np.concatenate([[False], np.diff(x) == 0])
    allowed[tied, :] = np.inf
    floor = size * (1e-9 * (float(np.abs(y).max()) or 1.0)) ** 2
    per_line = 1 if flat else 2
    best, origins = allowed[0].copy(), []
    scores, histories = [_score(best[-1], floor, size, per_line)], [[0]]
    for pieces in range(2, most + 1):
        # ways[i, j]: the best of the pieces before i, then one line from i to j
        ways = np.concatenate([[np.inf], best[:-1]])[:, None] + allowed
        origins.append(np.argmin(ways, axis=0))
        best = ways[origins[-1], np.arange(size)]
        scores.append(_score(best[-1], floor, size, pieces * per_line + pieces - 1))
        histories.append(_trace(origins, size))
    return histories[int(np.argmin(scores))]


def _score(squares: float, floor: float, size: int, parameters: int) -> float:
    return (
        size * math.log(max(squares, floor) / size) + parameters * math.log(size)
        if squares < np.inf
        else np.inf
    )


def _trace(origins: list[NDArray[np.intp]], size: int) -> list[int]:
    """Return the starts of the pieces that led to the last point."""
    starts, end = [], size - 1
    for origin in reversed(origins):
        starts.append(int(origin[end]))
        end = starts[-1] - 1
    return [0, *reversed(starts)]


def _piece(x: Vector, y: Vector, *, flat: bool) -> tuple[Piece, Vector]:
    """Return one line and its residuals."""
    ones = np.ones_like(x)
    level = flat or np.ptp(x) == 0
    jacobian = ones[:, None] if level else np.column_stack([ones, x])
    solution, *_ = np.linalg.lstsq(jacobian, y, rcond=None)
    residuals = y - jacobian @ solution
    errors = standard_errors(jacobian, residuals)
    slope = Parameter(0.0, 0.0) if level else Parameter(float(solution[1]), float(errors[1]))
    return Piece(
        float(x[0]), float(x[-1]), Parameter(float(solution[0]), float(errors[0])), slope, x.size
    ), residuals


RISE = 0.06
"""Relative rise over a piece up to which it counts as flat, and difference of levels that are one."""
LEAST_POINTS = 3
MOST_LEVELS = 10
STEPPED = 1e-3
"""Relative resolution: values printed or counted in whole steps differ by this much by rounding alone."""


@dataclass(frozen=True, slots=True)
class Level:
    """A flat stretch from footprint ``low`` to ``high``; ``height`` is the median and its standard error."""

    low: float
    high: float
    height: Parameter
    points: int


def find_levels(x: Points, y: Points) -> tuple[Level, ...]:
    """Return the flat stretches of a curve, by rising footprint.

    Lines in pieces through the logarithms; a piece that hardly rises is a level, neighbours of the same
    height are one.

    Raises
    ------
    InputError
        If there are too few points.

    >>> found = find_levels([1, 2, 4, 8, 16, 32, 64], [30, 30, 30, 30, 200, 200, 200])
    >>> [(level.low, level.high, level.height.value) for level in found]
    [(1.0, 8.0, 30.0), (16.0, 64.0, 200.0)]
    """
    order = np.argsort(np.asarray(x, float), kind="stable")
    xs, ys = np.asarray(x, float)[order], np.asarray(y, float)[order]
    heights = np.round(np.log(ys) / STEPPED) * STEPPED
    fit = fit_piecewise_linear(np.log2(xs), heights, most=MOST_LEVELS, least_points=LEAST_POINTS)
    stretches: list[tuple[int, int]] = []
    start = 0
    for piece in fit.pieces:
        stop = start + piece.points
        if abs(piece(piece.high) - piece(piece.low)) <= RISE:
            if (
                stretches
                and stretches[-1][1] == start
                and _are_equal_heights(ys, stretches[-1], (start, stop))
            ):
                stretches[-1] = stretches[-1][0], stop
            else:
                stretches.append((start, stop))
        start = stop
    return tuple(_level(xs[a:b], ys[a:b]) for a, b in stretches)


def _are_equal_heights(y: Vector, first: tuple[int, int], second: tuple[int, int]) -> bool:
    heights = [float(np.median(y[a:b])) for a, b in (first, second)]
    return abs(math.log(heights[0] / heights[1])) <= RISE


def _level(x: Vector, y: Vector) -> Level:
    return Level(float(x[0]), float(x[-1]), Parameter(float(np.median(y)), median_error(y)), y.size)
