"""How much of what a block goes on to do behind the end of a cut trace reaches memory that it has not seen.

A loop over the same rows again and again touches nothing new from its second round on; one that streams
does to its end. The end of the trace says which: the first comes back to where it began, the other does not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from warpwatt.core.arrays import unique
from warpwatt.emulate.caches.sets import common, distinct

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from warpwatt.core.reuse import Growth, LineStream

LAST = 16
"""The end of a trace is this part of the time for which a block executes an instruction."""


def new_memory(stream: LineStream, scales: Mapping[int, float]) -> dict[int, float]:
    """Return how many times more memory each instruction touches than a trace holds.

    ``scales`` are its accesses over those in the trace; of what is behind the trace, the share is new that
    does not come back at its end to lines that the instruction touched in the first half of it.
    """
    return {
        index: 1.0 + (scale - 1.0) * (1.0 - _returning(stream, stream.instruction == index))
        for index, scale in scales.items()
    }


def with_returns(growths: Sequence[Growth], fresh: Mapping[int, float]) -> tuple[Growth, ...]:
    """Return growths that know which part of what seems new to their instructions is.

    ``fresh`` is that of each instruction of a cut trace: with the rest it comes back to what it has touched.
    """
    return tuple(_with_returns(growth, fresh) for growth in growths)


def _with_returns(growth: Growth, fresh: Mapping[int, float]) -> Growth:
    parts = {i: growth.parts.get(i, 1.0) * fresh[i] for i in growth.instructions if fresh.get(i, 1.0) < 1.0}
    return replace(growth, parts={**growth.parts, **parts}) if parts else growth


def _returning(stream: LineStream, own: NDArray[np.bool_]) -> float:
    """Return the share of the lines that blocks touch last with some rows that they touched early on."""
    if not own.any():
        return 0.0
    block, time, line = stream.block[own], stream.time[own], stream.line[own]
    again = seen = 0
    for one in unique(block):
        of = block == one
        since, lines = time[of] - time[of].min(), line[of]
        if since.max() < LAST:  # too short to come back
            continue
        last = distinct(lines[since * LAST >= since.max() * (LAST - 1)])
        again += common(last, distinct(lines[since * 2 <= since.max()]))
        seen += len(last)
    return again / max(1, seen)
