"""From a trace to :class:`~warpwatt.core.streams.WarpStreams`, the input of cycle models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from warpwatt.core.streams import WarpStreams
from warpwatt.emulate.layout import CLUSTER_RANK_BITS
from warpwatt.emulate.run import NO_BARRIER_OBJECT

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from warpwatt.emulate.ir import Routine
    from warpwatt.emulate.run import Trace


def warp_streams(routine: Routine, trace: Trace, blocks: Sequence[int], warps_per_block: int) -> WarpStreams:
    """Return the streams of a trace of ``blocks``, which must be ``routine``'s.

    What one execution of an instruction accesses is one access: the read and the write of an asynchronous
    copy, the matrices of a matrix load.
    """
    first = np.array([b.instructions.start for b in routine.blocks], np.int64)
    behind = np.array([b.instructions.stop for b in routine.blocks], np.int64)
    begins = first_accesses(trace)
    count = len(trace.step_block)
    steps = np.empty((count, 3), np.int64)
    steps[:, 0], steps[:, 1] = first[trace.step_block], behind[trace.step_block]
    steps[:, 2] = np.searchsorted(trace.access_step[begins], np.arange(count))
    starts = np.ascontiguousarray(trace.step_start, np.int64)
    bits = np.bitwise_count(trace.lines & np.uint64(15)).astype(np.float64)
    sums = np.concatenate(([0.0], np.cumsum(bits)))
    return WarpStreams(
        warps_per_block=warps_per_block,
        blocks=tuple(blocks)[: (len(starts) - 1) // warps_per_block],
        starts=starts,
        steps=steps,
        access_instruction=trace.access_instruction[begins].astype(np.int64),
        lanes=np.bitwise_count(_lanes(trace.access_mask, begins)).astype(np.float64),
        wavefronts=_sums(trace.access_wavefronts.astype(np.float64), begins),
        sectors=_sums(sums[trace.line_start[1:]] - sums[trace.line_start[:-1]], begins),
        lines=_sums(np.diff(trace.line_start).astype(np.float64), begins),
        **_barrier_events(trace, begins),
    )


def _barrier_events(trace: Trace, begins: NDArray[np.intp]) -> dict[str, Any]:
    """Return ``objects`` and ``changes``; nothing where no access concerns a barrier object.

    A block's objects and those of its cluster's other blocks count as one: by symmetry what it does there is
    done to it as well.
    """
    if trace.access_barrier is None or trace.access_change is None:
        return {}
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


def _sums(values: NDArray[np.float64], begins: NDArray[np.intp]) -> NDArray[np.float64]:
    return np.add.reduceat(values, begins) if len(begins) < len(values) else values


def _lanes(masks: NDArray[np.uint32], begins: NDArray[np.intp]) -> NDArray[np.uint32]:
    return np.bitwise_or.reduceat(masks, begins) if len(begins) < len(masks) else masks
