"""Native module: loads and stores of a warp, checked, counted and traced.

Every exported function does nothing once the run has met a fault.
"""

from __future__ import annotations

from warpwatt.emulate.native.control import fail, popcount
from warpwatt.emulate.native.patterns import (
    add_sector, distinct, gather_lines, gather_local_lines, local_place, most_on_one, sort_lines, stride, tag_passes,
    wavefronts,
)  # fmt: skip
from warpwatt.emulate.native.pointers import bytes_at, call, copy, i32_at, i64_at, u16_at, u32_at, u64_at
from warpwatt.emulate.native.state import (
    ACCESS_COUNT, ACCESS_ROOM, ACCESSES, B_SHARED, BANK_SIZES, BANKS, BASES, BLOCK_WORDS, BROKEN, C_COLLISIONS,
    C_IDEAL, C_LANES, C_LINES, C_REQUESTS, C_SECTORS, C_SLOT, C_STRIDE, C_STRIDE_STATE, C_TAG_PASSES, C_UNIFORM,
    C_WAVEFRONTS, CONST_SPACE, COUNTER_WORDS, COUNTERS, DROPPED, FAULT, FOUND, GENERIC, GLOBAL, HOSTS, LANE_ADDRESSES,
    LANE_VALUES, LINE_COUNT, LINE_ROOM, LINES, LOCAL_BYTES, LOCAL_SPACE, LOCAL_STRIDE, MACHINE_WORDS, MEMBERS, MISALIGNED, NO_MEMORY,
    O_BANK, O_BYTES, O_COUNT, O_ELEMENT, O_INSTRUCTION, O_SPACE, OPERATION_WORDS, OPERATIONS,
    OUT_OF_BOUNDS, PAGE_FLAGS, RECORD, SET, SHARED_BYTES, SHARED_SPACE, SIZES, STEP_COUNT, STEP_ROOM, STEPS, TOUCH,
    UNSET, W_BLOCK, W_GRID_NUMBER, W_LOCAL, W_NUMBER,
)  # fmt: skip

SLOT_BITS, PAGE_BITS = 40, 12
OFFSET_MASK = (1 << SLOT_BITS) - 1
SHARED_SLOT, LOCAL_SLOT, PARAMETER_SLOT, CONSTANT_SLOT = 0xF0, 0xF1, 0xF2, 0xF3
PARAMETER_BANK, CONSTANT_BANK = 0, 3
FULL = 0xFFFFFFFF
VARIES, NO_NEIGHBOURS = -(2**63), -(2**63) + 1


def load_lanes(m: int, w: int, row: int, lanes: int) -> None:
    """Load from LANE_ADDRESSES to LANE_VALUES, element by element; 0 where a lane is off."""
    machine = i64_at(m, MACHINE_WORDS)
    operation = i64_at(machine[OPERATIONS] + row * OPERATION_WORDS * 8, OPERATION_WORDS)
    if lanes != FULL:
        bytes_at(m + LANE_VALUES * 8, operation[O_BYTES] * 32)[:] = 0
    if lanes == 0 or machine[FAULT]:
        return
    base = contiguous(m, w, row, lanes)
    if base == 0:
        each_space(m, w, row, lanes, 0)
    elif base > 0:
        move_row(m + LANE_VALUES * 8, base, operation[O_ELEMENT], operation[O_COUNT], 0)


def store_lanes(m: int, w: int, row: int, lanes: int) -> None:
    """Store LANE_VALUES at LANE_ADDRESSES; of lanes with one address the last prevails."""
    machine = i64_at(m, MACHINE_WORDS)
    if lanes == 0 or machine[FAULT]:
        return
    operation = i64_at(machine[OPERATIONS] + row * OPERATION_WORDS * 8, OPERATION_WORDS)
    base = contiguous(m, w, row, lanes)
    if base == 0:
        each_space(m, w, row, lanes, 1)
    elif base > 0:
        move_row(m + LANE_VALUES * 8, base, operation[O_ELEMENT], operation[O_COUNT], 1)


