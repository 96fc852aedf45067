"""What all blocks of a grid touch, from the sectors that sampled ones do."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from warpwatt.emulate.caches.footprint import touched_bytes
from warpwatt.emulate.caches.sets import SECTOR, common, distinct, occurrences

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from warpwatt.core.reuse import Lag
    from warpwatt.emulate.caches.sampled_blocks import SampledBlocks

MOST_PAIRS = 24
"""Neighbours compared along an axis."""
SATURATED = 0.9
"""A stretch is as dense as it will be where fewer blocks fill it to more than this share."""
NEAR_GAP = 128
"""Gaps up to this many sectors belong to a pattern, longer ones part what is far apart (4 KiB)."""


def total_bytes(
    union: NDArray[np.int64],
    sets: list[NDArray[np.int64]],
    again: tuple[Lag, ...] | None,
    block_bytes: float,
    blocks: SampledBlocks,
) -> float:
    """Return the bytes that the whole grid touches."""
    count = blocks.grid.count
    if len(blocks.numbers) >= count:
        return float(SECTOR * len(union)) * block_bytes / max(1e-9, mean_bytes(sets, blocks))
    if again is not None:
        return max(float(SECTOR * len(union)), touched_bytes(block_bytes, again, count, count))
    seen = mean_bytes(sets, blocks)
    drawn = SECTOR * _drawn(sets, blocks) * (block_bytes / max(1.0, seen))
    return max(float(SECTOR * len(union)), min(drawn, _stretch(union, sets, blocks)))


def mean_bytes(sets: list[NDArray[np.int64]], blocks: SampledBlocks) -> float:
    """Return the bytes that a block touches in the mean."""
    sizes = np.array([len(s) for s in sets])
    return SECTOR * float((sizes * blocks.weights).sum() / blocks.weights.sum())


def union_of(sets: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    """Return the sectors that are in any of the sets, ascending."""
    return distinct(np.concatenate(sets))


def new_share(sets: list[NDArray[np.int64]], pairs: list[tuple[int, int]]) -> float:
    """Return the mean share of a block's sectors that its neighbour does not touch; 1 without pairs."""
    fresh = whole = 0
    for a, b in pairs[:: max(1, len(pairs) // MOST_PAIRS)]:
        fresh += len(sets[a]) + len(sets[b]) - 2 * common(sets[a], sets[b])
        whole += len(sets[a]) + len(sets[b])
    return fresh / whole if whole else 1.0


def _drawn(sets: list[NDArray[np.int64]], blocks: SampledBlocks) -> float:
    """Return how many sectors all blocks touch, from how many of those seen one or two blocks apart touch.

    Chao's estimate of what is unseen and how it is found with more samples (Colwell et al., "Models and
    estimators linking individual-based and sample-based rarefaction, extrapolation and comparison of
    assemblages", Journal of Plant Ecology 5, 2012, equations 8 and 18). Where no two have anything in common
    there is nothing to estimate from, and what neighbours share is all.
    """
    followers = {b for axis in range(3) for _, b in blocks.neighbours(axis)}
    apart = [s for k, s in enumerate(sets) if k not in followers and len(s)]
    samples = len(apart)
    if not samples:
        return 0.0
    _, times = occurrences(np.concatenate(apart))
    once, twice = float((times == 1).sum()), float((times == 2).sum())
    if not twice and once == len(times):  # nothing in common far apart: only neighbours share
        new = math.prod(new_share(sets, blocks.neighbours(axis)) for axis in range(3))
        return new * blocks.grid.count * once / samples
    unseen = (samples - 1) / samples * (once**2 / (2 * twice) if twice else once * (once - 1) / 2)
    if not unseen:
        return float(len(times))
    more = max(0, blocks.grid.count - samples)
    return float(len(times) - unseen * np.expm1(more * np.log1p(-once / (samples * unseen + once))))


def _stretch(union: NDArray[np.int64], sets: Sequence[NDArray[np.int64]], blocks: SampledBlocks) -> float:
    """Return the bytes of the stretch of addresses that blocks are spread over, as dense as it is nearby.

    The ends of a stretch lie beyond those of n draws from it by one gap in all. Where more blocks leave
    narrower gaps, or more that are near, others are filling them, and in the end there are none.
    """
    if len(union) < 2:
        return float(SECTOR * len(union))
    density, fewer = _density(union), union_of(sets[::2])
    sparser = _near_share(fewer) < SATURATED * _near_share(union)
    if sparser or _density(fewer) < SATURATED * density or _neighbours_fill(sets, blocks):
        density = 1.0
    count = len(sets)
    return SECTOR * float(union[-1] - union[0] + 1) * density * (count + 1) / max(1, count - 1)


def _neighbours_fill(sets: Sequence[NDArray[np.int64]], blocks: SampledBlocks) -> bool:
    """Return whether blocks touch what lies in the gaps of their neighbours, along any axis: tiles do."""
    for axis in range(3):
        pairs = [(i, j) for i, j in blocks.neighbours(axis) if len(sets[i]) > 1 and len(sets[j]) > 1]
        alone = sum(_density(sets[i]) + _density(sets[j]) for i, j in pairs) / 2
        if sum(_density(union_of([sets[i], sets[j]])) for i, j in pairs) * SATURATED > alone:
            return True
    return False


def _near_share(ascending: NDArray[np.int64]) -> float:
    """Return the share of gaps between sectors that are near; a pattern has the same in any part of it."""
    return float((np.diff(ascending) <= NEAR_GAP).mean()) if len(ascending) > 1 else 1.0


def _density(ascending: NDArray[np.int64]) -> float:
    """Return sectors per sector of stretch where they lie near each other, 1 if none do."""
    gaps = np.diff(ascending)
    near = gaps[gaps <= NEAR_GAP]
    return float(len(near) / near.sum()) if len(near) else 1.0
