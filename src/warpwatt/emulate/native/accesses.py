"""Native module: loads and stores of a warp, checked and counted.

Every exported function does nothing once the run has met a fault.
"""

from __future__ import annotations

from warpwatt.emulate.native import state
from warpwatt.emulate.native.counting import count_contiguous, count_same, count_spaces
from warpwatt.emulate.native.patterns import FULL
from warpwatt.emulate.native.places import (
    OFFSET_MASK,
    SLOT_BITS,
    check,
    find_hosts,
    first_on,
    locate,
    space_of,
    touch,
)
from warpwatt.emulate.native.pointers import bytes_at, copy, i64_at, u16_at, u32_at, u64_at


def load_lanes(m: int, w: int, row: int, lanes: int) -> None:
    """Load from LANE_ADDRESSES to LANE_VALUES, element by element; 0 where a lane is off."""
    machine = i64_at(m, state.MACHINE_WORDS)
    operation = i64_at(machine[state.OPERATIONS] + row * state.OPERATION_WORDS * 8, state.OPERATION_WORDS)
    probe = operation[state.O_PROBE]
    if lanes != FULL and not probe:
        bytes_at(m + state.LANE_VALUES * 8, operation[state.O_BYTES] * 32)[:] = 0
    if lanes == 0 or machine[state.FAULT]:
        return
    base = contiguous(m, w, row, lanes)
    if base == 0:
        each_space(m, w, row, lanes, 0)
    elif not probe:
        move_row(m + state.LANE_VALUES * 8, base, operation[state.O_ELEMENT], operation[state.O_COUNT], 0)


def store_lanes(m: int, w: int, row: int, lanes: int) -> None:
    """Store LANE_VALUES at LANE_ADDRESSES; of lanes with one address the last prevails."""
    machine = i64_at(m, state.MACHINE_WORDS)
    if lanes == 0 or machine[state.FAULT]:
        return
    operation = i64_at(machine[state.OPERATIONS] + row * state.OPERATION_WORDS * 8, state.OPERATION_WORDS)
    base = contiguous(m, w, row, lanes)
    if base == 0:
        each_space(m, w, row, lanes, 1)
    elif not operation[state.O_PROBE]:
        move_row(m + state.LANE_VALUES * 8, base, operation[state.O_ELEMENT], operation[state.O_COUNT], 1)


def load_same(m: int, w: int, row: int, lanes: int, address: int) -> None:
    """Load one address for all lanes to the start of LANE_VALUES; not from local memory."""
    machine = i64_at(m, state.MACHINE_WORDS)
    operation = i64_at(machine[state.OPERATIONS] + row * state.OPERATION_WORDS * 8, state.OPERATION_WORDS)
    if lanes == 0 or machine[state.FAULT]:
        bytes_at(m + state.LANE_VALUES * 8, operation[state.O_BYTES])[:] = 0
        return
    for lane in range(32):
        machine[state.LANE_ADDRESSES + lane] = address
    space = space_of(operation[state.O_SPACE], address)
    locate(m, w, row, space, address)
    host = check(m, w, row, space, 0 if lanes & 1 else first_on(lanes), address)
    if host:
        if not operation[state.O_PROBE]:
            copy(m + state.LANE_VALUES * 8, host, operation[state.O_BYTES])
        count_same(m, w, row, space, lanes, address)


def contiguous(m: int, w: int, row: int, lanes: int) -> int:
    """Count an access of all lanes side by side and return its host address; 0 if it is none."""
    machine = i64_at(m, state.MACHINE_WORDS)
    operation = i64_at(machine[state.OPERATIONS] + row * state.OPERATION_WORDS * 8, state.OPERATION_WORDS)
    size = operation[state.O_BYTES]
    first = machine[state.LANE_ADDRESSES]
    if lanes != FULL:
        return 0
    wrong = 0
    for lane in range(32):
        wrong |= machine[state.LANE_ADDRESSES + lane] - first - lane * size
    space = space_of(operation[state.O_SPACE], first)
    if wrong != 0 or space > state.SHARED_SPACE or size & (size - 1):
        return 0
    locate(m, w, row, space, first)
    offset = first & OFFSET_MASK
    if offset + 32 * size > machine[state.LIMIT] or first & (size - 1):
        return 0  # the general way finds the lane
    if space == state.GLOBAL and not operation[state.O_PROBE]:
        touch(m, first >> SLOT_BITS, offset, 32 * size)
    count_contiguous(m, w, row, space, first)
    return int(machine[state.PLACE] + offset)


def each_space(m: int, w: int, row: int, lanes: int, writes: int) -> None:
    """Access lane by lane; lanes of a generic access may be in several spaces."""
    machine = i64_at(m, state.MACHINE_WORDS)
    operation = i64_at(machine[state.OPERATIONS] + row * state.OPERATION_WORDS * 8, state.OPERATION_WORDS)
    element, count = operation[state.O_ELEMENT], operation[state.O_COUNT]
    if not find_hosts(m, w, row, lanes):
        return
    for k in range(0 if operation[state.O_PROBE] else count):
        place = m + state.LANE_VALUES * 8 + k * 32 * element
        if writes:
            scatter(m + state.HOSTS * 8, place, lanes, element, k * element)
        else:
            gather(m + state.HOSTS * 8, place, lanes, element, k * element)
    count_spaces(m, w, row, lanes, 0)


def gather(hosts: int, place: int, lanes: int, size: int, offset: int) -> None:
    """Copy an element of each lane from memory to its place in a vector."""
    sources = i64_at(hosts, 32)
    if size == 4:
        for lane in range(32):
            if (lanes >> lane) & 1:
                u32_at(place, 32)[lane] = u32_at(sources[lane] + offset, 1)[0]
    else:
        for lane in range(32):
            if (lanes >> lane) & 1:
                move(place + lane * size, sources[lane] + offset, size)


def scatter(hosts: int, place: int, lanes: int, size: int, offset: int) -> None:
    """Copy an element of each lane from a vector to memory."""
    targets = i64_at(hosts, 32)
    for lane in range(32):
        if (lanes >> lane) & 1:
            move(targets[lane] + offset, place + lane * size, size)


def move(to: int, start: int, size: int) -> None:
    """Copy one element."""
    if size == 4:
        u32_at(to, 1)[0] = u32_at(start, 1)[0]
    elif size == 8:
        u64_at(to, 1)[0] = u64_at(start, 1)[0]
    elif size == 2:
        u16_at(to, 1)[0] = u16_at(start, 1)[0]
    else:
        bytes_at(to, 1)[0] = bytes_at(start, 1)[0]


def move_row(lanes: int, memory: int, element: int, count: int, writes: int) -> None:
    """Copy ``count`` elements of 32 lanes between their vectors and memory, where they alternate."""
    if count == 1:
        if writes:
            copy(memory, lanes, 32 * element)
        else:
            copy(lanes, memory, 32 * element)
    elif element == 4:
        vectors, row = u32_at(lanes, 32 * count), u32_at(memory, 32 * count)
        for k in range(count):
            for lane in range(32):
                if writes:
                    row[lane * count + k] = vectors[32 * k + lane]
                else:
                    vectors[32 * k + lane] = row[lane * count + k]
    else:
        for k in range(count):
            for lane in range(32):
                place, cell = lanes + (k * 32 + lane) * element, memory + (lane * count + k) * element
                if writes:
                    move(cell, place, element)
                else:
                    move(place, cell, element)
