"""From a trace to :class:`~warpwatt.core.streams.WarpStreams`, the input of cycle models."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from warpwatt.core.streams import WarpStreams
from warpwatt.emulate.native import numbering
from warpwatt.emulate.native.aot import Library, function, load

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from warpwatt.core.program import Program
    from warpwatt.emulate.ir import Routine
    from warpwatt.emulate.native.llvm import Code
    from warpwatt.emulate.run import Trace


def warp_streams(routine: Routine, trace: Trace, blocks: Sequence[int], warps_per_block: int) -> WarpStreams:
    """Return the streams of a trace of ``blocks``, which must be ``routine``'s."""
    first = np.array([b.instructions.start for b in routine.blocks], np.int64)
    behind = np.array([b.instructions.stop for b in routine.blocks], np.int64)
    steps = np.zeros((len(trace.step_block), 3), np.int64)
    steps[:, 0], steps[:, 1] = first[trace.step_block], behind[trace.step_block]
    starts = np.ascontiguousarray(trace.step_start, np.int64)
    instruction = np.ascontiguousarray(trace.access_instruction, np.int64)
    accesses = np.ascontiguousarray(trace.access_start, np.int64)
    memory = next_memory(routine.program)
    arrays = (starts, steps, accesses, instruction, memory)
    number = function(_code().address("number_accesses"), 7)
    number(len(starts) - 1, *(a.ctypes.data for a in arrays), len(memory) - 1)
    bits = np.bitwise_count(trace.lines & np.uint64(15)).astype(np.float64)
    sums = np.concatenate(([0.0], np.cumsum(bits)))
    return WarpStreams(
        warps_per_block=warps_per_block,
        blocks=tuple(blocks)[: (len(starts) - 1) // warps_per_block],
        starts=starts,
        steps=steps,
        access_instruction=instruction,
        lanes=np.bitwise_count(trace.access_mask).astype(np.float64),
        wavefronts=trace.access_wavefronts.astype(np.float64),
        sectors=sums[trace.line_start[1:]] - sums[trace.line_start[:-1]],
        lines=np.diff(trace.line_start).astype(np.float64),
    )


def next_memory(program: Program) -> NDArray[np.int64]:
    """Return, for each instruction, the first memory instruction at or behind it."""
    size = len(program.instructions)
    following = np.full(size + 1, size, np.int64)
    for instruction in reversed(program.instructions):
        i = instruction.index
        following[i] = i if instruction.memory is not None else following[i + 1]
    return following


@lru_cache(maxsize=1)
def _code() -> Code:
    return load([Library((numbering,), ("number_accesses",)).object()])
