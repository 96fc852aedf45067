"""Sector distances by native code: the same as :func:`~warpwatt.emulate.caches.distance.sector_distances`."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from warpwatt.emulate.caches import native_distance
from warpwatt.emulate.native.aot import Library, function, load

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from warpwatt.emulate.native.llvm import Code

_READABLE = 16


def fast_sector_distances(
    lines: NDArray[np.int64],
    sectors: NDArray[np.uint8],
    valid: NDArray[np.bool_],
    weights: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return the distance of each access's four sectors, shape (accesses, 4); NaN where one is not touched.

    >>> lines, masks = np.array([5, 6, 5, 5]), np.array([1, 1, 2, 3], np.uint8)
    >>> fast_sector_distances(lines, masks, np.full(4, True), np.ones(4))[3].tolist()
    [1.0, 0.0, nan, nan]
    """
    size = len(lines)
    different, number = np.unique(lines, return_inverse=True)
    number = np.ascontiguousarray(number, np.int64)
    marks = (sectors | np.where(valid, _READABLE, 0)).astype(np.uint8)
    weights = np.ascontiguousarray(weights, np.float64)
    last = np.full(len(different), -1, np.int64)
    tree, peak = np.zeros(size + 1), np.zeros((len(different), 4))
    result = np.empty((size, 4))
    arrays = (number, marks, weights, last, tree, peak, result)
    function(_code().address("measure"), 8)(size, *(a.ctypes.data for a in arrays))
    result[result < 0] = np.nan
    result[result >= native_distance.COLD] = np.inf
    return result


@lru_cache(maxsize=1)
def _code() -> Code:
    return load([Library((native_distance,), ("measure",)).object()])
