"""Blocks that work on the same tiles of memory, seen where many blocks in a row begin.

The offsets of accesses tell which blocks meet where addresses grow along the axes of the grid
(:mod:`~warpwatt.emulate.caches.lags`). Tiles in groups of rows, experts' weights and tables of tiles do not:
of these the blocks themselves show after how many others a tile is read again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from warpwatt.core.arrays import occurring
from warpwatt.core.reuse import Growth, Lag
from warpwatt.emulate.caches.lags import merged
from warpwatt.emulate.caches.sets import occurrences
from warpwatt.emulate.caches.stream import line_stream
from warpwatt.emulate.caches.visits import sectors_by_block

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from warpwatt.core.program import Program
    from warpwatt.core.reuse import LineStream
    from warpwatt.emulate.caches.sampled_blocks import SampledBlocks
    from warpwatt.emulate.caches.visits import Touches
    from warpwatt.emulate.run import Trace

    Begin = Callable[[Sequence[Sequence[int]], Sequence[Collection[int]]], Iterator[Trace]]

IN_A_ROW = 512
"""Blocks in a row that are looked at: several waves of the tiles of a large GPU."""
WHOLE_TILE = 0.9
"""Share of what a block reads again that one block before it has read too: else nothing is a tile."""
SAME_SHARE = 0.1
"""How far a beginning may differ from the whole block in the share that it has in common with others."""
ALIKE = 1.25
"""Ratio up to which numbers of blocks between two uses are one."""
FAR = 2.0
"""Ratio of what blocks in a row say that the grid touches to what blocks far apart say: beyond it there is
reuse that a row is too short for, unless the row alone touches as much: then the far ones say too little."""
OF_BLOCK = 1 << 17
"""Numbers of blocks between two uses in a row are smaller."""


def with_tiles(
    growths: Sequence[Growth],
    unknown: Sequence[int],
    touched: LineStream,
    program: Program,
    blocks: SampledBlocks,
    begin: Begin,
) -> tuple[Growth, ...]:
    """Return growths with the lags of tiles, where addresses say nothing and blocks repeat whole tiles.

    Parameters
    ----------
    unknown
        The places of growths of whose addresses nothing is known.
    touched
        What the sampled blocks touch.
    begin
        Runs the beginnings of parts of the blocks, until the first has executed an instruction of each group.
    """
    found = list(growths)
    reading = [sectors_by_block(touched, found[k].instructions) for k in unknown]
    touching = occurring(np.concatenate([ordinals for ordinals, _ in reading]))
    centre = int(np.median(blocks.numbers[touching]))
    parts = _looked_at(blocks, centre)
    groups = [found[k].instructions for k in unknown]
    begun = (
        line_stream(trace, (len(trace.access_start) - 1) // len(part), program, None)
        for part, trace in zip(parts, begin([part.tolist() for part in parts], groups), strict=False)
    )
    sampled = next(begun)
    telling = [
        k
        for k, (_, sectors) in zip(unknown, reading, strict=True)
        if abs(_common(sectors) - _common(sectors_by_block(sampled, found[k].instructions)[1])) <= SAME_SHARE
    ]
    if telling:  # else beginnings do not speak for whole blocks
        in_a_row = next(begun)
        for k in telling:
            begun_there = sectors_by_block(in_a_row, found[k].instructions)
            found[k] = _with_lags(found[k], begun_there, parts[1], blocks.grid.count)
    return tuple(found)


def _looked_at(blocks: SampledBlocks, centre: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the sampled blocks, nearest to the centre first, and blocks in a row around it."""
    first = max(0, min(centre - IN_A_ROW // 2, blocks.grid.count - IN_A_ROW))
    row = np.arange(first, min(first + IN_A_ROW, blocks.grid.count))
    nearest = np.argsort(np.abs(blocks.numbers - centre), kind="stable")
    return blocks.numbers[nearest], row


def _with_lags(growth: Growth, begun: Touches, numbers: NDArray[np.int64], count: int) -> Growth:
    """Return a growth with its tiles' lags, from the beginnings of blocks in a row of a grid of ``count``."""
    ordinals, sectors = begun
    again = tuple(_lags(numbers[ordinals], sectors, count))
    if not again:
        return growth
    shared, asked = sum(lag.share for lag in again), growth.block_bytes * count
    total, least = asked * max(0.0, 1.0 - shared), growth.block_bytes * _distinct_blocks(begun)
    if total > FAR * growth.total and least <= FAR * growth.total:
        return replace(growth, lags=again)
    total = max(total, growth.total)
    fitting = min(1.0, (1.0 - total / asked) / shared)
    again = tuple(replace(lag, share=lag.share * fitting) for lag in again)
    return replace(growth, lags=again, total=total if growth.limit is None else min(total, growth.limit))


def _distinct_blocks(begun: Touches) -> float:
    """Return how many blocks' worth of different memory the blocks in a row touch: the grid no less."""
    ordinals, sectors = begun
    return len(occurring(ordinals)) * (1.0 - _common(sectors)) if len(sectors) else 0.0


def _common(sectors: NDArray[np.int64]) -> float:
    """Return the share of touches, in order of their sectors, of what another block touches too."""
    return float((np.diff(sectors) == 0).sum()) / max(1, len(sectors))


def _lags(number: NDArray[np.int64], sector: NDArray[np.int64], count: int) -> Iterator[Lag]:
    """Yield after how many of ``count`` blocks sectors are read again, from touches of blocks in a row.

    Touches are in order of sectors, then of blocks. What lies a lag behind is only seen of the blocks that
    have so many before them. Nothing where what blocks read again comes from here and there.

    >>> list(_lags(np.array([0, 2, 4, 1, 3, 5]), np.array([7, 7, 7, 8, 8, 8]), 100))
    [Lag(blocks=2.0, share=0.98)]
    """
    again = np.diff(sector) == 0
    behind = np.diff(number)[again]
    if not len(behind) or not _whole_tiles(number[1:][again], behind):
        return
    touches = np.bincount(number - number.min())
    seen = np.cumsum(touches[::-1])[::-1]
    distances, times = occurrences(behind)
    shares = times / seen[distances] * np.maximum(0, count - distances) / count
    yield from merged(distances, shares / max(1.0, shares.sum()), ALIKE)


def _whole_tiles(number: NDArray[np.int64], behind: NDArray[np.int64]) -> bool:
    """Return whether nearly all that a block reads again was read last by one block."""
    _, same, times = np.unique(number * OF_BLOCK + behind, return_inverse=True, return_counts=True)
    _, block = np.unique(number, return_inverse=True)
    most = np.zeros(int(block.max()) + 1, np.int64)
    np.maximum.at(most, block, times[same])
    return bool(most.sum() >= WHOLE_TILE * len(number))
