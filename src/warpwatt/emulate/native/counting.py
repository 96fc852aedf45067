"""Native module: sums over the requests of each memory operation."""

from __future__ import annotations

from warpwatt.emulate.native import state
from warpwatt.emulate.native.control import popcount
from warpwatt.emulate.native.patterns import (
    FULL,
    NO_NEIGHBOURS,
    VARIES,
    add_sector,
    distinct,
    fullest_tag_bank,
    gather_lines,
    gather_local_lines,
    local_place,
    look,
    most_on_one,
    stretch_lines,
    wavefronts,
)
from warpwatt.emulate.native.places import LOCAL_SLOT, SLOT_BITS, first_on, slot_of
from warpwatt.emulate.native.pointers import i64_at
from warpwatt.emulate.native.tracing import record


def counters_of(m: int, row: int, space: int) -> int:
    """Return where the sums of an operation in a space lie."""
    return int(i64_at(m, state.MACHINE_WORDS)[state.COUNTERS] + (row * 4 + space) * state.COUNTER_WORDS * 8)


def note(m: int, row: int, space: int, lanes: int, step: int, slot: int) -> None:
    """Add what all requests have: lanes, stride, buffer."""
    sums = i64_at(counters_of(m, row, space), state.COUNTER_WORDS)
    sums[state.C_REQUESTS] += 1
    sums[state.C_LANES] += popcount(lanes)
    if sums[state.C_SLOT] == 0:
        sums[state.C_SLOT] = slot
    elif sums[state.C_SLOT] != slot:
        sums[state.C_SLOT] = -1
    if step == NO_NEIGHBOURS:
        return
    if sums[state.C_STRIDE_STATE] == state.UNSET and step != VARIES:
        sums[state.C_STRIDE_STATE], sums[state.C_STRIDE] = state.SET, step
    elif step == VARIES or sums[state.C_STRIDE] != step:
        sums[state.C_STRIDE_STATE] = state.BROKEN


def count_contiguous(m: int, w: int, row: int, space: int, first: int) -> None:
    """Count 32 lanes side by side, by formula."""
    machine = i64_at(m, state.MACHINE_WORDS)
    operation = i64_at(machine[state.OPERATIONS] + row * state.OPERATION_WORDS * 8, state.OPERATION_WORDS)
    size = operation[state.O_BYTES]
    sums = i64_at(counters_of(m, row, space), state.COUNTER_WORDS)
    note(m, row, space, FULL, size, slot_of(m, row, space, first))
    waves = 0
    if space == state.GLOBAL:
        end = first + 32 * size - 1
        lines = (end >> 7) - (first >> 7) + 1
        sums[state.C_SECTORS] += (end >> 5) - (first >> 5) + 1
        sums[state.C_LINES] += lines
        sums[state.C_TAG_PASSES] += (lines + 3) >> 2
        sums[state.C_IDEAL] += size
    else:
        waves = max(1, size >> 2) if first & 3 == 0 else wavefronts(m, FULL, size)
        sums[state.C_WAVEFRONTS] += waves
        sums[state.C_IDEAL] += max(1, size >> 2)
    if machine[state.RECORD]:
        count = stretch_lines(m, first, 32 * size) if space == state.GLOBAL else 0
        record(m, w, row, FULL, waves, count)


def count_same(m: int, w: int, row: int, space: int, lanes: int, address: int) -> None:
    """Count lanes that all have one address, not in local memory."""
    machine = i64_at(m, state.MACHINE_WORDS)
    operation = i64_at(machine[state.OPERATIONS] + row * state.OPERATION_WORDS * 8, state.OPERATION_WORDS)
    size = operation[state.O_BYTES]
    sums = i64_at(counters_of(m, row, space), state.COUNTER_WORDS)
    step = 0 if lanes & (lanes >> 1) else NO_NEIGHBOURS
    note(m, row, space, lanes, step, slot_of(m, row, space, address))
    sums[state.C_UNIFORM] += 1
    waves = 0
    lines = 0
    if space == state.GLOBAL:
        lines = 1
        sums[state.C_SECTORS] += (size + 31) >> 5
        sums[state.C_LINES] += 1
        sums[state.C_TAG_PASSES] += 1
        sums[state.C_IDEAL] += (size + 31) >> 5
    elif space == state.SHARED_SPACE:
        waves = wavefronts(m, lanes, size) if size > PAIR else 1
        sums[state.C_WAVEFRONTS] += waves
        sums[state.C_IDEAL] += min(waves, 2)
    if machine[state.RECORD]:
        if lines:
            stretch_lines(m, address, size)
        record(m, w, row, lanes, waves, lines)


