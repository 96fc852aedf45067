"""The beginnings of many blocks: enough of each to see where in memory it works, at little cost.

Grids numbered by division, tables of tiles and experts: which blocks share memory cannot be told from a
sample of blocks far apart. Where a block begins, it reads already a part of every tile that it works on.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import TYPE_CHECKING

from warpwatt.core.arrays import occurring
from warpwatt.emulate.run import Limits

if TYPE_CHECKING:
    from warpwatt.emulate.memory import DeviceMemory
    from warpwatt.emulate.run import Run, Trace
    from warpwatt.emulate.units import Start

FIRST_LENGTH = 128
"""Warp instructions that are tried first as a beginning's length, then twice as many, and so on."""
BUDGET = 1_000_000
"""Warp instructions of all beginnings together."""
TRACE_BYTES = 1 << 18
"""Room for the trace of one beginning."""


class Beginnings:
    """Runs the beginnings of blocks of a launch whose memory is as it was before."""

    def __init__(self, fresh: Callable[[], tuple[Start, DeviceMemory]]) -> None:
        self._fresh = fresh

    def __call__(self, parts: Sequence[Sequence[int]], groups: Sequence[Collection[int]]) -> Iterator[Trace]:
        """Yield what blocks do, by parts, until the first has executed a memory instruction of each group.

        All beginnings are equally long, and no longer than :data:`BUDGET` allows. A part is run when it is
        asked for.
        """
        start, memory = self._fresh()
        length, most = FIRST_LENGTH, BUDGET // sum(map(len, parts))
        while 2 * length <= most and not _reaches(start(parts[0][:1], _limits(length)), groups):
            length *= 2
        for blocks in parts:
            trace = memory.localised(start.each(blocks, _limits(length)).run).trace
            assert trace is not None
            yield trace


def _reaches(run: Run, groups: Sequence[Collection[int]]) -> bool:
    """Whether a run has executed a memory instruction of each group."""
    seen = set() if run.trace is None else set(occurring(run.trace.access_instruction))
    return all(not seen.isdisjoint(group) for group in groups)


def _limits(length: int) -> Limits:
    return Limits(length, TRACE_BYTES)
