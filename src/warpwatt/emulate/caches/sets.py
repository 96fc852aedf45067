"""Which sectors each sampled block touches: first readers, writers, and what stays partly written."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from warpwatt.native import ADDRESS, DOUBLE, INT, addresses, function

if TYPE_CHECKING:
    from collections.abc import Callable

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
    columns = (
        (stream.line, np.int64),
        (stream.block, np.int32),
        (stream.time, np.int64),
        (stream.sectors, np.uint8),
        (stream.kind, np.uint8),
        (bytes_per_sector, np.float64),
        (stream.instruction, np.int32),
    )
    given = [np.ascontiguousarray(column, kind) for column, kind in columns]
    room = 4 * len(stream.line)
    block, sector = np.empty((2, room), np.int64), np.empty((2, room), np.int64)  # of reads, of writes
    first = np.empty((2, room), np.int32)
    partly, counts = np.empty(room, np.int64), np.zeros(3, np.int64)
    gather = function("touched_sectors", None, INT, *[ADDRESS] * 7, DOUBLE, *[ADDRESS] * 8)
    sides = (column for side in (0, 1) for column in (block[side], sector[side], first[side]))
    gather(len(stream.line), *addresses(*given), float(WHOLE), *addresses(*sides, partly, counts))
    read, written = (
        Touches(
            block[side, :count].copy(),
            sector[side, :count].copy(),
            first[side, :count].copy(),
            side > 0,
        )
        for side, count in enumerate(counts[:2].tolist())
    )
    return read, written, partly[: counts[2]].copy()


def distinct(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the different ones of some numbers, ascending.

    >>> distinct(np.array([5, 3, 5])).tolist()
    [3, 5]
    """
    numbers = np.ascontiguousarray(numbers, np.int64)
    found = np.empty(len(numbers), np.int64)
    return found[: _occurrences()(len(numbers), *addresses(numbers, found), None)]


def occurrences(numbers: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the different ones of some numbers, ascending, and how often each occurs.

    >>> [found.tolist() for found in occurrences(np.array([5, 3, 5]))]
    [[3, 5], [1, 2]]
    """
    numbers = np.ascontiguousarray(numbers, np.int64)
    found, times = np.empty((2, len(numbers)), np.int64)
    count = _occurrences()(len(numbers), *addresses(numbers, found, times))
    return found[:count], times[:count]


def count_sectors(line: NDArray[np.int64], mask: NDArray[np.uint8]) -> int:
    """Return how many different sectors rows touch; the bits of ``mask`` are those of a row's line.

    >>> count_sectors(np.array([7, 7, 8]), np.array([0b0011, 0b0110, 0b0001], np.uint8))
    4
    """
    return sum(len(distinct(line[mask >> bit & 1 > 0])) for bit in range(4))


def are_among(numbers: NDArray[np.int64], ascending: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which numbers are among some ascending ones.

    >>> are_among(np.array([7, 2, 9]), np.array([2, 9])).tolist()
    [False, True, True]
    """
    if not len(ascending):
        return np.zeros(len(numbers), bool)
    places = np.minimum(np.searchsorted(ascending, numbers), len(ascending) - 1)
    return np.asarray(ascending[places] == numbers)


def common(some: NDArray[np.int64], others: NDArray[np.int64]) -> int:
    """Return how many numbers two ascending arrays of different ones have in common.

    >>> common(np.array([1, 4, 6]), np.array([4, 5, 6]))
    2
    """
    first, second = addresses(some, others)
    return _count_common()(len(some), first, len(others), second)


@cache
def _occurrences() -> Callable[..., int]:
    return function("occurrences", INT, INT, *[ADDRESS] * 3)


@cache
def _count_common() -> Callable[..., int]:
    return function("count_common", INT, INT, ADDRESS, INT, ADDRESS)
