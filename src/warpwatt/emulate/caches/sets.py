"""Which sectors each sampled block touches: first readers, writers, and what stays partly written."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from warpwatt.core.reuse import READ, WRITE
from warpwatt.emulate.caches import native_touches
from warpwatt.emulate.native.aot import Library, function, load

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from warpwatt.core.reuse import LineStream
    from warpwatt.emulate.native.llvm import Code

SECTOR = 32
WHOLE = 28
"""Bytes from which on a sector counts as written whole."""
_SECTOR_BITS = 45
"""Numbers of sectors (of slots and offsets) are smaller than 2 to this."""


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
    groups, filled = _gathered(stream, bytes_per_sector)
    group, place = np.nonzero(groups[:, 2:6] >= 0)
    block, sector = groups[group, 1], groups[group, 0] * 4 + place
    order = np.argsort((block << _SECTOR_BITS) | sector)
    group, place, block, sector = group[order], place[order], block[order], sector[order]
    used, written = groups[group, 2 + place], groups[group, 6 + place]
    needs, writes = stream.kind[used] & READ > 0, written >= 0
    return (
        Touches(block[needs], sector[needs], stream.instruction[used[needs]], written=False),
        Touches(block[writes], sector[writes], stream.instruction[written[writes]], written=True),
        _partly(sector, filled[group, place]) if writes.any() else np.zeros(0, np.int64),
    )


def _partly(sector: NDArray[np.int64], filled: NDArray[np.float64]) -> NDArray[np.int64]:
    found, place = np.unique(sector, return_inverse=True)
    total = np.bincount(place, filled)
    return found[(total > 0) & (total < WHOLE)]


def _gathered(
    stream: LineStream, bytes_per_sector: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the lines of each block as :mod:`~warpwatt.emulate.caches.native_touches` describes them."""
    rows = len(stream.line)
    most = int(np.bincount(stream.block).max(initial=1))
    size = 1 << (2 * most - 1).bit_length()
    kinds = (stream.kind & (READ | WRITE)).astype(np.uint8)
    keys, places = np.empty(size, np.int64), np.full(size, -1)
    groups, sums = np.empty((rows, native_touches.GROUP_WORDS), np.int64), np.empty((rows, 4))
    columns = (
        stream.line,
        stream.block.astype(np.int64),
        stream.time,
        stream.sectors,
        kinds,
        bytes_per_sector,
    )
    given = [np.ascontiguousarray(column) for column in columns]
    places_of = [array.ctypes.data for array in (*given, keys, places)]
    results = groups.ctypes.data, sums.ctypes.data
    count = function(_code().address("gather"), 12)(rows, *places_of, size, *results)
    return groups[:count], sums[:count]


@lru_cache(maxsize=1)
def _code() -> Code:
    return load([Library((native_touches,), ("gather",)).object()])
