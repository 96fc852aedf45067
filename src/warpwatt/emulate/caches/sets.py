"""Which sectors each sampled block touches: first readers, writers, and what stays partly written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from warpwatt.core.reuse import READ, WRITE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from warpwatt.core.reuse import LineStream

SECTOR = 32
WHOLE = 28
"""Bytes from which on a sector counts as written whole."""


@dataclass(frozen=True, slots=True, eq=False)
class Touches:
    """Distinct sectors of each block with the instruction that comes to them first; rows by (block, sector).

    ``sector`` is the byte address over 32. ``written``: these are the sectors a block writes, with the first
    writer; else those whose first use in the block needs what was there before.
    """

    block: NDArray[np.int32]
    sector: NDArray[np.int64]
    instruction: NDArray[np.int32]
    written: bool


def touches(stream: LineStream) -> tuple[Touches, Touches]:
    """Return what blocks read before they write it, and what they write."""
    row, sector = sectors_of(stream)
    block, instruction, kind = stream.block[row], stream.instruction[row], stream.kind[row]
    order = np.lexsort((stream.warp[row], stream.time[row], sector, block))
    block, sector, instruction, kind = block[order], sector[order], instruction[order], kind[order]
    first = _first_of_run(block, sector)
    needs = first & ((kind & READ) > 0)
    writes = np.flatnonzero(kind & WRITE)
    first_write = writes[_first_of_run(block[writes], sector[writes])]
    return (
        Touches(block[needs], sector[needs], instruction[needs], written=False),
        Touches(block[first_write], sector[first_write], instruction[first_write], written=True),
    )


def partly_written(stream: LineStream, bytes_per_sector: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the sectors, ascending, that no block reads and that are written in part only.

    One lane that is off leaves a gap in one of the sectors of its access; which, the stream does not say, so
    that a few bytes missing on average do not count.

    ``bytes_per_sector`` are the bytes that each row of the stream writes in each of its sectors.
    """
    row, sector = sectors_of(stream)
    kind = stream.kind[row]
    found, place = np.unique(sector, return_inverse=True)
    filled = np.bincount(place, bytes_per_sector[row], len(found))
    read = np.bincount(place, (kind & READ) > 0, len(found)) > 0
    written = np.bincount(place, (kind & WRITE) > 0, len(found)) > 0
    return found[written & ~read & (filled < WHOLE)]


def sectors_of(stream: LineStream) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return (row of the stream, sector) for every sector of every row."""
    on = stream.sectors[:, None] >> np.arange(4, dtype=np.uint8) & 1
    row, place = np.nonzero(on)
    return row, stream.line[row] * 4 + place


def _first_of_run(block: NDArray[np.int32], sector: NDArray[np.int64]) -> NDArray[np.bool_]:
    fresh = np.ones(len(sector), bool)
    fresh[1:] = (sector[1:] != sector[:-1]) | (block[1:] != block[:-1])
    return fresh
