"""Native module: the events of a run, in order."""

from __future__ import annotations

from warpwatt.emulate.native import state
from warpwatt.emulate.native.patterns import sort_lines
from warpwatt.emulate.native.pointers import i32_at, i64_at, u32_at


def step(m: int, w: int, block: int, active: int) -> None:
    """Note that a warp executes a basic block: (warp, block, active lanes)."""
    machine = i64_at(m, state.MACHINE_WORDS)
    count = machine[state.STEP_COUNT]
    if count >= machine[state.STEP_ROOM] or machine[state.DROPPED]:
        machine[state.DROPPED] = 1
        return
    entry = i32_at(machine[state.STEPS] + 12 * count, 3)
    entry[0], entry[1] = i64_at(w, 8)[state.W_NUMBER // 8], block
    u32_at(machine[state.STEPS] + 12 * count + 8, 1)[0] = active
    machine[state.STEP_COUNT] = count + 1


def record(m: int, w: int, row: int, lanes: int, waves: int, lines: int) -> None:
    """Note a request: (warp, instruction, lanes, wavefronts, lines, its step), and its lines from FOUND."""
    machine = i64_at(m, state.MACHINE_WORDS)
    operation = i64_at(machine[state.OPERATIONS] + row * state.OPERATION_WORDS * 8, state.OPERATION_WORDS)
    count, used = machine[state.ACCESS_COUNT], machine[state.LINE_COUNT]
    if (
        count >= machine[state.ACCESS_ROOM]
        or used + lines > machine[state.LINE_ROOM]
        or machine[state.DROPPED]
    ):
        machine[state.DROPPED] = 1
        return
    sort_lines(m, lines)
    entry = i32_at(machine[state.ACCESSES] + 24 * count, 6)
    entry[0], entry[1] = i64_at(w, 8)[state.W_NUMBER // 8], operation[state.O_INSTRUCTION]
    u32_at(machine[state.ACCESSES] + 24 * count + 8, 1)[0] = lanes
    entry[3], entry[4], entry[5] = waves, lines, machine[state.STEP_COUNT] - 1
    places = i64_at(machine[state.LINES], used + lines)
    for place in range(lines):
        places[used + place] = (machine[state.FOUND + 2 * place] << 7) | machine[state.FOUND + 2 * place + 1]
    machine[state.ACCESS_COUNT] = count + 1
    machine[state.LINE_COUNT] = used + lines