def load_same(m: int, w: int, row: int, lanes: int, address: int) -> None:
    """Load one address for all lanes to the start of LANE_VALUES."""
    machine = i64_at(m, MACHINE_WORDS)
    operation = i64_at(machine[OPERATIONS] + row * OPERATION_WORDS * 8, OPERATION_WORDS)
    if lanes == 0 or machine[FAULT]:
        bytes_at(m + LANE_VALUES * 8, operation[O_BYTES])[:] = 0
        return
    for lane in range(32):
        machine[LANE_ADDRESSES + lane] = address
    space = space_of(operation[O_SPACE], address)
    if space == LOCAL_SPACE:  # one address, but a place of its own for each lane
        each_space(m, w, row, lanes, 0)
        first = 0
        while (lanes >> first) & 1 == 0:
            first += 1
        for k in range(operation[O_COUNT]):
            size = operation[O_ELEMENT]
            copy(m + LANE_VALUES * 8 + k * size, m + LANE_VALUES * 8 + (k * 32 + first) * size, size)
        return
    host = check(m, w, row, space, 0 if lanes & 1 else first_on(lanes), address)
    if host:
        copy(m + LANE_VALUES * 8, host, operation[O_BYTES])
        count_same(m, w, row, space, lanes, address)


def first_on(lanes: int) -> int:
    """Return the first lane that is on."""
    lane = 0
    while (lanes >> lane) & 1 == 0:
        lane += 1
    return lane


# Addresses -----------------------------------------------------------------------------------------------------


def space_of(space: int, address: int) -> int:
    """Return the space an address really lies in."""
    if space != GENERIC and space != GLOBAL:
        return space
    slot = address >> SLOT_BITS
    if slot == SHARED_SLOT:
        return SHARED_SPACE
    if slot == LOCAL_SLOT:
        return LOCAL_SPACE
    if slot in (PARAMETER_SLOT, CONSTANT_SLOT):
        return CONST_SPACE
    return GLOBAL


def bank_of(m: int, row: int, address: int) -> int:
    """Return the constant bank that an access reads."""
    machine = i64_at(m, MACHINE_WORDS)
    operation = i64_at(machine[OPERATIONS] + row * OPERATION_WORDS * 8, OPERATION_WORDS)
    if operation[O_SPACE] == CONST_SPACE:
        return operation[O_BANK]
    return PARAMETER_BANK if address >> SLOT_BITS == PARAMETER_SLOT else CONSTANT_BANK


