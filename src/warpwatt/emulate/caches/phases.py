"""How many barriers each access of a trace lies behind."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from warpwatt.emulate.ir import End

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from warpwatt.emulate.ir import Routine
    from warpwatt.emulate.run import Trace


def phases(trace: Trace, routine: Routine) -> NDArray[np.int64]:
    """Return for each access how many barriers its warp has passed before."""
    waits = np.array([b.end.end is End.BARRIER and not b.end.arrive for b in routine.blocks], np.int64)
    if not waits.any():
        return np.zeros(len(trace.access_step), np.int64)
    passed = np.concatenate([[0], np.cumsum(waits[trace.step_block])])
    since = passed[:-1] - np.repeat(passed[trace.step_start[:-1]], np.diff(trace.step_start))
    behind: NDArray[np.int64] = since[trace.access_step]
    return behind
