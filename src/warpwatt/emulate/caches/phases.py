"""How many barriers each access of a trace lies behind."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from warpwatt.emulate.ir import End
from warpwatt.emulate.native import numbering
from warpwatt.emulate.native.aot import Library, function, load

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from warpwatt.emulate.ir import Block, Routine
    from warpwatt.emulate.native.llvm import Code
    from warpwatt.emulate.run import Trace

MEMORY_OPERATIONS = frozenset({"load", "store", "atomic"})


def phases(trace: Trace, routine: Routine) -> NDArray[np.int64]:
    """Return for each access how many barriers its warp has passed before.

    A warp's steps say which memory instructions it came by; where all of them had a lane on, they are its
    accesses one by one. Otherwise accesses are found among them in order, the earliest that fits.
    """
    waits = np.array([b.end.end is End.BARRIER and not b.end.arrive for b in routine.blocks], np.int64)
    accesses = [_accesses(b) for b in routine.blocks]
    if not waits.any():
        return np.zeros(len(trace.access_instruction), np.int64)
    per_step = np.array([len(a) for a in accesses])[trace.step_block]
    passed = np.concatenate([[0], np.cumsum(waits[trace.step_block])])
    since = passed[:-1] - np.repeat(passed[trace.step_start[:-1]], np.diff(trace.step_start))
    expected = np.concatenate([[0], np.cumsum(per_step)])[trace.step_start]
    if (expected == trace.access_start).all():
        return np.repeat(since, per_step)
    first = _first_accesses(trace, routine, accesses)
    return np.repeat(since, np.diff(first, append=len(trace.access_instruction)))


def _first_accesses(trace: Trace, routine: Routine, accesses: list[NDArray[np.int32]]) -> NDArray[np.int64]:
    """Return the first access of each step; a warp's first step takes what comes before too."""
    start = np.array([b.instructions.start for b in routine.blocks], np.int64)
    behind = np.array([b.instructions.stop for b in routine.blocks], np.int64)
    steps = np.zeros((len(trace.step_block), 3), np.int64)
    steps[:, 0], steps[:, 1] = start[trace.step_block], behind[trace.step_block]
    size = int(behind.max())
    following = np.full(size + 1, size)
    following[np.concatenate(accesses)] = np.concatenate(accesses)
    following = np.minimum.accumulate(following[::-1])[::-1].copy()
    columns = (trace.step_start, trace.access_start, trace.access_instruction)
    starts, access_start, instruction = (np.ascontiguousarray(c, np.int64) for c in columns)
    given = (starts, steps, access_start, instruction, following)
    number = function(_code().address("number_accesses"), 7)
    number(len(starts) - 1, *(array.ctypes.data for array in given), size)
    return steps[:, 2]


@lru_cache(maxsize=1)
def _code() -> Code:
    return load([Library((numbering,), ("number_accesses",)).object()])


def _accesses(block: Block) -> NDArray[np.int32]:
    """Return the instructions whose accesses a block makes, in order; one access each."""
    indices = [o.instruction for o in block.operations if o.op.value in MEMORY_OPERATIONS and _traced(o.data)]
    return np.array(list(dict.fromkeys(indices)), np.int32)


def _traced(memory: object) -> bool:
    return getattr(memory, "space", "const") not in ("const", "param")
