"""By which steps addresses move from block to block, as sampled blocks tell."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from warpwatt.core.arrays import unique
from warpwatt.core.reuse import LineStream
from warpwatt.emulate.caches.lags import near
from warpwatt.emulate.caches.totals import SATURATED
from warpwatt.native import ADDRESS, INT, addresses, function

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from warpwatt.emulate.caches.sampled_blocks import SampledBlocks

FITTING = 0.7
"""Share of sampled blocks whose addresses must lie on the line of the others."""
FEWEST_FITTED = 8
"""Blocks from which a movement that is not the same everywhere is told."""
ROW_SHARE = 0.25
"""Part of the rows that a block touches by which it may lie beside where its number says."""
TRIMS = 5
"""Fits of a line, each without the blocks that lay farthest from the one before."""
UNTOUCHED = np.iinfo(np.int64).max
"""Lowest sector of a block that touches nothing by an instruction."""
Bases = dict[int, tuple["NDArray[np.int32]", "NDArray[np.int64]"]]
"""By instruction: ordinals of blocks, and a sector of each."""


def bases_of(stream: LineStream) -> tuple[Bases, Bases]:
    """Return instruction -> (ordinals of blocks, the sector it touches in each): the lowest, the highest.

    What it touches later than others counts too: neighbours of a stencil move alike.
    """
    columns = (stream.instruction, np.int32), (stream.block, np.int32), (stream.line, np.int64)
    given = [np.ascontiguousarray(values, kind) for values, kind in (*columns, (stream.sectors, np.uint8))]
    shape = int(stream.instruction.max(initial=-1)) + 1, int(stream.block.max(initial=-1)) + 1
    lowest, highest = np.empty(shape, np.int64), np.empty(shape, np.int64)
    fill = function("block_extremes", None, INT, *[ADDRESS] * 4, INT, INT, ADDRESS, ADDRESS)
    fill(len(stream.line), *addresses(*given), *shape, *addresses(lowest, highest))
    seen = lowest != UNTOUCHED
    touching, everyone = seen.sum(axis=1).tolist(), np.arange(shape[1], dtype=np.int32)
    ordinals = {
        index: everyone if count == len(everyone) else np.flatnonzero(seen[index]).astype(np.int32)
        for index, count in enumerate(touching)
        if count
    }
    low, high = ({i: (of, table[i, of]) for i, of in ordinals.items()} for table in (lowest, highest))
    return low, high


def alike(some: tuple[float, ...], others: tuple[float, ...], blocks: SampledBlocks) -> bool:
    """Whether two fitted movements differ by no more than the sectors at the edges of a grid shift a fit."""
    if len(some) != len(others):
        return False
    extents = blocks.extents_seen.tolist()
    return all(abs(a - b) * e <= 2.0 for a, b, e in zip(some, others, extents, strict=False))


def steps_of(
    ordinals: NDArray[np.int32],
    first: NDArray[np.int64],
    blocks: SampledBlocks,
    sectors: Callable[[], Sequence[NDArray[np.int64]]] | None = None,
) -> tuple[float, ...]:
    """Return the sectors by which the first address of a block moves along each axis, () if it does not.

    ``sectors`` gives those of every sampled block: they tell blocks that leave some out from blocks that lie
    elsewhere. Instructions whose addresses differ by a constant are fitted once.
    """
    relative = first - first[0]
    key = ordinals.tobytes(), relative.tobytes()
    if key not in blocks.fits:
        blocks.fits[key] = _fitted(ordinals, relative, blocks)
    steps, certain = blocks.fits[key]
    if certain:
        return steps
    return steps if sectors and _only_left_out(steps, ordinals, first, blocks, sectors()) else ()


def _fitted(
    ordinals: NDArray[np.int32], first: NDArray[np.int64], blocks: SampledBlocks
) -> tuple[tuple[float, ...], bool]:
    """Return the steps that most blocks' addresses fit, () for none, and whether neighbours agree."""
    base = first.astype(float)
    at = np.concatenate([blocks.coordinates[ordinals], np.ones((len(ordinals), 1))], axis=1)
    stands_for = blocks.weights[ordinals] / blocks.weights[ordinals].sum()
    centre = base.mean()
    kept = np.ones(len(ordinals), bool)
    for _ in range(TRIMS):
        scale = np.sqrt(stands_for[kept])
        fit, *_ = np.linalg.lstsq(at[kept] * scale[:, None], (base[kept] - centre) * scale, rcond=None)
        off = np.abs(at @ fit - (base - centre))
        if (off[kept] <= 1.0).all():
            break
        kept &= off <= max(1.0, _quantile(off[kept], 0.8))
        if stands_for[kept].sum() < 0.5:
            return (), True
    if stands_for[off <= 1.0].sum() < FITTING:
        return (), True
    steps = tuple(float(step) for step in fit[:3])
    return steps, _neighbours_agree(steps, ordinals, first, blocks)


def _quantile(values: NDArray[np.float64], share: float) -> float:
    """Return what ``np.quantile`` does, which takes twenty times as long for a few numbers.

    >>> _quantile(np.array([4.0, 1.0, 2.0]), 0.75)
    3.0
    """
    ascending = np.sort(values)
    place = share * (len(ascending) - 1)
    below = int(place)
    low, high = float(ascending[below]), float(ascending[min(below + 1, len(ascending) - 1)])
    part = place - below
    return low + (high - low) * part if part < 0.5 else high - (high - low) * (1 - part)


