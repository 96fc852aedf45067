"""Sampled blocks whose streams are the same: what is found of one of them stands for all."""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from warpwatt.core.streams import WarpStreams

if TYPE_CHECKING:
    from numpy.typing import NDArray

GLANCE = 256
"""Accesses by which blocks are told apart before all are compared: most differ from the start."""


@lru_cache(maxsize=8)
def first_alike(streams: WarpStreams) -> NDArray[np.int64]:
    """Return for each sampled block the place of the first whose warps do the same, wherever in memory."""
    spans = access_spans(streams)
    found = np.arange(len(spans))
    different: dict[bytes, list[int]] = {}
    for place in range(len(spans)):
        others = different.setdefault(_beginning(streams, place, spans), [])
        same = (other for other in others if _do_the_same(streams, other, place, spans))
        found[place] = next(same, place)
        if found[place] == place:
            others.append(place)
    return found


def accesses_of_different(streams: WarpStreams) -> NDArray[np.int64]:
    """Return the numbers of the accesses of all blocks that no earlier one is like."""
    wanted = np.zeros(len(streams.access_instruction), bool)
    for place, (first, end) in enumerate(access_spans(streams)):
        if first_alike(streams)[place] == place:
            wanted[first:end] = True
    return np.flatnonzero(wanted)


def access_spans(streams: WarpStreams) -> list[tuple[int, int]]:
    """Return of each block the number of its first access and one behind its last.

    A step may have as many accesses as instructions; of the last one those of the next block may be among
    them.
    """
    instructions = streams.steps[:, 1] - streams.steps[:, 0]
    first, most = streams.steps[:, 2], len(streams.access_instruction)
    found = []
    for start, stop in pairwise(streams.starts[:: streams.warps_per_block].tolist()):
        own = first[start:stop]
        end = int((own + instructions[start:stop]).max(initial=0))
        found.append((int(own.min(initial=end)), min(most, end)))
    return found


def _beginning(streams: WarpStreams, place: int, spans: list[tuple[int, int]]) -> bytes:
    """Return as a key how many steps the warps of a block take, its accesses and what the first ones do."""
    warps, (first, end) = streams.warps_per_block, spans[place]
    starts = streams.starts[place * warps : (place + 1) * warps + 1]
    glance = (each[first : min(end, first + GLANCE)] for each in _per_access(streams))
    return b"".join([(starts - starts[0]).tobytes(), (end - first).to_bytes(8), *map(bytes, glance)])


def _do_the_same(streams: WarpStreams, one: int, other: int, spans: list[tuple[int, int]]) -> bool:
    """Whether two blocks of as many steps and accesses take the same ones."""
    (first, end), (second, last) = spans[one], spans[other]
    same = all(np.array_equal(each[first:end], each[second:last]) for each in _per_access(streams))
    return same and np.array_equal(_steps(streams, one, first), _steps(streams, other, second))


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


def _steps(streams: WarpStreams, place: int, first_access: int) -> NDArray[np.int64]:
    """Return the steps of a block, accesses numbered within it."""
    warps = streams.warps_per_block
    own = streams.steps[streams.starts[place * warps] : streams.starts[(place + 1) * warps]].copy()
    own[:, 2] -= first_access
    return own
