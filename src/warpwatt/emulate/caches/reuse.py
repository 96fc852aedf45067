"""What an ``Execution`` carries for the caches, from the trace of sampled blocks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import TYPE_CHECKING

import numpy as np

from warpwatt.core.program import Program
from warpwatt.core.reuse import LineStream, Reuse
from warpwatt.emulate.caches.growth import bases_of, growths
from warpwatt.emulate.caches.sets import touches
from warpwatt.emulate.caches.stream import bytes_per_sector, line_stream, runs_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from warpwatt.emulate.caches.growth import SampledBlocks
    from warpwatt.emulate.ir import Routine
    from warpwatt.emulate.run import Trace

MOST_STREAM_ROWS = 100_000
"""Lines kept for L1; whole blocks, at least :data:`FEWEST_BLOCKS`."""
FEWEST_BLOCKS = 3


def reuse_of(
    trace: Trace,
    program: Program,
    blocks: SampledBlocks,
    buffers: Mapping[int, tuple[str, float | None]],
    *,
    routine: Routine | None = None,
    scales: Mapping[int, float] | None = None,
) -> Reuse:
    """Return the stream and the growth of footprints of sampled blocks.

    ``buffers`` maps slots to name and size; ``scales`` an instruction to how many times more accesses it
    makes than the trace holds. The trace's blocks are those of ``blocks``, in order.
    """
    warps = (len(trace.access_start) - 1) // max(1, len(blocks.numbers))
    stream = line_stream(trace, warps, program, routine)
    read, written, partial = touches(stream, bytes_per_sector(trace, program))
    bases = bases_of(stream)
    runs = runs_of(stream)
    grown = (growths(t, bases, blocks, buffers, partial, scales or {}, runs) for t in (read, written))
    return Reuse(
        stream=_far_apart(stream, blocks),
        growths=tuple(growth for side in grown for growth in side),
        complete=trace.complete,
        whole_grid=len(blocks.numbers) >= blocks.grid.count,
    )


def _far_apart(stream: LineStream, blocks: SampledBlocks) -> LineStream:
    """Return the rows of blocks that are no neighbours of each other, as many as there is room for."""
    followers = {b for axis in range(3) for _, b in blocks.neighbours(axis)}
    everyone = list(range(len(blocks.numbers)))
    apart = [b for b in everyone if b not in followers]
    chosen = everyone if len(everyone) >= blocks.grid.count or len(apart) < FEWEST_BLOCKS else apart
    sizes = np.bincount(stream.block, minlength=len(blocks.numbers))
    fits = np.cumsum(sizes[chosen]) <= MOST_STREAM_ROWS
    kept = chosen[: max(FEWEST_BLOCKS, int(fits.sum()))]
    rows = np.isin(stream.block, kept)
    ordinal = np.zeros(len(blocks.numbers), np.int32)
    ordinal[kept] = np.arange(len(kept))
    return replace(_rows(stream, rows), block=ordinal[stream.block[rows]])


def _rows(stream: LineStream, rows: NDArray[np.bool_]) -> LineStream:
    return LineStream(**{f.name: getattr(stream, f.name)[rows] for f in fields(stream)})
