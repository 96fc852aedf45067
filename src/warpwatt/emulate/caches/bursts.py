"""Accesses that a warp issues back to back: no other warp's come between them.

A warp goes on issuing until something that it wants is not there. Loads of straight code reach the caches
one behind the other as long as no instruction between them waits for what one of them loads; warps take turns
by such bursts, not by accesses. Of stores that is not so: those of other warps do come between (LULESH on an
RTX 3080, as gpuFLOPBench measured it: neighbouring words that ``hgc`` stores one by one reach DRAM once each,
those that ``acc_final_force`` loads one by one come from there once together).
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from warpwatt.core.program import Access, Space

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from warpwatt.core.program import Program

_FAR = frozenset({Space.GLOBAL, Space.GENERIC, Space.LOCAL, Space.TEXTURE, Space.SURFACE})
"""Where a load goes that its warp waits long for; what is on the chip comes within tens of cycles."""
_LOADS = frozenset({Access.LOAD, Access.ATOMIC})


@lru_cache(maxsize=64)
def burst_numbers(program: Program) -> NDArray[np.int64]:
    """Return for each instruction, in the order of the code, the number of the burst it belongs to.

    A burst ends with its basic block, before a store, and where the code waits for one of its loads.
    """
    numbers = np.zeros(len(program.instructions), np.int64)
    bursts, pending = 0, set[str]()
    for place, i in enumerate(program.instructions):
        far = i.memory is not None and i.memory.space in _FAR
        loads = i.memory is not None and i.memory.access in _LOADS
        waits = not (pending.isdisjoint(i.reads) and pending.isdisjoint(i.writes))
        if waits:
            pending.clear()
        bursts += waits or (far and not loads)
        numbers[place] = bursts
        if far and loads:
            pending.update(i.writes)
    return numbers
