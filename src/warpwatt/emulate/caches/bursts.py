"""Accesses that a warp issues back to back: no other warp's come between them.

A warp goes on issuing until something that it wants is not there. Loads and stores of straight code reach
the caches one behind the other as long as no instruction between them waits for what one of them loads; warps
take turns by such bursts, not by accesses.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from warpwatt.core.program import Access, Space

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from warpwatt.core.program import Program
    from warpwatt.emulate.run import Trace

_FAR = frozenset({Space.GLOBAL, Space.GENERIC, Space.LOCAL, Space.TEXTURE, Space.SURFACE})
"""Where a load goes that its warp waits long for; what is on the chip comes within tens of cycles."""
_LOADS = frozenset({Access.LOAD, Access.ATOMIC})


@lru_cache(maxsize=64)
def burst_numbers(program: Program) -> NDArray[np.int64]:
    """Return for each instruction, in the order of the code, how many waits for loads come before it."""
    numbers = np.zeros(len(program.instructions), np.int64)
    waits, pending = 0, set[str]()
    for place, i in enumerate(program.instructions):
        if pending and not (pending.isdisjoint(i.reads) and pending.isdisjoint(i.writes)):
            waits += 1
            pending.clear()
        numbers[place] = waits
        if i.memory is not None and i.memory.space in _FAR and i.memory.access in _LOADS:
            pending.update(i.writes)
    return numbers


def begins(trace: Trace, program: Program) -> NDArray[np.int64]:
    """Return for each access of a trace the number of the first one of its burst.

    A burst ends with its basic block (``access_step``), and where the code waits for one of its loads.
    """
    waits = burst_numbers(program)[trace.access_instruction]
    step = trace.access_step
    fresh = np.ones(len(step), np.bool_)
    fresh[1:] = (step[1:] != step[:-1]) | (waits[1:] != waits[:-1])
    return np.maximum.accumulate(np.where(fresh, np.arange(len(step)), 0))
