"""What came of a run, read from the machine's tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from warpwatt.emulate.native import control, state
from warpwatt.emulate.run import AccessCounts, Fault, Run, Stop, Trace

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from warpwatt.emulate.native.machine import Machine

    Array = NDArray[Any]

_STOPS = {
    control.DONE: Stop.DONE,
    control.INSTRUCTIONS: Stop.INSTRUCTIONS,
    control.DEADLOCK: Stop.DEADLOCK,
    control.FAULTED: Stop.FAULT,
}
_SUMMED = (
    "requests", "lanes", "sectors", "lines", "tag_passes", "wavefronts", "ideal", "collisions", "uniform",
)  # fmt: skip
_IRREGULAR = np.iinfo(np.int64).min


def results(machine: Machine, stop: int) -> Run:
    """Return what a run did."""
    executions, lanes = _instructions(machine)
    uncovered = machine.text.routine.uncovered
    return Run(
        stop=_STOPS[stop],
        executions=executions,
        lanes=lanes,
        accesses=_accesses(machine),
        blocks=machine.blocks,
        trace=_trace(machine) if machine.text.record else None,
        fault=_fault(machine, _STOPS[stop]),
        unknown={i: opcode for i, opcode in uncovered.items() if executions[i]},
    )


def _instructions(machine: Machine) -> tuple[Array, Array]:
    """Return executions and lanes by program instruction."""
    routine = machine.text.routine
    executions, lanes = np.zeros((2, len(routine.program.instructions)), np.int64)
    for number, block in enumerate(routine.blocks):
        if machine.executions[number]:
            held = slice(block.instructions.start, block.instructions.stop)
            executions[held] += machine.executions[number]
            lanes[held] += machine.lanes[number]
    np.subtract.at(lanes, machine.text.guarded, machine.guarded[: len(machine.text.guarded)])
    return executions, lanes


def _accesses(machine: Machine) -> AccessCounts:
    """Return the sums by instruction and space; operations of one instruction are added up."""
    rows: dict[tuple[int, int], Array] = {}
    for operation, space in np.argwhere(machine.counters[:, :, state.C_REQUESTS] > 0):
        sums = machine.counters[operation, space]
        key = machine.text.operations[operation].instruction, int(space)
        rows[key] = _merged(rows[key], sums) if key in rows else sums
    keys = sorted(rows)
    table = np.array([rows[key] for key in keys], np.int64).reshape(-1, state.COUNTER_WORDS)
    regular = table[:, state.C_STRIDE_STATE] == state.SET
    return AccessCounts(
        instruction=np.array([key[0] for key in keys], np.int64),
        space=np.array([key[1] for key in keys], np.int64),
        stride=np.where(regular, table[:, state.C_STRIDE], _IRREGULAR),
        slot=table[:, state.C_SLOT].copy(),
        **{name: table[:, getattr(state, f"C_{name.upper()}")].copy() for name in _SUMMED},
    )


def _merged(first: Array, second: Array) -> Array:
    """Return the sums of two operations together."""
    both = first + second
    both[state.C_SLOT] = first[state.C_SLOT] if first[state.C_SLOT] == second[state.C_SLOT] else -1
    states = first[state.C_STRIDE_STATE], second[state.C_STRIDE_STATE]
    differ = states == (state.SET, state.SET) and first[state.C_STRIDE] != second[state.C_STRIDE]
    both[state.C_STRIDE_STATE] = state.BROKEN if differ else max(states)
    both[state.C_STRIDE] = (first if states[0] == state.SET else second)[state.C_STRIDE]
    return both


def _fault(machine: Machine, stop: Stop) -> Fault | None:
    """Return where the run went wrong, or the first thread that waits for ever."""
    words = machine.words
    if stop is Stop.FAULT:
        return Fault(
            instruction=int(words[state.FAULT_INSTRUCTION]),
            block=int(words[state.FAULT_BLOCK]),
            thread=int(words[state.FAULT_THREAD]),
            address=int(words[state.FAULT_ADDRESS]),
            bytes=int(words[state.FAULT_BYTES]),
            reason=state.REASONS[int(words[state.FAULT])],
        )
    return _stuck(machine) if stop is Stop.DEADLOCK else None


def _stuck(machine: Machine) -> Fault | None:
    """Return where the first thread waits that can never go on."""
    for place in range(int(machine.words[state.RESIDENT] * machine.words[state.WARPS])):
        warp = machine.warp(place)
        lanes = warp[state.W_PC : state.W_PC + 128].view(np.int32)
        waiting = np.flatnonzero(lanes != state.EXITED)
        if len(waiting):
            lane = int(waiting[0])
            header = warp[:64].view(np.int64)
            block = machine.routine_block(int(lanes[lane]))
            held = block.instructions
            thread = int(header[state.W_INDEX // 8]) * 32 + lane
            where = held.start if len(held) else block.end.instruction
            number = machine.block_number(int(header[state.W_BLOCK // 8]))
            return Fault(where, number, thread, reason="waits for threads that never come")
    return None


def _trace(machine: Machine) -> Trace:
    """Return the events of the run, warp by warp."""
    words = machine.words
    warps = len(machine.blocks) * int(words[state.WARPS])
    steps = machine.steps[: words[state.STEP_COUNT]]
    accesses = machine.accesses[: words[state.ACCESS_COUNT]]
    order, by_warp = (np.argsort(part[:, 0], kind="stable") for part in (steps, accesses))
    steps, sorted_accesses = steps[order], accesses[by_warp]
    starts, lines = _lines(accesses[:, 4], by_warp, machine.lines[: words[state.LINE_COUNT]])
    numbers = np.arange(warps + 1)
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    return Trace(
        step_start=np.searchsorted(steps[:, 0], numbers),
        step_block=steps[:, 1].copy(),
        step_mask=steps[:, 2].astype(np.uint32),
        access_start=np.searchsorted(sorted_accesses[:, 0], numbers),
        access_instruction=sorted_accesses[:, 1].copy(),
        access_mask=sorted_accesses[:, 2].astype(np.uint32),
        access_wavefronts=np.minimum(sorted_accesses[:, 3], 255).astype(np.uint8),
        access_step=place[sorted_accesses[:, 5]],
        line_start=starts,
        lines=lines,
        complete=not words[state.DROPPED],
    )


def _lines(counts: Array, order: Array, lines: Array) -> tuple[Array, Array]:
    """Return the lines of accesses in a new order, and where those of each begin."""
    ends = np.cumsum(counts, dtype=np.int64)
    firsts, sizes = (ends - counts)[order], counts[order].astype(np.int64)
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
    places = np.repeat(firsts - starts[:-1], sizes) + np.arange(int(starts[-1]))
    return starts, lines[places]