def check(m: int, w: int, row: int, space: int, lane: int, address: int) -> int:
    """Return the host address of one lane's access, its pages made; 0 and a fault if it has none."""
    machine, warp = i64_at(m, MACHINE_WORDS), i64_at(w, 8)
    operation = i64_at(machine[OPERATIONS] + row * OPERATION_WORDS * 8, OPERATION_WORDS)
    size, offset = operation[O_BYTES], address & OFFSET_MASK
    base = 0
    limit = 0
    if space == GLOBAL:
        slot = address >> SLOT_BITS
        if 0 <= slot < 256:
            base, limit = i64_at(machine[BASES], 256)[slot], i64_at(machine[SIZES], 256)[slot]
    elif space == SHARED_SPACE:
        base, limit = i64_at(warp[W_BLOCK // 8], BLOCK_WORDS)[B_SHARED], machine[SHARED_BYTES]
    elif space == LOCAL_SPACE:
        base, limit = warp[W_LOCAL // 8] + lane * machine[LOCAL_STRIDE], machine[LOCAL_BYTES]
    else:
        bank = bank_of(m, row, address)
        base, limit = i64_at(machine[BANKS], 32)[bank], i64_at(machine[BANK_SIZES], 32)[bank]
    misaligned = offset % size != 0
    if misaligned or offset + size > limit:
        if space != GLOBAL:
            address = offset | (slot_of(m, row, space, address) << SLOT_BITS)
        reason = MISALIGNED if misaligned else OUT_OF_BOUNDS if limit else NO_MEMORY
        fail(m, w, operation[O_INSTRUCTION], lane, reason, address, size)
        return 0
    if space == GLOBAL:
        touch(m, address >> SLOT_BITS, offset, size)
    return base + offset


def touch(m: int, slot: int, offset: int, size: int) -> None:
    """Make the pages of a range of a buffer that have no contents yet."""
    machine = i64_at(m, MACHINE_WORDS)
    flags = i64_at(machine[PAGE_FLAGS], 256)[slot]
    if flags == 0:
        return
    first, last = offset >> PAGE_BITS, (offset + size - 1) >> PAGE_BITS
    for page in range(first, last + 1):
        if bytes_at(flags, page + 1)[page] == 0:
            call(machine[TOUCH], (slot << SLOT_BITS) | (page << PAGE_BITS), 1 << PAGE_BITS)


def contiguous(m: int, w: int, row: int, lanes: int) -> int:
    """Count an access of all lanes side by side and return its host address; 0 if it is none, -1 on a fault."""
    machine = i64_at(m, MACHINE_WORDS)
    operation = i64_at(machine[OPERATIONS] + row * OPERATION_WORDS * 8, OPERATION_WORDS)
    size = operation[O_BYTES]
    first = machine[LANE_ADDRESSES]
    if lanes != FULL:
        return 0
    wrong = 0
    for lane in range(32):
        wrong |= machine[LANE_ADDRESSES + lane] - first - lane * size
    space = space_of(operation[O_SPACE], first)
    if wrong != 0 or space > SHARED_SPACE or size & (size - 1):
        return 0
    offset = first & OFFSET_MASK
    if space == GLOBAL:
        slot = first >> SLOT_BITS
        if slot < 0 or slot >= 256:
            return 0
        base, limit = i64_at(machine[BASES], 256)[slot], i64_at(machine[SIZES], 256)[slot]
    else:
        base = i64_at(i64_at(w, 8)[W_BLOCK // 8], BLOCK_WORDS)[B_SHARED]
        limit = machine[SHARED_BYTES]
    if offset + 32 * size > limit or first & (size - 1):
        return 0  # the general way finds the lane
    if space == GLOBAL:
        touch(m, first >> SLOT_BITS, offset, 32 * size)
    count_contiguous(m, w, row, space, first, offset)
    return base + offset


def each_space(m: int, w: int, row: int, lanes: int, writes: int) -> None:
    """Access lane by lane; lanes of a generic access may be in several spaces."""
    machine = i64_at(m, MACHINE_WORDS)
    operation = i64_at(machine[OPERATIONS] + row * OPERATION_WORDS * 8, OPERATION_WORDS)
    element, count = operation[O_ELEMENT], operation[O_COUNT]
    hosts = i64_at(m + HOSTS * 8, 32)
    members = i64_at(m + MEMBERS * 8, 4)
    members[:] = 0
    for lane in range(32):
        if (lanes >> lane) & 1:
            space = space_of(operation[O_SPACE], machine[LANE_ADDRESSES + lane])
            members[space] |= 1 << lane
            host = check(m, w, row, space, lane, machine[LANE_ADDRESSES + lane])
            if host == 0:
                return
            hosts[lane] = host
    for lane in range(32):
        if (lanes >> lane) & 1:
            for k in range(count):
                place = m + LANE_VALUES * 8 + (k * 32 + lane) * element
                if writes:
                    move(hosts[lane] + k * element, place, element)
                else:
                    move(place, hosts[lane] + k * element, element)
    count_spaces(m, w, row, lanes, 0)


def count_spaces(m: int, w: int, row: int, lanes: int, collides: int) -> None:
    """Count a request whose lanes in each space are in MEMBERS; it is one event of the trace."""
    machine, members = i64_at(m, MACHINE_WORDS), i64_at(m + MEMBERS * 8, 4)
    for space in range(4):
        if members[space] == lanes:
            count_request(m, w, row, space, lanes, collides)
            return
    recording = machine[RECORD]
    machine[RECORD] = 0
    waves = 0
    for space in range(4):
        if members[space]:
            passes = count_request(m, w, row, space, members[space], collides)
            waves = max(waves, passes)
    machine[RECORD] = recording
    if recording:
        operation = i64_at(machine[OPERATIONS] + row * OPERATION_WORDS * 8, OPERATION_WORDS)
        count = gather_lines(m, members[GLOBAL], operation[O_BYTES])
        for lane in range(32):  # counting has left the interleaved addresses of local memory
            if (members[LOCAL_SPACE] >> lane) & 1:
                for word in range(max(1, operation[O_BYTES] >> 2)):
                    count = add_sector(m, (machine[LANE_ADDRESSES + lane] + 128 * word) >> 5, count)
        record(m, w, row, lanes, waves, count)


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


# Counting ------------------------------------------------------------------------------------------------------


def counters_of(m: int, row: int, space: int) -> int:
    """Return where the sums of an operation in a space lie."""
    return i64_at(m, MACHINE_WORDS)[COUNTERS] + (row * 4 + space) * COUNTER_WORDS * 8


def note(m: int, row: int, space: int, lanes: int, step: int, slot: int) -> None:
    """Add what all requests have: lanes, stride, buffer."""
    sums = i64_at(counters_of(m, row, space), COUNTER_WORDS)
    sums[C_REQUESTS] += 1
    sums[C_LANES] += popcount(lanes)
    if sums[C_SLOT] == 0:
        sums[C_SLOT] = slot
    elif sums[C_SLOT] != slot:
        sums[C_SLOT] = -1
    if step == NO_NEIGHBOURS:
        return
    if sums[C_STRIDE_STATE] == UNSET and step != VARIES:
        sums[C_STRIDE_STATE], sums[C_STRIDE] = SET, step
    elif step == VARIES or sums[C_STRIDE] != step:
        sums[C_STRIDE_STATE] = BROKEN


def count_contiguous(m: int, w: int, row: int, space: int, first: int, offset: int) -> None:
    """Count 32 lanes side by side, by formula."""
    machine = i64_at(m, MACHINE_WORDS)
    operation = i64_at(machine[OPERATIONS] + row * OPERATION_WORDS * 8, OPERATION_WORDS)
    size = operation[O_BYTES]
    sums = i64_at(counters_of(m, row, space), COUNTER_WORDS)
    waves = 0
    if space == GLOBAL:
        note(m, row, space, FULL, size, first >> SLOT_BITS)
        end = first + 32 * size - 1
        sums[C_SECTORS] += (end >> 5) - (first >> 5) + 1
        lines = (end >> 7) - (first >> 7) + 1
        sums[C_LINES] += lines
        sums[C_TAG_PASSES] += (lines + 3) >> 2
        sums[C_IDEAL] += size
    else:
        note(m, row, space, FULL, size, SHARED_SLOT)
        waves = max(1, size >> 2) if offset & 3 == 0 else wavefronts(m, FULL, size)
        sums[C_WAVEFRONTS] += waves
        sums[C_IDEAL] += max(1, size >> 2)
    if machine[RECORD]:
        count = gather_lines(m, FULL, size) if space == GLOBAL else 0
        record(m, w, row, FULL, waves, count)


def count_same(m: int, w: int, row: int, space: int, lanes: int, address: int) -> None:
    """Count lanes that all have one address."""
    machine = i64_at(m, MACHINE_WORDS)
    operation = i64_at(machine[OPERATIONS] + row * OPERATION_WORDS * 8, OPERATION_WORDS)
    size = operation[O_BYTES]
    sums = i64_at(counters_of(m, row, space), COUNTER_WORDS)
    neighbours = 0 if lanes & (lanes >> 1) else NO_NEIGHBOURS
    note(m, row, space, lanes, neighbours, slot_of(m, row, space, address))
    sums[C_UNIFORM] += 1
    waves = 0
    lines = 0
    if space == GLOBAL:
        lines = gather_lines(m, lanes & -lanes, size)
        sums[C_SECTORS] += max(1, size >> 5)
        sums[C_LINES] += lines
        sums[C_TAG_PASSES] += 1
        sums[C_IDEAL] += max(1, (size + 31) >> 5)
    elif space == SHARED_SPACE:
        waves = wavefronts(m, lanes, size) if size > 4 else 1
        sums[C_WAVEFRONTS] += waves
        sums[C_IDEAL] += 1
    if machine[RECORD]:
        record(m, w, row, lanes, waves, lines)


def slot_of(m: int, row: int, space: int, address: int) -> int:
    """Return the slot that an access in a space reaches."""
    if space == GLOBAL:
        return address >> SLOT_BITS
    if space == CONST_SPACE:
        return PARAMETER_SLOT if bank_of(m, row, address) == PARAMETER_BANK else CONSTANT_SLOT
    return SHARED_SLOT if space == SHARED_SPACE else LOCAL_SLOT


def count_request(m: int, w: int, row: int, space: int, lanes: int, collides: int) -> int:
    """Count any request of lanes in one space; return its shared-memory passes."""
    machine = i64_at(m, MACHINE_WORDS)
    operation = i64_at(machine[OPERATIONS] + row * OPERATION_WORDS * 8, OPERATION_WORDS)
    size = operation[O_BYTES]
    sums = i64_at(counters_of(m, row, space), COUNTER_WORDS)
    first = machine[LANE_ADDRESSES + first_on(lanes)]
    slot = slot_of(m, row, space, first)
    different = 0
    for lane in range(32):
        if (lanes >> lane) & 1:
            different |= machine[LANE_ADDRESSES + lane] ^ first
            if slot_of(m, row, space, machine[LANE_ADDRESSES + lane]) != slot:
                slot = -1
    note(m, row, space, lanes, stride(m, lanes), slot)
    sums[C_UNIFORM] += different == 0
    if collides:
        sums[C_COLLISIONS] += most_on_one(m, lanes)
    waves = 0
    lines = 0
    if space == SHARED_SPACE:
        waves = wavefronts(m, lanes, size)
        sums[C_WAVEFRONTS] += waves
        sums[C_IDEAL] += max(1, (distinct(m, lanes) * size + 127) >> 7)
    elif space != CONST_SPACE:
        lines = off_chip(m, w, row, space, lanes, size)
    if machine[RECORD]:
        record(m, w, row, lanes, waves, lines)
    return waves


def off_chip(m: int, w: int, row: int, space: int, lanes: int, size: int) -> int:
    """Count sectors, lines and tag passes of global or local memory; return the lines gathered."""
    machine, warp = i64_at(m, MACHINE_WORDS), i64_at(w, 8)
    sums = i64_at(counters_of(m, row, space), COUNTER_WORDS)
    useful = distinct(m, lanes) * size
    if space == LOCAL_SPACE:
        useful = popcount(lanes) * size
        base = (LOCAL_SLOT << SLOT_BITS) + warp[W_GRID_NUMBER // 8] * machine[LOCAL_BYTES] * 32
        lines = gather_local_lines(m, lanes, size, base)
        for lane in range(32):
            if (lanes >> lane) & 1:
                machine[LANE_ADDRESSES + lane] = base + local_place(machine[LANE_ADDRESSES + lane] & OFFSET_MASK, lane)
    else:
        lines = gather_lines(m, lanes, size)
    sums[C_IDEAL] += max(1, (useful + 31) >> 5)
    sums[C_TAG_PASSES] += tag_passes(m, lanes)
    sums[C_LINES] += lines
    for place in range(lines):
        sums[C_SECTORS] += popcount(machine[FOUND + 2 * place + 1])
    return lines


# Traces --------------------------------------------------------------------------------------------------------


def step(m: int, w: int, block: int, active: int) -> None:
    """Note that a warp executes a basic block: (warp, block, active lanes)."""
    machine = i64_at(m, MACHINE_WORDS)
    count = machine[STEP_COUNT]
    if count >= machine[STEP_ROOM] or machine[DROPPED]:
        machine[DROPPED] = 1
        return
    entry = i32_at(machine[STEPS] + 12 * count, 3)
    entry[0], entry[1] = i64_at(w, 8)[W_NUMBER // 8], block
    u32_at(machine[STEPS] + 12 * count + 8, 1)[0] = active
    machine[STEP_COUNT] = count + 1


def record(m: int, w: int, row: int, lanes: int, waves: int, lines: int) -> None:
    """Note a request: (warp, instruction, lanes, wavefronts, number of lines), and its lines from FOUND."""
    machine = i64_at(m, MACHINE_WORDS)
    operation = i64_at(machine[OPERATIONS] + row * OPERATION_WORDS * 8, OPERATION_WORDS)
    count, used = machine[ACCESS_COUNT], machine[LINE_COUNT]
    if count >= machine[ACCESS_ROOM] or used + lines > machine[LINE_ROOM] or machine[DROPPED]:
        machine[DROPPED] = 1
        return
    sort_lines(m, lines)
    entry = i32_at(machine[ACCESSES] + 20 * count, 5)
    entry[0], entry[1] = i64_at(w, 8)[W_NUMBER // 8], operation[O_INSTRUCTION]
    u32_at(machine[ACCESSES] + 20 * count + 8, 1)[0] = lanes
    entry[3], entry[4] = waves, lines
    places = i64_at(machine[LINES], used + lines)
    for place in range(lines):
        places[used + place] = (machine[FOUND + 2 * place] << 7) | machine[FOUND + 2 * place + 1]
    machine[ACCESS_COUNT] = count + 1
    machine[LINE_COUNT] = used + lines


def match_lanes(m: int, active: int) -> None:
    """Write to LANE_VALUES, as i32, which active lanes have the same number in LANE_ADDRESSES."""
    machine, masks = i64_at(m, MACHINE_WORDS), u32_at(m + LANE_VALUES * 8, 32)
    for lane in range(32):
        alike = 0
        for other in range(32):
            if (active >> other) & 1 and machine[LANE_ADDRESSES + other] == machine[LANE_ADDRESSES + lane]:
                alike |= 1 << other
        masks[lane] = alike
