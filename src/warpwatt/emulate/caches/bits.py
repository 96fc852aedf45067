"""Blocks that touch the same pattern each, begun where the bits of their numbers say.

Bit reversals, Morton orders and numbers divided by powers of two are no fixed step along an axis of the grid,
but a sum of one step for each bit of a block's number. Which blocks meet is then known, however few are seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from warpwatt.core.arrays import unique
from warpwatt.emulate.caches.lags import merged
from warpwatt.emulate.caches.totals import SATURATED

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from warpwatt.core.reuse import Lag
    from warpwatt.emulate.caches.sampled_blocks import SampledBlocks

TELLING = 3
"""Blocks more than steps of bits to be found, from which on that all begin where these say is no chance."""
MOST_ROWS = 1 << 20
"""Rows of patterns that are compared one by one."""
ALIKE = 1.25
"""Ratio up to which numbers of blocks between two uses are one."""


def met_by_bits(
    sets: Sequence[NDArray[np.int64]], blocks: SampledBlocks
) -> tuple[tuple[Lag, ...], float] | None:
    """Return when blocks touch the same again, and how many sectors the grid does; None if bits do not say.

    ``sets`` are the sectors of each sampled block, ascending. Some blocks may leave some out: at the rim,
    or by what they read. Blocks whose patterns overlap in part are not taken for such.

    >>> from warpwatt.core.launch import Dim3
    >>> from warpwatt.emulate.caches.sampled_blocks import SampledBlocks
    >>> numbers = np.array([0, 1, 2, 3, 6, 9, 12, 15])
    >>> folded = [np.array([0, 5]) + 10 * (n % 4) for n in numbers]
    >>> met_by_bits(folded, SampledBlocks(Dim3(16), numbers, np.full(8, 2.0)))
    ((Lag(blocks=4.0, share=0.75),), 8.0)
    """
    sizes = np.array([len(own) for own in sets])
    share = float(np.average(sizes, weights=blocks.weights)) / max(1, int(sizes.max()))
    whole = np.flatnonzero(sizes == sizes.max()).tolist()
    if share < SATURATED or len(whole) < (blocks.grid.count - 1).bit_length() + 1 + TELLING:
        return None
    touched = np.stack([sets[k] for k in whole])
    pattern = touched[0] - touched[0, 0]
    if (touched - touched[:, :1] != pattern).any():
        return None
    begin = _begins(touched[:, 0], blocks.numbers[whole], blocks.grid.count)
    rest = np.flatnonzero(sizes < sizes.max()).tolist()
    if begin is None or not all(np.isin(sets[k], begin[blocks.numbers[k]] + pattern).all() for k in rest):
        return None
    order = np.argsort(begin, kind="stable")
    same = np.diff(begin[order]) == 0
    places = unique(begin)
    sectors = len(places) * len(pattern)
    if _overlap(places, pattern):
        return None
    behind, times = np.unique(np.diff(order)[same], return_counts=True)
    again = tuple(merged(behind, times / len(begin), ALIKE))
    return again, sectors * (1.0 if again else share)  # what one leaves out another touches


def _overlap(places: NDArray[np.int64], pattern: NDArray[np.int64]) -> bool:
    """Return whether a pattern of ascending sectors may meet itself where it lies at several places.

    ``places`` ascend. Beyond :data:`MOST_ROWS` rows it may unless one of the two lies between the parts of
    the other.

    >>> _overlap(np.array([0, 2, 8]), np.array([0, 1, 4, 5])), _overlap(np.array([0, 4]), np.array([0, 1, 4]))
    (False, True)
    >>> rows = 8192 * np.arange(256)
    >>> _overlap(np.arange(8192), rows), _overlap(np.arange(8193), rows)
    (False, True)
    """
    begins = np.flatnonzero(np.diff(pattern, prepend=pattern[0] - 2) != 1)  # of its rows, side by side
    first, length = pattern[begins], np.diff(begins, append=len(pattern))
    gaps, spread = np.diff(places), places[-1] - places[0]
    rows_lie_apart = (np.diff(first) >= spread + length[:-1]).all() and (gaps >= length.max()).all()
    if rows_lie_apart or (gaps > pattern[-1] - pattern[0]).all():
        return False
    if len(places) * len(first) > MOST_ROWS:
        return True
    row = (places[:, None] + first).ravel()
    length = np.tile(length, len(places))
    order = np.argsort(row, kind="stable")
    return bool((row[order][1:] < (row + length)[order][:-1]).any())


def _begins(begin: NDArray[np.int64], numbers: NDArray[np.int64], count: int) -> NDArray[np.int64] | None:
    """Return where each of ``count`` blocks begins, from where some do; None if bits do not say."""
    bits = (count - 1).bit_length()
    known = np.column_stack([numbers[:, None] >> np.arange(bits) & 1, np.ones(len(begin), np.int64)])
    steps, _, rank, _ = np.linalg.lstsq(known.astype(float), begin.astype(float), rcond=None)
    whole = np.rint(steps).astype(np.int64)
    if rank <= bits or (known @ whole != begin).any():
        return None
    every = np.full(count, whole[-1])
    for bit, step in enumerate(whole[:-1].tolist()):
        every += (np.arange(count) >> bit & 1) * step
    return every
