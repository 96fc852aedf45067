"""What NumPy does too, without what it loads for it, and places spread evenly."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import ArrayLike, NDArray

GOLDEN = (5**0.5 - 1) / 2
"""Its multiples modulo 1 fill every interval evenly, however many are taken, in no step that grids have."""


def unique(values: ArrayLike) -> NDArray[Any]:
    """Return the different numbers among values, ascending; ``np.unique`` would load ``numpy.ma``.

    >>> unique([3, 5, 3]).tolist()
    [3, 5]
    """
    ascending = np.sort(values, axis=None)
    fresh = np.ones(len(ascending), bool)
    fresh[1:] = ascending[1:] != ascending[:-1]
    return ascending[fresh]


def occurring(index: NDArray[np.integer[Any]]) -> list[int]:
    """Return the numbers (0 and above) that occur, ascending; ``np.unique`` would load masked arrays first.

    >>> occurring(np.array([5, 2, 5]))
    [2, 5]
    """
    found: list[int] = np.flatnonzero(np.bincount(index)).tolist()
    return found
