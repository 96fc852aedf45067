"""From streams of warps to the simulator's costs per access."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from warpwatt.core.execution import AccessPattern
from warpwatt.core.program import Access, Flow, Instruction, Program, Space
from warpwatt.core.streams import WarpStreams
from warpwatt.models.pipeline.codes import OBJECTS, ObjectUse, Operation, Reason, Traffic
from warpwatt.models.pipeline.memory_pipe import BULK_COPIES, CONSTANTS
from warpwatt.models.roofs import LINE_CYCLES, atomic_cycles

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from warpwatt.models.pipeline.machine import Machine
    from warpwatt.models.pipeline.simulator import Records


WORD, SECTOR = 4, 32
"""Bytes that L2 writes as they come where its slots are sectors, and of a sector."""
FULL = 0.75
"""Share of their sectors' bytes from which on stores are taken to write whole sectors."""
IN_STEP = 0.75
"""Share of the traced work, up to the last barrier that all warps have reached, that stands for all of it."""

_MEMORY_PIPE = (Operation.MEMORY, Operation.PHASE_WAIT, Operation.TENSOR_MEMORY_COMMIT)


def equally_far(streams: WarpStreams, program: Program) -> WarpStreams:
    """Return blocks that were traced in part, with all warps of each equally far.

    Warps take turns in the emulator, so some have hardly begun when a trace ends early. Where barriers keep
    them together, each keeps what itself does up to the last barrier that all have reached: work that only
    some of them do stays theirs. Else see :func:`continue_alike`.
    """
    passed = _barriers_passed(streams, program)
    spans = list(pairwise(streams.starts.tolist()))
    kept = np.zeros(len(streams.steps), bool)
    for first in range(0, len(spans), streams.warps_per_block):
        warps = spans[first : first + streams.warps_per_block]
        common = min(passed[stop] - passed[start] for start, stop in warps)
        for start, stop in warps:
            kept[start:stop] = passed[start:stop] - passed[start] < common
    work = streams.steps[:, 1] - streams.steps[:, 0]
    if work[kept].sum() < IN_STEP * work.sum():
        return continue_alike(streams, program)
    starts = np.concatenate(([0], np.cumsum(kept)))[streams.starts]
    return replace(streams, starts=starts, steps=streams.steps[kept])


def _barriers_passed(streams: WarpStreams, program: Program) -> NDArray[np.int64]:
    """Return the barriers executed before each step, counted over all streams, and behind the last step."""
    barriers = np.array([i.flow is Flow.BARRIER for i in program.instructions], np.int64)
    before = np.concatenate(([0], np.cumsum(barriers)))
    within = np.maximum(0, before[streams.steps[:, 1]] - before[streams.steps[:, 0]])
    return np.concatenate(([0], np.cumsum(within)))


def continue_alike(streams: WarpStreams, program: Program) -> WarpStreams:
    """Return the running block that stands for most; its running warps all do what the longest of them did.

    Of several alike it is the one that was traced longest. A warp that has ended, or that waits at a barrier
    for others, keeps what it did: in a serial section one warp works and the others wait.
    """
    ended = _ended(streams, program).reshape(-1, streams.warps_per_block)
    most = streams.work_of_warps.reshape(ended.shape).max(axis=1)
    stands_for = np.array(streams.weights or (1.0,) * len(most))
    block = int(np.lexsort((most, stands_for, ~ended.all(axis=1)))[-1])
    alone = streams.only([block])
    passed = np.diff(_barriers_passed(alone, program)[alone.starts])
    spans = list(pairwise(alone.starts.tolist()))
    last = [program.instructions[int(alone.steps[stop - 1, 1]) - 1].flow if stop > start else Flow.NEXT
            for start, stop in spans]  # fmt: skip
    ended = ended[block]
    behind = min((n for n, over in zip(passed, ended, strict=True) if not over), default=0)
    waits = np.array([flow is Flow.BARRIER for flow in last]) & (passed > behind)
    runs = ~(ended | waits)
    longest = int(np.argmax(np.where(runs, alone.work_of_warps, -1.0)))
    spans = [spans[longest] if runs[longest] and own else span for own, span in zip(runs, spans, strict=True)]
    return replace(
        alone,
        starts=np.cumsum([0, *(stop - start for start, stop in spans)]).astype(np.int64),
        steps=np.concatenate([alone.steps[start:stop] for start, stop in spans]),
        weights=(),
    )


def _ended(streams: WarpStreams, program: Program) -> NDArray[np.bool_]:
    """Return which warps executed their last instruction."""
    leaves = np.array([i.flow is Flow.EXIT for i in program.instructions])
    before, behind = streams.starts[:-1], streams.starts[1:]
    last = streams.steps[np.maximum(behind - 1, 0), 1] - 1
    return np.asarray((behind > before) & leaves[last])


def memory_pipe_accesses(streams: WarpStreams, table: Records) -> WarpStreams:
    """Return the streams with the accesses of the memory pipe only: all that the simulator looks for.

    The constant port of the uniform datapath, for one, has accesses too.
    """
    through = np.isin(table["operation"], _MEMORY_PIPE)[streams.access_instruction]
    if through.all():
        return streams
    steps = streams.steps.copy()
    steps[:, 2] = np.concatenate(([0], np.cumsum(through)))[steps[:, 2]]
    return replace(
        streams,
        steps=steps,
        access_instruction=streams.access_instruction[through],
        lanes=streams.lanes[through],
        wavefronts=streams.wavefronts[through],
        sectors=streams.sectors[through],
        lines=streams.lines[through],
        objects=streams.objects[through] if streams.objects is not None else None,
        changes=streams.changes[through] if streams.changes is not None else None,
    )


