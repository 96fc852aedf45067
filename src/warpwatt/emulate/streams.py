"""From a trace to :class:`~warpwatt.core.streams.WarpStreams`, the input of cycle models."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from warpwatt.core.streams import WarpStreams
from warpwatt.emulate.layout import CLUSTER_RANK_BITS
from warpwatt.emulate.run import NO_BARRIER_OBJECT
from warpwatt.native import ADDRESS, INT, addresses, function

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from warpwatt.emulate.ir import Routine
    from warpwatt.emulate.run import Trace


def warp_streams(routine: Routine, trace: Trace, blocks: Sequence[int], warps_per_block: int) -> WarpStreams:
    """Return the streams of a trace of ``blocks``, which must be ``routine``'s.

    What one execution of an instruction accesses is one access: the read and the write of an asynchronous
    copy, the matrices of a matrix load.
    """
    kinds = (
        ("step_block", np.int32),
        ("access_step", np.int64),
        ("access_instruction", np.int32),
        ("access_mask", np.uint32),
        ("access_wavefronts", np.uint8),
        ("line_start", np.int64),
        ("lines", np.uint64),
    )
    blocks_of_steps, *given = [np.ascontiguousarray(getattr(trace, name), kind) for name, kind in kinds]
    count, room = len(blocks_of_steps), len(trace.access_step)
    steps, instruction = np.empty((count, 3), np.int64), np.empty(room, np.int64)
    columns = [np.empty(room) for _ in range(4)]
    begin, *accesses = addresses(blocks_of_steps, *given, *_instructions(routine))
    write = function("warp_accesses", INT, INT, ADDRESS, INT, *[ADDRESS] * 14)
    found = write(count, begin, room, *accesses, *addresses(steps, instruction, *columns))
    lanes, wavefronts, sectors, lines = (column[:found] for column in columns)
    starts = np.ascontiguousarray(trace.step_start, np.int64)
    return WarpStreams(
        warps_per_block=warps_per_block,
        blocks=tuple(blocks)[: (len(starts) - 1) // warps_per_block],
        starts=starts,
        steps=steps,
        access_instruction=instruction[:found],
        lanes=lanes,
        wavefronts=wavefronts,
        sectors=sectors,
        lines=lines,
        **_barrier_events(trace),
    )


@lru_cache(maxsize=64)
def _instructions(routine: Routine) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the first instruction of each basic block, and the one behind its last."""
    blocks = [block.instructions for block in routine.blocks]
    return np.array([b.start for b in blocks], np.int64), np.array([b.stop for b in blocks], np.int64)


def _barrier_events(trace: Trace) -> dict[str, Any]:
    """Return ``objects`` and ``changes``; nothing where no access concerns a barrier object.

    A block's objects and those of its cluster's other blocks count as one: by symmetry what it does there is
    done to it as well.
    """
    if trace.access_barrier is None or trace.access_change is None:
        return {}
    if (trace.access_barrier == NO_BARRIER_OBJECT).all():
        return {}
    begins = first_accesses(trace)
    barriers = trace.access_barrier[begins].astype(np.int64)
    none = barriers == NO_BARRIER_OBJECT
    if none.all():
        return {}
    objects = np.where(none, -1, barriers & ((1 << CLUSTER_RANK_BITS) - 1))
    return {"objects": objects, "changes": trace.access_change[begins].astype(np.float64)}


def first_accesses(trace: Trace) -> NDArray[np.intp]:
    """Return the first access of each execution of a memory instruction."""
    step, instruction = trace.access_step, trace.access_instruction
    fresh = np.ones(len(step), np.bool_)
    fresh[1:] = (step[1:] != step[:-1]) | (instruction[1:] != instruction[:-1])
    return np.flatnonzero(fresh)
