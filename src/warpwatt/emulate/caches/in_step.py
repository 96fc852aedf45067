"""Whether blocks come to what they share at one time of their lives, or at any.

Blocks of a matrix product whose rows are looked up in a table read them in step: what one has read, L2 still
has for the next. Blocks that walk a tree or draw cells come to the same line at any time.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from warpwatt.emulate.caches.stream import are_of
from warpwatt.emulate.caches.visits import shared_visits

if TYPE_CHECKING:
    from collections.abc import Collection

    from numpy.typing import NDArray

    from warpwatt.core.reuse import LineStream

ANY_TIME = 1 / 3
"""Mean distance of two places drawn evenly from a stretch of length one."""


def apart_in_time(stream: LineStream, instructions: Collection[int]) -> float:
    """Return how far apart in their lives blocks come to lines that they share: 0 in step, 1 at any time.

    Of each shared line, how much older or younger blocks are than the one before when they first touch it.
    Where sampled blocks share none, the share of their ways that differ: blocks that go the same way from
    wherever they begin are in step where they begin together.
    """
    line, time, block = shared_visits(stream, instructions)
    if len(line):
        age = time / np.maximum(1, _ends(stream))[block]
        distances = np.abs(np.diff(age))[line[1:] == line[:-1]]
        return min(1.0, float(distances.mean()) / ANY_TIME)
    rows = np.flatnonzero(are_of(stream.instruction, instructions))
    order = rows[np.lexsort((stream.warp[rows], stream.time[rows], stream.block[rows]))]
    return 1.0 - _same_way(stream.block[order], stream.line[order])


def _ends(stream: LineStream) -> NDArray[np.int64]:
    """Return the time of each block's last access."""
    ends = np.zeros(int(stream.block.max(initial=0)) + 1, np.int64)
    np.maximum.at(ends, stream.block, stream.time)
    return ends


def _same_way(block: NDArray[np.int32], line: NDArray[np.int64]) -> float:
    """Return the share of the steps from line to line that blocks have in common with the one before.

    >>> block, line = np.repeat([0, 1], 4), np.array([3, 4, 7, 8, 23, 24, 27, 29])
    >>> round(_same_way(block.astype(np.int32), line), 2)
    0.67
    """
    ways = [np.diff(line[block == one]) for one in np.unique(block)]
    pairs = [(a, b) for a, b in pairwise(ways) if max(len(a), len(b))]
    same = [(a[: len(b)] == b[: len(a)]).sum() / max(len(a), len(b)) for a, b in pairs]
    return float(np.mean(same)) if same else 0.0
