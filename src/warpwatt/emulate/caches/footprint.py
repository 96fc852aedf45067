"""How many distinct bytes some blocks in a row touch, of what is known to grow from one to the whole grid."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING

from warpwatt.core.reuse import Lag

if TYPE_CHECKING:
    from warpwatt.core.launch import Dim3
    from warpwatt.core.reuse import Growth

NEWTON_STEPS = 30
"""Enough for a number of double precision from any start."""


def footprint(growth: Growth, grid: Dim3, blocks: float) -> float:
    """Return the distinct bytes that ``blocks`` blocks in a row touch; ``growth.total`` for all of them."""
    count = grid.count
    if blocks >= count:
        return growth.total
    if growth.lags is not None:
        model, whole = (touched_bytes(growth.block_bytes, growth.lags, b, count) for b in (blocks, count))
        return min(growth.total, model * max(1.0, growth.total / whole))
    asked = growth.block_bytes * (1 + (count - 1) * growth.step)
    if asked > growth.total > 0.0:
        return _drawn_from(growth, asked, blocks)
    steepest = (growth.total / max(growth.block_bytes, 1.0) - 1) / max(1, count - 1)
    return min(growth.total, growth.block_bytes * (1 + (blocks - 1) * max(growth.step, steepest)))


def touched_bytes(block_bytes: float, again: tuple[Lag, ...], blocks: float, count: int) -> float:
    """Return the distinct bytes of the first ``blocks`` of ``count`` blocks.

    >>> touched_bytes(100.0, (Lag(2, 0.5),), 6, 10)
    350.0
    """
    return block_bytes * max(1.0, blocks - sum(lag.times(blocks, count) for lag in again))


def _drawn_from(growth: Growth, asked: float, blocks: float) -> float:
    """Return the distinct bytes of blocks that share more than neighbours do, nobody knows how far apart.

    What blocks ask for in all, ``asked``, besides what they share with their neighbours, is as if drawn by
    chance: it is found again as likely after few blocks as after many.
    """
    room = growth.total / _filling(growth.total / asked)
    drawn = growth.block_bytes * (1 + (blocks - 1) * growth.step)
    return min(growth.total, max(growth.block_bytes, -room * math.expm1(-drawn / room)))


@lru_cache(maxsize=256)
def _filling(share: float) -> float:
    """Return how full a room is after draws of which ``share`` were new: ``-log(1 - x) share = x``.

    >>> round(_filling(0.5 / math.log(2)), 6)
    0.5
    """
    draws = 1.0 / share  # over the room; Newton's method from the far side of a concave function
    for _ in range(NEWTON_STEPS):
        draws -= (-math.expm1(-draws) - share * draws) / (math.exp(-draws) - share)
    return -math.expm1(-draws)