def count_spaces(m: int, w: int, row: int, lanes: int, collides: int) -> None:
    """Count a request whose lanes in each space are in MEMBERS; it is one event of the trace."""
    machine, members = i64_at(m, state.MACHINE_WORDS), i64_at(m + state.MEMBERS * 8, 4)
    for space in range(4):
        if members[space] == lanes:
            count_request(m, w, row, space, lanes, collides)
            return
    recording = machine[state.RECORD]
    machine[state.RECORD] = 0
    waves = 0
    for space in range(4):
        if members[space]:
            passes = count_request(m, w, row, space, members[space], collides)
            waves = max(waves, passes)
    machine[state.RECORD] = recording
    if recording:
        operation = i64_at(machine[state.OPERATIONS] + row * state.OPERATION_WORDS * 8, state.OPERATION_WORDS)
        count = gather_lines(m, members[state.GLOBAL], operation[state.O_BYTES])
        for lane in range(32):  # counting has left the interleaved addresses of local memory
            if (members[state.LOCAL_SPACE] >> lane) & 1:
                for word in range(max(1, operation[state.O_BYTES] >> 2)):
                    count = add_sector(m, (machine[state.LANE_ADDRESSES + lane] + 128 * word) >> 5, count)
        record(m, w, row, lanes, waves, count)


def count_request(m: int, w: int, row: int, space: int, lanes: int, collides: int) -> int:
    """Count any request of lanes in one space; return its shared-memory passes."""
    machine = i64_at(m, state.MACHINE_WORDS)
    operation = i64_at(machine[state.OPERATIONS] + row * state.OPERATION_WORDS * 8, state.OPERATION_WORDS)
    size = operation[state.O_BYTES]
    sums = i64_at(counters_of(m, row, space), state.COUNTER_WORDS)
    first = machine[state.LANE_ADDRESSES + first_on(lanes)]
    look(m, lanes)
    if machine[state.SAME] and not collides and space < state.LOCAL_SPACE:
        count_same(m, w, row, space, lanes, first)
        return 1
    slot = slots_of(m, row, space, lanes, slot_of(m, row, space, first))
    note(m, row, space, lanes, machine[state.STEP], slot)
    sums[state.C_UNIFORM] += machine[state.SAME]
    if collides:
        sums[state.C_COLLISIONS] += most_on_one(m, lanes)
    waves = 0
    lines = 0
    if space == state.SHARED_SPACE:
        waves = wavefronts(m, lanes, size)
        useful = popcount(lanes) if machine[state.ASCENDING] else distinct(m, lanes)
        sums[state.C_WAVEFRONTS] += waves
        sums[state.C_IDEAL] += min(waves, max(2 if size > PAIR else 1, (useful * size + 127) >> 7))
    elif space != state.CONST_SPACE:
        lines = off_chip(m, w, row, space, lanes, size)
    if machine[state.RECORD]:
        record(m, w, row, lanes, waves, lines)
    return waves


def slots_of(m: int, row: int, space: int, lanes: int, slot: int) -> int:
    """Return the slot that all lanes reach, -1 if several; ``slot`` is that of the first lane."""
    if space in (state.SHARED_SPACE, state.LOCAL_SPACE):
        return slot
    machine = i64_at(m, state.MACHINE_WORDS)
    for lane in range(32):
        if (lanes >> lane) & 1 and slot_of(m, row, space, machine[state.LANE_ADDRESSES + lane]) != slot:
            return -1
    return slot


def off_chip(m: int, w: int, row: int, space: int, lanes: int, size: int) -> int:
    """Count sectors, lines and tag passes of global or local memory; return the lines gathered."""
    machine, warp = i64_at(m, state.MACHINE_WORDS), i64_at(w, 8)
    sums = i64_at(counters_of(m, row, space), state.COUNTER_WORDS)
    if space == state.LOCAL_SPACE:
        useful = popcount(lanes)
        base = (LOCAL_SLOT << SLOT_BITS) + warp[state.W_GRID_NUMBER // 8] * machine[state.LOCAL_BYTES] * 32
        lines = gather_local_lines(m, lanes, size, base)
        for lane in range(32):
            if (lanes >> lane) & 1:
                place = local_place(machine[state.LANE_ADDRESSES + lane], lane)
                machine[state.LANE_ADDRESSES + lane] = base + place
    else:
        useful = popcount(lanes) if machine[state.ASCENDING] else distinct(m, lanes)
        lines = gather_lines(m, lanes, size)
    sums[state.C_IDEAL] += max(1, (useful * size + 31) >> 5)
    sums[state.C_TAG_PASSES] += fullest_tag_bank(m, lines)
    sums[state.C_LINES] += lines
    for place in range(lines):
        sums[state.C_SECTORS] += SECTORS[machine[state.FOUND + 2 * place + 1]]
    return lines


PAIR = 8
"""Bytes per lane up to which lanes with one address take one pass."""
SECTORS = (0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4)
"""How many bits four bits have set."""
