"""How footprints grow from sampled blocks to waves and to the whole grid.

Where the addresses of an instruction move by a fixed step along each axis of the grid, the offsets of its
accesses say which blocks touch the same memory (:mod:`~warpwatt.emulate.caches.lags`). Elsewhere (gathers,
grids numbered by division) what blocks far apart have in common says from how large a set they draw, and the
stretch of addresses and the buffer's size bound it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from warpwatt.core.arrays import occurring
from warpwatt.core.reuse import Growth, Lag
from warpwatt.emulate.caches.bits import met_by_bits
from warpwatt.emulate.caches.lags import lags, pattern
from warpwatt.emulate.caches.movement import (
    FEWEST_FITTED,
    FITTING,
    Bases,
    alike,
    period,
    steps_about,
    steps_of,
)
from warpwatt.emulate.caches.sets import SECTOR, Touches, are_among, common, distinct
from warpwatt.emulate.caches.stream import LOCAL_SLOT, SLOT_BITS, are_of
from warpwatt.emulate.caches.totals import SATURATED, mean_bytes, new_share, total_bytes, union_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from warpwatt.emulate.caches.sampled_blocks import SampledBlocks
    from warpwatt.emulate.caches.stream import FirstAsked

    Extent = tuple[float, tuple[Lag, ...] | None, float]

LINE_SECTORS = 4


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
    first = np.zeros(int(touched.instruction.max(initial=-1)) + 1, np.int64)
    first[touched.instruction[::-1]] = touched.sector[::-1]  # the last one said stays
    for index in occurring(touched.instruction):
        slot = int(first[index]) >> (SLOT_BITS - 5) & 0xFF
        steps = steps_of(*bases[index], blocks, partial(_sets_of, touched, [index], blocks))
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
    reached: dict[str, NDArray[np.int64]] = {}
    for growth in found:
        room, granule, lines = growth.limit, growth.granule, growth.lines
        if whole:
            members = [i for g in found if g.buffer == growth.buffer for i in g.instructions]
            if growth.buffer not in reached:
                reached[growth.buffer] = distinct(touched.sector[_by(touched, members)])
            own = reached[growth.buffer]
            unseen = max(scales.get(i, 1.0) for i in members)  # of a trace that was cut short
            room = min(math.inf if room is None else room, unseen * SECTOR * len(own))
            granule, lines = (n * len(distinct(own // n)) / max(1, len(own)) for n in (2, 4))
        share = 1.0 if room is None else min(1.0, room / max(1.0, sums[growth.buffer]))
        if share < 1.0 and not whole:  # what fills its buffer leaves no gaps
            granule = lines = 1.0
        yield replace(growth, total=growth.total * share, granule=granule, lines=lines)


def _only_begin_alike(
    sets: Sequence[NDArray[np.int64]], steps: tuple[float, ...], blocks: SampledBlocks
) -> bool:
    """Return whether blocks begin at one place but go on elsewhere: walks through lists and trees do."""
    touching = [own for own in sets if len(own)]
    moved = np.abs(blocks.extents_seen[: len(steps)] * steps)
    if not steps or (moved > 2.0).any() or len(touching) < FEWEST_FITTED:
        return False
    typical = sorted(touching, key=len)[len(touching) // 2]
    same = [common(own, typical) / len(own) >= SATURATED for own in touching]
    return bool(np.mean(same) < FITTING)


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
    own = _by(touched, members)
    sector, block, instruction = touched.sector[own], touched.block[own], touched.instruction[own]
    scale = max(scales.get(index, 1.0) for index in members)
    beginning = sector - (int(sector.min()) & -LINE_SECTORS)  # where a buffer lies makes no difference
    sets, counts = _sets(beginning, block, blocks)
    key = beginning.tobytes(), counts.tobytes(), steps, scale
    if key not in blocks.extents:
        block_bytes, again, total = _extent(sets, steps, blocks, scale)
        flat = beginning, block, counts
        pieces, lines = (_total_of(flat, bits, steps, blocks, scale, total) for bits in (1, 2))
        step = new_share(sets, blocks.neighbours(0))
        blocks.extents[key] = block_bytes, again, total, pieces, lines, step
    block_bytes, again, total, pieces, lines, step = blocks.extents[key]
    name, limit = buffers.get(slot, ("", None))
    weight = blocks.weights[block]
    of = {i: weight if len(members) == 1 else weight[instruction == i] for i in members}
    partly = partly if touched.written else partly[:0]
    return Growth(
        buffer=name,
        instructions=members,
        written=touched.written,
        block_bytes=block_bytes if limit is None else min(block_bytes, float(limit)),
        total=total if limit is None else min(total, float(limit)),
        lags=again,
        step=step,
        limit=limit,
        granule=min(2.0, max(1.0, 2 * pieces / max(1.0, total))),
        lines=min(4.0, max(1.0, 4 * lines / max(1.0, total))),
        partial=float((weight * are_among(sector, partly)).sum() / weight.sum()) if len(partly) else 0.0,
        shares={i: float(own.sum() / weight.sum()) for i, own in of.items()},
        private=slot == LOCAL_SLOT,
    )


def _total_of(
    flat: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]],
    bits: int,
    steps: tuple[float, ...],
    blocks: SampledBlocks,
    scale: float,
    total: float,
) -> float:
    """Return what the grid touches in pieces of 2 to so many sectors, each counted as one sector.

    ``flat`` are sectors and their blocks, and how many each block has.
    """
    pieces, block, sectors = flat[0] >> bits, flat[1], flat[2]
    fresh = np.ones(len(pieces), bool)
    fresh[1:] = (pieces[1:] != pieces[:-1]) | (block[1:] != block[:-1])
    sets, counts = _sets(pieces[fresh], block[fresh], blocks)
    if ((counts << bits) == sectors).all():
        return total / (1 << bits)  # blocks touch nothing but whole ones
    return _extent(sets, tuple(s / (1 << bits) for s in steps), blocks, scale)[2]


def _by(touched: Touches, members: Sequence[int]) -> NDArray[np.bool_]:
    """Return which rows are of some instructions."""
    return are_of(touched.instruction, members)


def _sets_of(touched: Touches, members: Sequence[int], blocks: SampledBlocks) -> list[NDArray[np.int64]]:
    """Return the sectors that instructions come to first, by block."""
    own = _by(touched, members)
    return _sets(touched.sector[own], touched.block[own], blocks)[0]


def _sets(
    sector: NDArray[np.int64], block: NDArray[np.int64], blocks: SampledBlocks
) -> tuple[list[NDArray[np.int64]], NDArray[np.int64]]:
    """Return sectors in order of their blocks as one array per block, and how many each has."""
    counts = np.bincount(block, minlength=len(blocks.numbers))
    ends = [0, *np.cumsum(counts).tolist()]
    return [sector[start:end] for start, end in pairwise(ends)], counts


def _extent(
    sets: list[NDArray[np.int64]], steps: tuple[float, ...], blocks: SampledBlocks, scale: float
) -> tuple[float, tuple[Lag, ...] | None, float]:
    """Return bytes of a block, when they are touched again, and bytes of the grid."""
    touching = [k for k, own in enumerate(sets) if len(own)]
    left = blocks.without_idle(touching)
    if left is not None:
        own = [sets[k] for k in touching]
        first = np.array([sectors[0] for sectors in own], np.int64)
        steps = steps_of(np.arange(len(own), dtype=np.int32), first, left, lambda: own)
        block_bytes, again, total = _extent(own, steps, left, scale)
        spread = blocks.grid.count / left.grid.count
        return (
            block_bytes / spread,
            again and tuple(replace(lag, blocks=lag.blocks * spread) for lag in again),
            total,
        )
    block_bytes = scale * mean_bytes(sets, blocks)
    steps = () if _only_begin_alike(sets, steps, blocks) else steps or steps_about(sets, blocks)
    if appended(sets, blocks):
        new = len(union_of(sets)) / sum(map(len, sets))
        return block_bytes * new, (), block_bytes * new * blocks.grid.count
    met = None if steps else met_by_bits(sets, blocks)
    if met is not None and len(blocks.numbers) < blocks.grid.count:
        return block_bytes, met[0], scale * SECTOR * met[1]
    again = lags(pattern(sets, blocks.coordinates, steps, blocks.grid)) if steps else met and met[0]
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
