"""What an ``Execution`` carries for the caches, from the trace of sampled blocks."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import cache, partial
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from warpwatt.core.program import Program
from warpwatt.core.reuse import Growth, LineStream, Reuse
from warpwatt.emulate.caches.cut_traces import new_memory, with_returns
from warpwatt.emulate.caches.growth import growths
from warpwatt.emulate.caches.in_step import apart_in_time
from warpwatt.emulate.caches.occurrences import joined, told_apart
from warpwatt.emulate.caches.sets import are_among, distinct, touches
from warpwatt.emulate.caches.stream import are_of, first_asked, rows_of, traced_lines

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from warpwatt.emulate.caches.sampled_blocks import SampledBlocks
    from warpwatt.emulate.caches.tiles import Begin
    from warpwatt.emulate.ir import Routine
    from warpwatt.emulate.run import Trace

MOST_STREAM_ROWS = 100_000
"""Lines kept for L1; whole blocks, at least :data:`FEWEST_BLOCKS`."""
FEWEST_BLOCKS = 3
_BLOCK_BITS = 42
"""Numbers of lines are smaller: a slot and what lies in it, over 128 bytes."""
WORTH = 8 << 20
"""Bytes that blocks read of a buffer in all from which on it matters which of them they share."""


def reuse_of(
    trace: Trace,
    program: Program,
    blocks: SampledBlocks,
    buffers: Mapping[int, tuple[str, float | None]],
    *,
    routine: Routine | None = None,
    scales: Mapping[int, float] | None = None,
    begin: Begin | None = None,
) -> Reuse:
    """Return the stream and the growth of footprints of sampled blocks.

    ``buffers`` maps slots to name and size; ``scales`` an instruction to how many times more accesses it
    makes than the trace holds; ``begin`` runs the beginnings of more blocks
    (:class:`~warpwatt.emulate.beginnings.Beginnings`). The trace's blocks are those of ``blocks``, in order.
    """
    warps = (len(trace.access_start) - 1) // max(1, len(blocks.numbers))
    stream, moved = traced_lines(trace, warps, program, routine)
    told, bases, owners = told_apart(stream, blocks)
    read, written, partly = touches(told, moved)
    asked = first_asked(told)
    scales, made = new_memory(stream, scales or {}), scales or {}
    fresh = {index: scales[index] / made[index] for index in scales}
    scales |= {label: scales[index] for label, index in owners.items() if index in scales}
    grown = (growths(t, bases, blocks, buffers, partly, scales, asked) for t in (read, written))
    kept, whole = _far_apart(stream, blocks)
    found = joined([growth for side in grown for growth in side], owners)
    found = with_returns(found, fresh)
    unknown = [k for k, growth in enumerate(found) if _is_unknown(growth, blocks)]
    if begin is not None and unknown and not whole:
        from warpwatt.emulate.caches.tiles import with_tiles

        found = with_tiles(found, unknown, stream, program, blocks, begin)
    return Reuse(
        stream=kept,
        growths=tuple(_with_times(growth, stream, blocks) for growth in found),
        complete=trace.complete,
        whole_grid=whole,
    )


def _with_times(growth: Growth, stream: LineStream, blocks: SampledBlocks) -> Growth:
    """Return a growth that says how far apart in their lives blocks come to it, if it matters."""
    if not _is_unknown(growth, blocks):
        return growth
    return replace(growth, apart=apart_in_time(stream, growth.instructions))


def _is_unknown(growth: Growth, blocks: SampledBlocks) -> bool:
    """Whether nothing tells which blocks share what they read, and it is much."""
    asked = growth.block_bytes * blocks.grid.count
    return growth.lags is None and not growth.written and not growth.private and asked > WORTH


def _far_apart(stream: LineStream, blocks: SampledBlocks) -> tuple[LineStream, bool]:
    """Return the rows of blocks that are no neighbours of each other, as many as there is room for.

    The blocks of a whole grid keep their numbers if there is room for all; whether that is so.
    """
    count = len(blocks.numbers)
    sizes = np.bincount(stream.block, minlength=count)
    if whole := count >= blocks.grid.count:
        chosen = list(range(count)) if len(stream.block) <= MOST_STREAM_ROWS else _leaps(count)
    else:
        chosen = _apart(blocks)
        if len(chosen) < FEWEST_BLOCKS:
            chosen, stream = list(range(count)), _parted(stream, blocks)
    fits = np.cumsum(sizes[chosen]) <= MOST_STREAM_ROWS
    kept = chosen[: max(FEWEST_BLOCKS, int(fits.sum()))]
    rows = are_of(stream.block, kept)
    ordinal = np.zeros(count, np.int32)
    ordinal[kept] = np.arange(len(kept))
    return replace(rows_of(stream, rows), block=ordinal[stream.block[rows]]), whole and len(kept) == count


def _parted(stream: LineStream, blocks: SampledBlocks) -> LineStream:
    """Return the stream with lines of its own for each block, but for those that blocks far apart share too.

    Neighbours stand for the blocks of an SM, which are as far apart as there are SMs. Those lines are what
    blocks that are no neighbours share, and sectors that neighbours along the first axis do.
    """
    pairs = next((blocks.neighbours(axis) for axis in range(3) if blocks.neighbours(axis)), [])
    apart = _apart(blocks)
    sectors = cache(partial(_sectors_of_block, stream))
    common = [
        sectors(one)[are_among(sectors(one), sectors(other))] >> 2
        for one, other in [*pairs, *combinations(apart, 2)]
    ]
    shared = are_among(stream.line, distinct(np.concatenate([np.zeros(0, np.int64), *common])))
    own = stream.block.astype(np.int64) + 1 << _BLOCK_BITS
    return replace(stream, line=np.where(shared, stream.line, stream.line | own))


def _sectors_of_block(stream: LineStream, block: int) -> NDArray[np.int64]:
    """Return the sectors that a block touches, ascending."""
    rows = stream.block == block
    first, mask = stream.line[rows] * 4, stream.sectors[rows]
    return distinct(np.concatenate([first[mask >> bit & 1 > 0] + bit for bit in range(4)]))


def _leaps(count: int) -> list[int]:
    """Return the numbers below ``count`` so that the first few are far apart: in steps of the golden section.

    >>> _leaps(10)
    [0, 7, 4, 1, 8, 5, 2, 9, 6, 3]
    """
    step = next(s for s in range(round(count * 0.618), count + 1) if math.gcd(s, count) == 1)
    return [k * step % count for k in range(count)]


def _apart(blocks: SampledBlocks) -> list[int]:
    """Return the sampled blocks that are not the neighbour of one before."""
    followers = {b for axis in range(3) for _, b in blocks.neighbours(axis)}
    return [b for b in range(len(blocks.numbers)) if b not in followers]
