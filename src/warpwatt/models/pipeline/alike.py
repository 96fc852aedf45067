"""Sampled blocks whose streams are the same: what is found of one of them stands for all."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from warpwatt.core.arrays import occurring
from warpwatt.core.streams import WarpStreams

if TYPE_CHECKING:
    from numpy.typing import NDArray

GLANCE = 256
"""Steps and accesses by which blocks are told apart before all are compared: most differ from the start."""


@lru_cache(maxsize=8)
def first_alike(streams: WarpStreams) -> NDArray[np.int64]:
    """Return for each sampled block the place of the first whose warps do the same, wherever in memory."""
    columns, warps = _per_access(streams), streams.warps_per_block
    steps, spans = _steps_within_blocks(streams), access_spans(streams)
    found = np.arange(len(spans))
    different: dict[bytes, list[tuple[int, list[NDArray[Any]]]]] = {}
    for place, (first, end) in enumerate(spans):
        starts = streams.starts[place * warps : (place + 1) * warps + 1]
        does = [steps[starts[0] : starts[-1]], *(column[first:end] for column in columns)]
        size = (starts - starts[0]).tobytes() + (end - first).to_bytes(8)
        others = different.setdefault(size + b"".join(part[:GLANCE].tobytes() for part in does), [])
        found[place] = next((other for other, known in others if all(map(_are_equal, known, does))), place)
        if found[place] == place:
            others.append((place, does))
    return found


def _are_equal(one: NDArray[Any], other: NDArray[Any]) -> bool:
    """Whether two parts whose glances are equal are so to their ends."""
    return len(one) <= GLANCE or np.array_equal(one, other)


def accesses_of_different(streams: WarpStreams) -> NDArray[np.int64]:
    """Return the numbers of the accesses of all blocks that no earlier one is like."""
    wanted = np.zeros(len(streams.access_instruction), bool)
    spans = access_spans(streams)
    for place in occurring(first_alike(streams)):
        wanted[slice(*spans[place])] = True
    return np.flatnonzero(wanted)


def access_spans(streams: WarpStreams) -> list[tuple[int, int]]:
    """Return of each block the number of its first access and one behind its last; 0 and 0 without steps.

    A step may have as many accesses as instructions; of the last one those of the next block may be among
    them.
    """
    starts = streams.starts[:: streams.warps_per_block]
    first = np.append(streams.steps[:, 2], 0)
    end = first + np.append(streams.steps[:, 1] - streams.steps[:, 0], 0)
    takes_steps = np.diff(starts) > 0
    lowest = np.where(takes_steps, np.minimum.reduceat(first, starts)[:-1], 0)
    highest = np.where(takes_steps, np.maximum.reduceat(end, starts)[:-1], 0)
    highest = np.minimum(highest, len(streams.access_instruction))
    return list(zip(lowest.tolist(), highest.tolist(), strict=True))


def _per_access(streams: WarpStreams) -> list[NDArray[Any]]:
    """Return what streams say of accesses."""
    events = [each for each in (streams.objects, streams.changes) if each is not None]
    return [
        streams.sectors,
        streams.lines,
        streams.lanes,
        streams.access_instruction,
        streams.wavefronts,
        *events,
    ]


def _steps_within_blocks(streams: WarpStreams) -> NDArray[np.int64]:
    """Return the steps, accesses numbered within their block."""
    steps = streams.steps.copy()
    first = [first for first, _ in access_spans(streams)]
    steps[:, 2] -= np.repeat(first, np.diff(streams.starts[:: streams.warps_per_block]))
    return steps
