"""How footprints grow from sampled blocks to waves and to the whole grid.

Where the addresses of an instruction move by a fixed step along each axis of the grid, the offsets of its
accesses say which blocks touch the same memory (:mod:`~warpwatt.emulate.caches.lags`). Elsewhere (gathers,
grids numbered by division) what blocks far apart have in common says from how large a set they draw, and the
stretch of addresses and the buffer's size bound it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from warpwatt.core.arrays import unique
from warpwatt.core.reuse import Growth, Lag, LineStream
from warpwatt.emulate.caches.lags import lags, near, pattern
from warpwatt.emulate.caches.sets import SECTOR, Touches, distinct
from warpwatt.emulate.caches.stream import LOCAL_SLOT, SLOT_BITS
from warpwatt.emulate.caches.totals import SATURATED, mean_bytes, new_share, total_bytes, union_of
from warpwatt.emulate.scaling import occurring

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from warpwatt.emulate.caches.sampled_blocks import SampledBlocks
    from warpwatt.emulate.caches.stream import FirstAsked


FITTING = 0.7
"""Share of sampled blocks whose addresses must lie on the line of the others."""
FEWEST_FITTED = 8
"""Blocks from which a movement that is not the same everywhere is told."""
ROW_SHARE = 0.25
"""Part of the rows that a block touches by which it may lie beside where its number says."""
TRIMS = 5
"""Fits of a line, each without the blocks that lay farthest from the one before."""


_LOWEST = (0, 0, 1, 0, 2, 0, 1, 0, 3, 0, 1, 0, 2, 0, 1, 0)
"""Lowest set bit of a mask of sectors."""
Bases = dict[int, tuple["NDArray[np.int32]", "NDArray[np.int64]"]]


def growths(
    touched: Touches,
    bases: Bases,
    blocks: SampledBlocks,
    buffers: Mapping[int, tuple[str, float | None]],
    partly: NDArray[np.int64],
    scales: Mapping[int, float],
    asked: FirstAsked,
) -> tuple[Growth, ...]:
    """Return the footprints of the instructions that reach together.

    Parameters
    ----------
    bases
        Where each instruction starts in each block (:func:`bases_of`).
    buffers
        Slot to name and size in bytes (None if unknown).
    partly
        Sectors that stay partly written, ascending.
    scales
        Instruction to its accesses over those in the trace, where the trace was cut short.
    asked
        What warps ask for at one time.
    """
    groups: list[tuple[int, tuple[float, ...], list[int]]] = []
    for index in occurring(touched.instruction):
        slot = int(touched.sector[touched.instruction == index][0]) >> (SLOT_BITS - 5) & 0xFF
        own = partial(_sets, touched, touched.instruction == index, blocks)
        steps = steps_of(*bases[index], blocks, own)
        like = (g for g in groups if g[0] == slot and alike(g[1], steps, blocks))
        group = next(like, None)
        if group is None:
            groups.append((slot, steps, [index]))
        else:
            group[2].append(index)
    found = [
        replace(
            _repeated(
                _growth(touched, tuple(members), slot, steps, blocks, buffers, partly, scales),
                0 if steps else period(*bases[members[0]], blocks),
            ),
            run=_run_of_neighbours(asked.run(members), steps),
        )
        for slot, steps, members in groups
    ]
    return tuple(_within_limits(found, touched, blocks, scales))


def _repeated(growth: Growth, around: int) -> Growth:
    """Return a growth whose addresses begin anew after ``around`` blocks (0: not known to)."""
    total = growth.block_bytes * (1 + (around - 1) * growth.step) if around else 0.0
    limit = math.inf if growth.limit is None else growth.limit
    return replace(growth, total=min(limit, max(growth.total, total)))


def _run_of_neighbours(run: float, steps: tuple[float, ...]) -> float:
    """Return the bytes side by side of blocks in a row, endless where the next goes on where one ends."""
    return math.inf if steps and 0 < abs(steps[0]) * SECTOR < run + SECTOR / 2 else run


def alike(some: tuple[float, ...], others: tuple[float, ...], blocks: SampledBlocks) -> bool:
    """Whether two fitted movements differ by no more than the sectors at the edges of a grid shift a fit."""
    if len(some) != len(others):
        return False
    extents = np.ptp(blocks.coordinates, axis=0)
    return all(abs(a - b) * e <= 2.0 for a, b, e in zip(some, others, extents, strict=False))


def bases_of(stream: LineStream, *, highest: bool = False) -> Bases:
    """Return instruction -> (ordinals of blocks, the lowest or the highest sector it touches in each).

    What it touches later than others counts too: neighbours of a stencil move alike.
    """
    ends = (-1, 0, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3) if highest else _LOWEST
    sector = stream.line * 4 + np.array(ends)[stream.sectors & 15]
    shape = int(stream.instruction.max(initial=-1)) + 1, int(stream.block.max(initial=-1)) + 1
    extreme = np.full(shape, np.iinfo(np.int64).min if highest else np.iinfo(np.int64).max)
    untouched = extreme.flat[0] if extreme.size else 0
    (np.maximum if highest else np.minimum).at(extreme, (stream.instruction, stream.block), sector)
    seen = extreme != untouched
    found = {int(i): np.flatnonzero(seen[i]).astype(np.int32) for i in np.flatnonzero(seen.any(axis=1))}
    return {i: (blocks, extreme[i, blocks]) for i, blocks in found.items()}


def _within_limits(
    found: list[Growth], touched: Touches, blocks: SampledBlocks, scales: Mapping[int, float]
) -> Iterator[Growth]:
    """Yield growths whose totals together do not exceed what there is in their buffer.

    Groups that reach into each other's part of a buffer are counted once where the whole grid was run.
    """
    sums: dict[str, float] = {}
    for growth in found:
        sums[growth.buffer] = sums.get(growth.buffer, 0.0) + growth.total
    whole = len(blocks.numbers) >= blocks.grid.count
    for growth in found:
        room, granule, lines = growth.limit, growth.granule, growth.lines
        if whole:
            members = [i for g in found if g.buffer == growth.buffer for i in g.instructions]
            own = distinct(np.sort(touched.sector[np.isin(touched.instruction, members)]))
            unseen = max(scales.get(i, 1.0) for i in members)  # of a trace that was cut short
            room = min(math.inf if room is None else room, unseen * SECTOR * len(own))
            granule, lines = (n * len(distinct(own // n)) / max(1, len(own)) for n in (2, 4))
        share = 1.0 if room is None else min(1.0, room / max(1.0, sums[growth.buffer]))
        if share < 1.0 and not whole:  # what fills its buffer leaves no gaps
            granule = lines = 1.0
        yield replace(growth, total=growth.total * share, granule=granule, lines=lines)


def steps_of(
    ordinals: NDArray[np.int32],
    first: NDArray[np.int64],
    blocks: SampledBlocks,
    sectors: Callable[[], Sequence[NDArray[np.int64]]] | None = None,
) -> tuple[float, ...]:
    """Return the sectors by which the first address of a block moves along each axis, () if it does not.

    ``sectors`` gives those of every sampled block: they tell blocks that leave some out from blocks that lie
    elsewhere.
    """
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
        kept &= off <= max(1.0, float(np.quantile(off[kept], 0.8)))
        if stands_for[kept].sum() < 0.5:
            return ()
    if stands_for[off <= 1.0].sum() < FITTING:
        return ()
    steps = tuple(float(step) for step in fit[:3])
    if _neighbours_agree(steps, ordinals, first, blocks):
        return steps
    return steps if sectors and _only_left_out(steps, ordinals, first, blocks, sectors()) else ()


def _only_begin_alike(
    sets: Sequence[NDArray[np.int64]], steps: tuple[float, ...], blocks: SampledBlocks
) -> bool:
    """Return whether blocks begin at one place but go on elsewhere: walks through lists and trees do."""
    touching = [own for own in sets if len(own)]
    moved = np.abs(np.ptp(blocks.coordinates, axis=0)[: len(steps)] * steps)
    if not steps or (moved > 2.0).any() or len(touching) < FEWEST_FITTED:
        return False
    typical = sorted(touching, key=len)[len(touching) // 2]
    same = [float(np.isin(own, typical, assume_unique=True).mean()) >= SATURATED for own in touching]
    return bool(np.mean(same) < FITTING)


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


def _growth(
    touched: Touches,
    members: tuple[int, ...],
    slot: int,
    steps: tuple[float, ...],
    blocks: SampledBlocks,
    buffers: Mapping[int, tuple[str, float | None]],
    partly: NDArray[np.int64],
    scales: Mapping[int, float],
) -> Growth:
    own = np.isin(touched.instruction, members)
    sector, block, instruction = touched.sector[own], touched.block[own], touched.instruction[own]
    sets = _sets(touched, own, blocks)
    scale = max(scales.get(index, 1.0) for index in members)
    block_bytes, again, total = _extent(sets, steps, blocks, scale)
    pieces, lines = (_total_of(sets, bits, steps, blocks, scale, total) for bits in (1, 2))
    name, limit = buffers.get(slot, ("", None))
    weight = blocks.weights[block]
    return Growth(
        buffer=name,
        instructions=members,
        written=touched.written,
        block_bytes=block_bytes if limit is None else min(block_bytes, float(limit)),
        total=total if limit is None else min(total, float(limit)),
        lags=again,
        step=new_share(sets, blocks.neighbours(0)),
        limit=limit,
        granule=min(2.0, max(1.0, 2 * pieces / max(1.0, total))),
        lines=min(4.0, max(1.0, 4 * lines / max(1.0, total))),
        partial=float(np.average(np.isin(sector, partly), weights=weight)) if touched.written else 0.0,
        shares={i: float(weight[instruction == i].sum() / weight.sum()) for i in members},
        private=slot == LOCAL_SLOT,
    )


def _total_of(
    sets: list[NDArray[np.int64]],
    bits: int,
    steps: tuple[float, ...],
    blocks: SampledBlocks,
    scale: float,
    total: float,
) -> float:
    """Return what the grid touches in pieces of 2 to so many sectors, each counted as one sector."""
    pieces = [distinct(s >> bits) for s in sets]
    if all(len(whole) << bits == len(s) for whole, s in zip(pieces, sets, strict=True)):
        return total / (1 << bits)  # blocks touch nothing but whole ones
    return _extent(pieces, tuple(s / (1 << bits) for s in steps), blocks, scale)[2]


def _sets(touched: Touches, rows: NDArray[np.bool_], blocks: SampledBlocks) -> list[NDArray[np.int64]]:
    """Return the sectors of some rows by block, ascending."""
    block, sector = touched.block[rows], touched.sector[rows]
    counts = np.bincount(block, minlength=len(blocks.numbers))
    return np.split(sector[np.argsort(block, kind="stable")], np.cumsum(counts)[:-1])


def _extent(
    sets: list[NDArray[np.int64]], steps: tuple[float, ...], blocks: SampledBlocks, scale: float
) -> tuple[float, tuple[Lag, ...] | None, float]:
    """Return bytes of a block, when they are touched again, and bytes of the grid."""
    block_bytes = scale * mean_bytes(sets, blocks)
    steps = () if _only_begin_alike(sets, steps, blocks) else steps or steps_about(sets, blocks)
    if appended(sets, blocks):
        new = len(union_of(sets)) / sum(map(len, sets))
        return block_bytes * new, (), block_bytes * new * blocks.grid.count
    again = lags(pattern(sets, blocks.coordinates, steps, blocks.grid)) if steps else None
    union = union_of(sets)
    return block_bytes, again, total_bytes(union, sets, again, block_bytes, blocks)


def appended(sets: Sequence[NDArray[np.int64]], blocks: SampledBlocks) -> bool:
    """Return whether blocks take places in the order in which they were run: from a counter.

    Each goes on where the one before ended, although their numbers are far apart and in another order.

    >>> from warpwatt.core.launch import Dim3
    >>> from warpwatt.emulate.caches.sampled_blocks import SampledBlocks
    >>> sampled = SampledBlocks(Dim3(1000), np.array([500, 2, 900, 40]), np.ones(4))
    >>> appended([np.arange(4 * k, 4 * k + 5) for k in range(4)], sampled)
    True
    >>> appended([np.arange(4 * n, 4 * n + 5) for n in sampled.numbers], sampled)
    False
    """
    writing = [k for k, sectors in enumerate(sets) if len(sectors)]
    if len(writing) < 3 or (np.diff(blocks.numbers[writing]) > 0).all():
        return False
    first, last = (np.array([int(sets[k][end]) for k in writing]) for end in (0, -1))
    ahead = first[1:] - last[:-1]
    return bool((ahead >= 0).all() and (ahead <= 1).all() and last[-1] - first[0] >= 3)
