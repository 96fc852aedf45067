"""Which blocks come to the same lines and sectors by some instructions, in order of these."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

import numpy as np

from warpwatt.native import ADDRESS, INT, addresses, function

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from warpwatt.core.reuse import LineStream

Touches = tuple["NDArray[np.int64]", "NDArray[np.int64]"]
"""Ordinals of blocks, and sectors."""


def sectors_by_block(stream: LineStream, instructions: Collection[int]) -> Touches:
    """Return ordinals of blocks and the sectors that they touch by some instructions, each once, by sector.

    The rows of a block stand together in the stream, blocks ascending.
    """
    given, wanted = _columns(stream, instructions)
    block, sector = np.empty((2, 4 * len(stream.line)), np.int64)
    find = function("visited_sectors", INT, INT, *[ADDRESS] * 8)
    count = find(len(stream.line), *addresses(*given, wanted, block, sector))
    return block[:count].copy(), sector[:count].copy()


def shared_visits(
    stream: LineStream, instructions: Collection[int]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int32]]:
    """Return lines that several blocks come to by some instructions, when each first does, and which.

    By line, then block. The rows of a block stand together in the stream, blocks ascending.
    """
    given, wanted = _columns(stream, instructions)
    line, time = np.empty((2, len(stream.line)), np.int64)
    block = np.empty(len(stream.line), np.int32)
    find = function("shared_visits", INT, INT, *[ADDRESS] * 9)
    count = find(len(stream.line), *addresses(*given, wanted, line, time, block))
    return line[:count], time[:count], block[:count]


def _columns(
    stream: LineStream, instructions: Collection[int]
) -> tuple[list[NDArray[np.generic]], NDArray[np.uint8]]:
    """Return the columns that the native functions read, and by instruction whether its rows count."""
    columns = (
        (stream.line, np.int64),
        (stream.time, np.int64),
        (stream.block, np.int32),
        (stream.instruction, np.int32),
        (stream.sectors, np.uint8),
    )
    wanted = np.zeros(max(int(stream.instruction.max(initial=0)), *instructions, 0) + 1, np.uint8)
    wanted[list(instructions)] = 1
    return [np.ascontiguousarray(column, kind) for column, kind in columns], wanted
