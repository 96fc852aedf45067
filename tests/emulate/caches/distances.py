"""Stack distances by NumPy: what :func:`warpwatt.emulate.caches.distance.sector_distances` must return.

The distances of all accesses are found at once. With ``p[i]`` the previous use of access i's line, the lines
between are those whose first use after ``p[i]`` lies before i: ``#{j < i: p[j] <= p[i]} - (p[i] + 1)``.
Such pairs are counted bit by bit of their indices, from the highest bit in which they differ.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

COLD = np.inf
"""Distance of a first use."""


def previous_use(lines: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the position of the previous access to the same line, -1 for the first.

    >>> previous_use(np.array([7, 8, 7, 7])).tolist()
    [-1, -1, 0, 2]
    """
    order = np.argsort(lines, kind="stable")
    again = lines[order[1:]] == lines[order[:-1]]
    previous = np.full(len(lines), -1)
    previous[order[1:][again]] = order[:-1][again]
    return previous


def stack_distances(
    lines: NDArray[np.int64], weights: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """Return how many other lines came since the last use of each access's line, ``COLD`` for the first.

    ``weights`` count an access's line as more than one (lines of a sample stand for others); a line has
    the same weight at each of its accesses.

    >>> stack_distances(np.array([1, 2, 3, 1, 1, 2])).tolist()
    [inf, inf, inf, 2.0, 0.0, 2.0]
    """
    if not len(lines):
        return np.zeros(0)
    previous = previous_use(lines)
    weights = np.ones(len(lines)) if weights is None else weights
    smaller = _smaller_before(np.argsort(previous, kind="stable"), weights)
    until = np.concatenate([[0.0], np.cumsum(weights)])
    return np.where(previous < 0, COLD, smaller - until[previous + 1])


def _smaller_before(order: NDArray[np.int64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return for each index the weight of smaller indices that stand before it in ``order``, a permutation.

    Indices with the same bits above ``bit`` stand together, in the order given; of those, the ones whose
    ``bit`` is 0 are smaller than the ones whose ``bit`` is 1. They are then parted by that bit.
    """
    size = len(order)
    total = np.zeros(size)
    places = np.arange(size)
    for bit in reversed(range((size - 1).bit_length())):
        high = (order >> bit) & 1 == 1
        start = order >> (bit + 1) << (bit + 1)
        low_weight = np.concatenate([[0.0], np.cumsum(np.where(high, 0.0, weights[order]))])
        total[order[high]] += low_weight[places[high]] - low_weight[start[high]]
        low_count = np.concatenate([[0], np.cumsum(~high)])
        lows = low_count[:-1] - low_count[start]
        target = start + np.where(high, (1 << bit) + places - start - lows, lows)
        parted = np.empty_like(order)
        parted[target] = order
        order = parted
    return total


def sector_distances(
    lines: NDArray[np.int64],
    sectors: NDArray[np.uint8],
    valid: NDArray[np.bool_],
    weights: NDArray[np.float64] | None = None,
) -> NDArray[np.float64]:
    """Return the distance of each access's four sectors, shape (accesses, 4); NaN where one is not touched.

    ``valid`` accesses leave their sectors readable; the others (partial writes) only keep the line in place.

    >>> lines, masks = np.array([5, 6, 5, 5]), np.array([1, 1, 2, 3], np.uint8)
    >>> sector_distances(lines, masks, np.full(4, True))[:, :2].tolist()
    [[inf, nan], [inf, nan], [nan, inf], [1.0, 0.0]]
    """
    along_lines = np.argsort(lines, kind="stable")
    distinct, rank = np.unique(stack_distances(lines, weights)[along_lines], return_inverse=True)
    touched_by, leaves = sectors[along_lines], valid[along_lines]
    result = np.full((len(lines), 4), np.nan)
    for sector in range(4):
        touched = (touched_by >> sector) & 1 == 1
        since = _largest_since(rank, touched & leaves, len(distinct))
        result[along_lines[touched], sector] = distinct[since[touched]]
    return result


def _largest_since(rank: NDArray[np.int64], uses: NDArray[np.bool_], ranks: int) -> NDArray[np.int64]:
    """Return the largest rank behind the last use before each place.

    Accesses of a line stand side by side and its first one has the highest rank, so that what is behind a
    use of another line does not matter. Lifted by the number of uses before, one running maximum serves all.
    """
    lift = np.concatenate([[0], np.cumsum(uses)[:-1]]) * ranks
    return np.asarray(np.maximum.accumulate(rank + lift) - lift)
