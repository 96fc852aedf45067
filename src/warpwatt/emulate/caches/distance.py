"""Stack distances: how many distinct lines lie between two uses of the same one.

Mattson, Gecsei, Slutz and Traiger (IBM Systems Journal, 1970): an LRU cache of C lines hits exactly those
accesses whose stack distance is below C, so that one pass answers for every capacity. In a sectored cache a
sector is present if it was brought in and its line was never evicted since: its distance is the
largest of its line's distances since the sector's last use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from warpwatt.native import ADDRESS, INT, addresses, function

if TYPE_CHECKING:
    from numpy.typing import NDArray

_COLD = 1e300
"""Distance of a first use, and more than any other."""


def sector_distances(
    lines: NDArray[np.int64],
    sectors: NDArray[np.uint8],
    valid: NDArray[np.bool_],
    weights: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return the distance of each access's four sectors, shape (accesses, 4); NaN where one is not touched.

    ``valid`` accesses leave their sectors readable; the others (partial writes) only keep the line in place.
    ``weights`` count an access's line as more than one (lines of a sample stand for others).

    >>> lines, masks = np.array([5, 6, 5, 5]), np.array([1, 1, 2, 3], np.uint8)
    >>> sector_distances(lines, masks, np.full(4, True), np.ones(4))[3].tolist()
    [1.0, 0.0, nan, nan]
    """
    given = (
        np.ascontiguousarray(lines, np.int64),
        np.ascontiguousarray(sectors, np.uint8),
        np.ascontiguousarray(valid, np.bool_),
        np.ascontiguousarray(weights, np.float64),
    )
    result = np.empty((len(lines), 4))
    call = function("sector_distances", None, INT, *[ADDRESS] * 5)
    call(len(lines), *addresses(*given, result))
    result[result < 0] = np.nan
    result[result >= _COLD] = np.inf
    return result


def first_in_turn(
    turn: NDArray[np.int64],
    lines: NDArray[np.int64],
    reads: NDArray[np.bool_],
    distances: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return how far the first access of a turn was from each sector that another one reads, in its shape.

    -1 for that first access itself. Accesses of a turn stand together; ``reads`` and ``distances`` have a
    column for each of the four sectors.

    >>> reads, far = np.array([[1, 1, 0, 0], [1, 0, 1, 0]]) > 0, np.array([[5.0, 6, 0, 0], [7, 0, 8, 0]])
    >>> first_in_turn(np.zeros(2), np.array([3, 3]), reads, far)[1].tolist()
    [5.0, -1.0, -1.0, -1.0]
    """
    given = (
        np.ascontiguousarray(turn, np.int32),
        np.ascontiguousarray(lines, np.int64),
        np.ascontiguousarray(reads, np.bool_),
        np.ascontiguousarray(distances, np.float64),
    )
    result = np.empty((len(lines), 4))
    call = function("first_in_turn", None, INT, *[ADDRESS] * 5)
    call(len(lines), *addresses(*given, result))
    return result