def steps_about(sets: Sequence[NDArray[np.int64]], blocks: SampledBlocks) -> tuple[float, ...]:
    """Return the sectors by which what a block touches moves on average, () if blocks touch other patterns.

    Gathers by the tables of a mesh follow the number of the block but for the ends of its rows and planes:
    what is little against the rows that a block touches changes little of what blocks have in common.
    """
    written = [k for k, own in enumerate(sets) if len(own)]
    if len(written) < FEWEST_FITTED:
        return ()
    typical = sorted(written, key=lambda k: len(sets[k]))[len(written) // 2]
    near_enough = ROW_SHARE * float(np.median(_rows(sets[typical])))
    if near_enough <= 1.0:
        return ()
    at = blocks.coordinates - blocks.coordinates[typical]
    base = np.array([sets[k][0] for k in written], float)
    fit, *_ = np.linalg.lstsq(np.concatenate([at, np.ones((len(at), 1))], axis=1)[written], base, rcond=None)
    off = [near(sets[k], sets[typical] + at[k] @ fit[:3])[1] for k in written]
    alike_ = [float((each <= near_enough).mean()) >= SATURATED for each in off]
    return tuple(map(float, fit[:3])) if np.mean(alike_) >= FITTING else ()


def _rows(ascending: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the lengths of rows of sectors side by side.

    >>> _rows(np.array([3, 4, 5, 9, 10])).tolist()
    [3, 2]
    """
    return np.diff(np.flatnonzero(np.diff(ascending, prepend=-2, append=ascending[-1] + 2) != 1))


def _neighbours_agree(
    steps: tuple[float, ...], ordinals: NDArray[np.int32], first: NDArray[np.int64], blocks: SampledBlocks
) -> bool:
    """Return whether neighbours are as far apart as blocks far from each other say.

    Where runs of blocks skip parts of a buffer, as in sorting networks, first blocks of runs lie on a line of
    their own.
    """
    base = dict(zip(ordinals.tolist(), first.tolist(), strict=True))
    for axis, step in enumerate(steps):
        apart = [base[j] - base[i] for i, j in blocks.neighbours(axis) if i in base and j in base]
        if apart and sum(abs(each - step) <= 1.0 for each in apart) < FITTING * len(apart):
            return False
    return True


def _middle(values: NDArray[np.float64], weights: NDArray[np.float64]) -> float:
    """Return the weighted median.

    >>> _middle(np.array([3.0, 1.0, 2.0]), np.array([5.0, 1.0, 1.0]))
    3.0
    """
    order = np.argsort(values)
    return float(values[order][np.searchsorted(np.cumsum(weights[order]), weights.sum() / 2)])


def _only_left_out(
    steps: tuple[float, ...],
    ordinals: NDArray[np.int32],
    first: NDArray[np.int64],
    blocks: SampledBlocks,
    sectors: Sequence[NDArray[np.int64]],
) -> bool:
    """Return whether blocks that start off the line touch what those on it do, with gaps: of masks."""
    moved = blocks.coordinates[ordinals] @ np.array(steps)
    off = first - moved
    on_line = np.abs(off - _middle(off, blocks.weights[ordinals])) <= 1.0
    if blocks.weights[ordinals][on_line].sum() < FITTING * blocks.weights[ordinals].sum():
        return False
    relative = [sectors[ordinal] - by for ordinal, by in zip(ordinals, moved, strict=True)]
    known = unique(np.rint(np.concatenate([relative[k] for k in np.flatnonzero(on_line)])))
    others = np.concatenate([relative[k] for k in np.flatnonzero(~on_line)] or [known[:1]])
    return bool(len(others)) and bool((near(known.astype(np.int64), others)[1] <= 1.0).mean() >= SATURATED)


def period(ordinals: NDArray[np.int32], first: NDArray[np.int64], blocks: SampledBlocks) -> int:
    """Return after how many blocks in a row the addresses begin anew, 0 if that cannot be told.

    For blocks that take ``blockIdx % n``-th pieces: the steps that a block is short of its number are a
    multiple of n.

    >>> from warpwatt.core.launch import Dim3
    >>> from warpwatt.emulate.caches.sampled_blocks import SampledBlocks
    >>> numbers = np.array([0, 1, 50, 51, 93, 94])
    >>> blocks = SampledBlocks(Dim3(100), numbers, np.ones(6))
    >>> period(np.arange(6, dtype=np.int32), 4 * (numbers % 7), blocks)
    7
    """
    place = {int(o): k for k, o in enumerate(ordinals)}
    near = [(place[i], place[j]) for i, j in blocks.neighbours(0) if i in place and j in place]
    steps = [int(first[j] - first[i]) for i, j in near]
    step = int(np.median(steps)) if steps else 0
    if not step or steps.count(step) < FITTING * len(steps) or ((first - first[0]) % step).any():
        return 0
    number = blocks.numbers[ordinals]
    short = number - number[0] - (first - first[0]) // step
    around = int(np.gcd.reduce(np.abs(short)))
    return around if around > np.ptp(first) // abs(step) else 0