def merging_stores(streams: WarpStreams, program: Program, slot_bytes: float) -> dict[int, float]:
    """Return, of stores that leave most of their sectors partly as they were, the share that L2 reads first.

    It merges them with what is written. Of bytes that is every sector: scattered ones take an RTX 3080 twice
    as long as whole sectors (gpuFLOPBench, generate_nms_bitmap). Of words it is one sector for each line
    where L2 moves more than a sector at once (``slot_bytes``): 4096 x 4096 floats, scattered one or two to a
    line, take an L20 501 and 271 us (xlite-dev/LeetCUDA, kernels/mat-transpose), three times as long as
    it reads as many sectors of whole lines; a smaller slot takes words as they come (gpuFLOPBench,
    warpexchange).
    """
    stores = [i for i in program.instructions if _writes_off_chip(i)]
    at, size = streams.access_instruction, len(program.instructions)
    columns = (streams.sectors, streams.lanes, streams.lines) if stores else ()
    sums = [np.bincount(at, column, size) for column in columns]
    found = {}
    for i in stores:
        sectors, lanes, lines = (float(column[i.index]) for column in sums)
        moved = i.memory.bytes if i.memory else 0
        if lanes * moved >= FULL * SECTOR * sectors:
            continue
        if moved < WORD:
            found[i.index] = 1.0
        elif slot_bytes > SECTOR:
            found[i.index] = min(1.0, lines / sectors)
    return found


def _writes_off_chip(instruction: Instruction) -> bool:
    """Whether an instruction stores to global memory."""
    memory = instruction.memory
    return (
        memory is not None and memory.access is Access.STORE and memory.space in (Space.GLOBAL, Space.GENERIC)
    )


def access_costs(
    streams: WarpStreams,
    table: Records,
    program: Program,
    machine: Machine,
    accesses: Mapping[int, AccessPattern],
    wanted: NDArray[np.int64] | None = None,
) -> NDArray[np.float64]:
    """Return rows (load-store cycles, sectors, lines, barrier object, its change) per access.

    ``accesses`` by instruction, where known. Rows of accesses that are not ``wanted`` (None: all are) are 0.

    Shared memory costs its wavefronts; the way through L1 its lines and the bytes it moves; an asynchronous
    copy, whose reads pass the tags and whose writes the banks, the longer of both. But for constants, which
    do not go there, nothing costs less than its lanes take to pass the load-store unit.
    """
    shared, constant, bulk = np.zeros((3, len(program.instructions)), bool)
    size = np.zeros(len(program.instructions))
    passes, turns = np.zeros((2, len(program.instructions)))
    for i in program.instructions:
        bulk[i.index] = i.opcode.startswith(BULK_COPIES)
        if i.memory is not None:
            passes[i.index] = accesses[i.index].l1_passes if i.index in accesses else 0.0
            shared[i.index] = i.memory.space is Space.SHARED
            if shared[i.index] and i.index in accesses:
                turns[i.index] = atomic_cycles(i, accesses[i.index])
            constant[i.index] = i.memory.space in CONSTANTS
            size[i.index] = i.memory.bytes
    which = slice(None) if wanted is None else wanted
    at, lines = streams.access_instruction[which], streams.lines[which]
    base, per_line = LINE_CYCLES
    moving = size[at] * streams.lanes[which] / machine.l1_bytes
    through_l1 = np.maximum(np.maximum(base + per_line * lines, passes[at]), moving)
    through_l1[lines == 0] = 0.0
    within = np.maximum(streams.wavefronts[which] * machine.bank_cycles, turns[at])
    cost = np.maximum(np.maximum(through_l1, within), machine.lsu_cycles)
    textures = np.flatnonzero(table["throttle_stall"][at] == Reason.TEX_THROTTLE)
    cost[textures] = np.maximum(cost[textures], table["lsu_cycles"][at[textures]])
    cost[constant[at]] = 0.0
    alone = table["object_use"][at] != ObjectUse.NONE
    alone |= table["traffic"][at] == Traffic.BULK_COPY
    alone |= bulk[at]
    cost[alone] = table["lsu_cycles"][at[alone]]
    objects, changes = barrier_events(streams)
    rows = np.zeros((len(streams.access_instruction), 5))  # what is not written to takes no memory
    rows[which] = np.column_stack((cost, streams.sectors[which], lines, objects[which], changes[which]))
    return rows


def barrier_events(streams: WarpStreams) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return per access the number of its barrier object, -1 for none, and what it changes of it."""
    count = len(streams.access_instruction)
    if streams.objects is None or streams.changes is None:
        return np.full(count, -1.0), np.zeros(count)
    known, numbers = np.unique(streams.objects, return_inverse=True)
    numbers = numbers - np.searchsorted(known, 0)
    return np.where((numbers >= 0) & (numbers < OBJECTS), numbers, -1).astype(np.float64), streams.changes
