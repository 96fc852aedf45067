"""Which sectors each sampled block touches: first readers, writers, and what stays partly written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from warpwatt.core.reuse import READ, WRITE, LineStream
from warpwatt.native import ADDRESS, INT, addresses, function

if TYPE_CHECKING:
    from numpy.typing import NDArray


SECTOR = 32
WHOLE = 28
"""Bytes from which on a sector counts as written whole."""
_SECTOR_BITS = 45
"""Numbers of sectors (of slots and offsets) are smaller than 2 to this."""

TOUCHED_LINE = np.dtype(
    [
        ("line", np.int64),
        ("block", np.int64),
        ("first_use", np.int64, 4),
        ("first_write", np.int64, 4),
        ("bytes_written", np.float64, 4),
    ]
)
"""What a block does with a line, as in ``native/caches/line_touches.h``: for each sector the row that uses
and that writes it first, -1 for none, and the bytes written, very many where it is read too."""


@dataclass(frozen=True, slots=True, eq=False)
class Touches:
    """Distinct sectors of each block with the instruction that comes to them first; rows by (block, sector).

    ``sector`` is the byte address over 32. ``written``: these are the sectors a block writes, with the first
    writer; else those whose first use in the block needs what was there before.
    """

    block: NDArray[np.int64]
    sector: NDArray[np.int64]
    instruction: NDArray[np.int32]
    written: bool


def touches(
    stream: LineStream, bytes_per_sector: NDArray[np.float64]
) -> tuple[Touches, Touches, NDArray[np.int64]]:
    """Return what blocks read before they write it, what they write, and which sectors stay partly written.

    The last are those, ascending, that no block reads and that are written in part only. One lane that is
    off leaves a gap in one of the sectors of its access; which, the stream does not say, so that a few bytes
    missing on average do not count.

    ``bytes_per_sector`` are the bytes that each row of the stream writes in each of its sectors.
    """
    lines = _touched_lines(stream, bytes_per_sector)
    at, place = np.nonzero(lines["first_use"] >= 0)
    block, sector = lines["block"][at], lines["line"][at] * 4 + place
    order = np.argsort((block << _SECTOR_BITS) | sector)
    at, place, block, sector = at[order], place[order], block[order], sector[order]
    used, written = lines["first_use"][at, place], lines["first_write"][at, place]
    needs, writes = stream.kind[used] & READ > 0, written >= 0
    return (
        Touches(block[needs], sector[needs], stream.instruction[used[needs]], written=False),
        Touches(block[writes], sector[writes], stream.instruction[written[writes]], written=True),
        _partly(sector, lines["bytes_written"][at, place]) if writes.any() else np.zeros(0, np.int64),
    )


def distinct(ascending: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the different numbers of an ascending array; ``np.unique`` of many is slower than to sort them.

    >>> distinct(np.array([3, 3, 5])).tolist()
    [3, 5]
    """
    fresh = np.ones(len(ascending), bool)
    fresh[1:] = ascending[1:] != ascending[:-1]
    return ascending[fresh]


def _partly(sector: NDArray[np.int64], filled: NDArray[np.float64]) -> NDArray[np.int64]:
    found = distinct(np.sort(sector))
    total = np.bincount(np.searchsorted(found, sector), filled)
    return found[(total > 0) & (total < WHOLE)]


def _touched_lines(stream: LineStream, bytes_per_sector: NDArray[np.float64]) -> NDArray[np.void]:
    """Return what each block does with each line, by block."""
    columns = (
        (stream.line, np.int64),
        (stream.block, np.int64),
        (stream.time, np.int64),
        (stream.sectors, np.uint8),
        (stream.kind & (READ | WRITE), np.uint8),
        (bytes_per_sector, np.float64),
    )
    given = [np.ascontiguousarray(column, kind) for column, kind in columns]
    lines = np.empty(len(stream.line), TOUCHED_LINE)
    gather = function("touched_lines", INT, INT, *[ADDRESS] * 7)
    return lines[: gather(len(lines), *addresses(*given, lines))]
