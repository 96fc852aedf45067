"""How many barriers each access of a trace lies behind."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from warpwatt.emulate.ir import End

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from warpwatt.emulate.ir import Block, Routine
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
    none = np.zeros(0, np.int64)
    found: list[NDArray[np.int64]] = [
        _of_warp(trace, warp, waits, accesses)
        if trace.access_start[warp] < trace.access_start[warp + 1]
        else none
        for warp in range(len(trace.access_start) - 1)
    ]
    return np.concatenate(found).astype(np.int64)


def _accesses(block: Block) -> NDArray[np.int32]:
    """Return the instructions whose accesses a block makes, in order; one access each."""
    indices = [o.instruction for o in block.operations if o.op.value in MEMORY_OPERATIONS and _traced(o.data)]
    return np.array(list(dict.fromkeys(indices)), np.int32)


def _traced(memory: object) -> bool:
    return getattr(memory, "space", "const") not in ("const", "param")


def _of_warp(
    trace: Trace, warp: int, waits: NDArray[np.int64], accesses: list[NDArray[np.int32]]
) -> NDArray[np.int64]:
    steps = trace.step_block[trace.step_start[warp] : trace.step_start[warp + 1]]
    seen = trace.access_instruction[trace.access_start[warp] : trace.access_start[warp + 1]]
    passed = np.cumsum(waits[steps]) - waits[steps]
    expected = np.concatenate([accesses[b] for b in steps] or [np.zeros(0, np.int32)])
    phase = np.repeat(passed, [len(accesses[b]) for b in steps])
    if len(expected) == len(seen):
        return phase
    return _matched(seen, expected, phase)


def _matched(
    seen: NDArray[np.int32], expected: NDArray[np.int32], phase: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the phase of the earliest subsequence of ``expected`` that reads ``seen``."""
    result = np.zeros(len(seen), np.int64)
    at = 0
    for i, instruction in enumerate(seen.tolist()):
        behind = np.flatnonzero(expected[at : at + 4096] == instruction)
        if len(behind):
            at += int(behind[0])
            result[i] = phase[at]
            at += 1
        else:
            result[i] = result[i - 1] if i else 0
    return result
