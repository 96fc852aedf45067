"""From an emulator's trace to :class:`WarpStreams`, and from those to the simulator's costs per access."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from warpwatt.core.program import Space
from warpwatt.core.streams import WarpStreams
from warpwatt.models.time.pipeline import layout as c
from warpwatt.models.time.pipeline.native import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from warpwatt.core.program import Program
    from warpwatt.emulate.ir import Routine
    from warpwatt.emulate.run import Run
    from warpwatt.models.time.pipeline.machine import Machine
    from warpwatt.models.time.pipeline.table import InstructionTable

LINE_CYCLES = (0.77, 0.25)
"""L1 cycles per access = 0.77 + 0.25 per 128-byte line touched (fits Hopper within 0.12 cycles)."""


def warp_streams(routine: Routine, run: Run, warps_per_block: int) -> WarpStreams:
    """Return the streams of a run that was traced.

    Raises
    ------
    ValueError
        If it was not.
    """
    trace = run.trace
    if trace is None:
        raise ValueError("the run holds no trace")
    first = np.array([b.instructions.start for b in routine.blocks], np.int64)
    behind = np.array([b.instructions.stop for b in routine.blocks], np.int64)
    steps = np.zeros((len(trace.step_block), 3), np.int64)
    steps[:, 0], steps[:, 1] = first[trace.step_block], behind[trace.step_block]
    instruction = trace.access_instruction.astype(np.int64)
    starts, accesses = trace.step_start.astype(np.int64), trace.access_start.astype(np.int64)
    memory = next_memory(routine.program)
    compiled("number_accesses")(starts, steps, accesses, instruction, memory)
    lines = np.diff(trace.line_start).astype(np.float64)
    bits = np.bitwise_count(trace.lines & np.uint64(15)).astype(np.float64)
    sums = np.concatenate(([0.0], np.cumsum(bits)))
    return WarpStreams(
        warps_per_block=warps_per_block,
        blocks=run.blocks[: (len(starts) - 1) // warps_per_block],
        starts=starts,
        steps=steps,
        access_instruction=instruction,
        lanes=np.bitwise_count(trace.access_mask).astype(np.float64),
        wavefronts=trace.access_wavefronts.astype(np.float64),
        sectors=sums[trace.line_start[1:]] - sums[trace.line_start[:-1]],
        lines=lines,
        passes=_passes(run, len(routine.program.instructions))[instruction],
    )


def _passes(run: Run, instructions: int) -> NDArray[np.float64]:
    """Return the mean passes through L1's tags by instruction."""
    counts, means = run.accesses, np.zeros(instructions)
    means[counts.instruction] = counts.tag_passes / np.maximum(1, counts.requests)
    return means


def next_memory(program: Program) -> NDArray[np.int64]:
    """Return, for each instruction, the first memory instruction at or behind it."""
    size = len(program.instructions)
    following = np.full(size + 1, size, np.int64)
    for instruction in reversed(program.instructions):
        i = instruction.index
        following[i] = i if instruction.memory is not None else following[i + 1]
    return following


def access_costs(
    streams: WarpStreams, table: InstructionTable, program: Program, machine: Machine
) -> NDArray[np.float64]:
    """Return rows (load-store cycles, sectors, lines) per access.

    Shared memory costs its wavefronts; the way through L1 its lines and the bytes it moves; nothing costs
    less than its lanes take to pass the load-store unit.
    """
    shared = np.zeros(len(program.instructions), bool)
    size = np.zeros(len(program.instructions))
    for i in program.instructions:
        if i.memory is not None:
            shared[i.index] = i.memory.space is Space.SHARED
            size[i.index] = i.memory.bytes
    at = streams.access_instruction
    base, per_line = LINE_CYCLES
    moving = size[at] * streams.lanes / machine.l1_bytes
    through_l1 = np.maximum(np.maximum(base + per_line * streams.lines, streams.passes), moving)
    through_l1[streams.lines == 0] = 0.0
    cost = np.where(shared[at], streams.wavefronts * machine.bank_cycles, through_l1)
    cost = np.maximum(cost, machine.lsu_cycles)
    cost = np.where(table.ints[at, c.THROTTLE] == c.R_TEX, np.maximum(cost, table.floats[at, c.COST]), cost)
    return np.column_stack((cost, streams.sectors, streams.lines))
