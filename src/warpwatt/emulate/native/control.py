"""Native module: which lanes wait, which go on, and whose turn it is. See :mod:`~warpwatt.emulate.native.state`."""

from __future__ import annotations

from warpwatt.emulate.native.pointers import bytes_at, call, copy, i32_at, i64_at, u32_at
from warpwatt.emulate.native.state import (
    ADDRESS_COUNT, ADDRESSES, AT_BARRIER, B_BARRIERS, B_FIRST_WARP, B_LIVE, B_NUMBER, B_ORDINAL,
    B_SHARED, BARRIERS, BLOCK_COUNT, BLOCK_RECORDS, BLOCK_WORDS, BLOCK_X, BLOCK_Y, BLOCKS, BUDGET, CLOCK,
    CLUSTER_X, CLUSTER_Y, CLUSTER_Z, CONVERGING, DISPATCH, DONE_BLOCKS, EXITED, FAULT, FAULT_ADDRESS, FAULT_BLOCK,
    FAULT_BYTES, FAULT_INSTRUCTION, FAULT_THREAD, GRID_X, GRID_Y, LEAVERS, LOCAL, LOCAL_STRIDE, MACHINE_WORDS, NOWHERE,
    LANE_ADDRESSES, R_ARRIVED, R_EXPECTED, R_HOLDING, R_RESULT, R_RESULT_ARRIVED, RESIDENT, S_CLUSTER_CTAID,
    S_CLUSTER_CTARANK, S_CLUSTERID, S_CTAID, S_SMID, S_WARPID, SHARED, SHARED_BYTES, SHARED_STRIDE, SMS, SPECIAL_COUNT,
    SPECIAL_TEMPLATE, STATE_BITS, TARGETS, THREADS, TRAPPED, W_ACTIVE, W_BLOCK, W_GRID_NUMBER, W_INDEX, W_LIVE,
    W_LOCAL, W_NUMBER, W_PC, W_READY, W_SPECIALS, W_TID, W_TURN, W_WAIT, WARP_BYTES, WARP_RECORDS, WARPS,
)  # fmt: skip
from warpwatt.emulate.run import TURN

DONE, INSTRUCTIONS, DEADLOCK, FAULTED = 0, 1, 2, 3


def popcount(bits: int) -> int:
    """Return how many of the low 32 bits are set."""
    bits = bits & 0xFFFFFFFF
    bits -= (bits >> 1) & 0x55555555
    bits = (bits & 0x33333333) + ((bits >> 2) & 0x33333333)
    bits = (bits + (bits >> 4)) & 0x0F0F0F0F
    return ((bits * 0x01010101) & 0xFFFFFFFF) >> 24


def fail(m: int, w: int, instruction: int, lane: int, reason: int, address: int, size: int) -> None:
    """Note the first fault of the run."""
    machine, warp = i64_at(m, MACHINE_WORDS), i64_at(w, 8)
    if machine[FAULT] == 0:
        machine[FAULT] = reason
        machine[FAULT_INSTRUCTION] = instruction
        machine[FAULT_BLOCK] = i64_at(warp[W_BLOCK // 8], BLOCK_WORDS)[B_NUMBER]
        machine[FAULT_THREAD] = warp[W_INDEX // 8] * 32 + lane
        machine[FAULT_ADDRESS] = address
        machine[FAULT_BYTES] = size


def first_lane(lanes: int) -> int:
    """Return the lowest set bit; 32 if there is none."""
    for lane in range(32):
        if (lanes >> lane) & 1:
            return lane
    return 32


def trap(m: int, w: int, lanes: int, instruction: int) -> None:
    """Note a trap if a lane is on."""
    if lanes:
        fail(m, w, instruction, first_lane(lanes), TRAPPED, 0, 0)


def indirect(m: int, w: int, lanes: int, instruction: int) -> None:
    """Send lanes to the blocks that their addresses name."""
    machine, pcs = i64_at(m, MACHINE_WORDS), i32_at(w + W_PC, 32)
    count = machine[ADDRESS_COUNT]
    table = i64_at(machine[ADDRESSES], 2 * count)
    for lane in range(32):
        if (lanes >> lane) & 1:
            wanted = machine[LANE_ADDRESSES + lane]
            found = -1
            for row in range(count):
                if table[2 * row] == wanted:
                    found = table[2 * row + 1]
            if found < 0:
                fail(m, w, instruction, lane, NOWHERE, wanted, 0)
            else:
                pcs[lane] = found


# Convergence -------------------------------------------------------------------------------------------------


def converge(m: int, w: int, block: int) -> None:
    """Let the lanes that wait at the end of a block go on whose live partners all wait there."""
    machine = i64_at(m, MACHINE_WORDS)
    pcs, waits, live = i32_at(w + W_PC, 32), u32_at(w + W_WAIT, 32), u32_at(w + W_LIVE, 1)
    here = 0
    for lane in range(32):
        if pcs[lane] == CONVERGING + block:
            here |= 1 << lane
    missing = int(live[0]) & ~here
    leavers = i32_at(machine[LEAVERS], block + 1)[block]
    if leavers:
        missing &= ~int(u32_at(w + leavers, 1)[0])
    target = i32_at(machine[TARGETS], block + 1)[block]
    for lane in range(32):
        if (here >> lane) & 1 and (int(waits[lane]) & missing) == 0:
            pcs[lane] = target


def look_again(m: int, w: int) -> None:
    """Let lanes go on for whose convergence enough has changed."""
    pcs = i32_at(w + W_PC, 32)
    for lane in range(32):
        if CONVERGING <= pcs[lane] < AT_BARRIER:
            converge(m, w, int(pcs[lane]) & STATE_BITS)


def leave(m: int, w: int, lanes: int) -> None:
    """End threads; who waited for them may go on."""
    pcs, live = i32_at(w + W_PC, 32), u32_at(w + W_LIVE, 1)
    block = i64_at(w, 8)[W_BLOCK // 8]
    for lane in range(32):
        if (lanes >> lane) & 1:
            pcs[lane] = EXITED
    live[0] = int(live[0]) & ~lanes
    i64_at(block, BLOCK_WORDS)[B_LIVE] -= popcount(lanes)
    if live[0]:
        look_again(m, w)
    for number in range(BARRIERS):
        complete(m, block, number)


# Barriers ----------------------------------------------------------------------------------------------------


def barrier(m: int, w: int, number: int, expected: int, arrive: int, holding: int, target: int) -> None:
    """Let the active lanes arrive at a barrier; unless they only ``arrive``, they wait."""
    number = number & (BARRIERS - 1)
    pcs, waits = i32_at(w + W_PC, 32), u32_at(w + W_WAIT, 32)
    active = int(u32_at(w + W_ACTIVE, 1)[0])
    block = i64_at(w, 8)[W_BLOCK // 8]
    record = i64_at(block + 8 * (B_BARRIERS + 5 * number), 5)
    for lane in range(32):
        if (active >> lane) & 1:
            pcs[lane] = target if arrive else AT_BARRIER + target
            waits[lane] = number
    record[R_ARRIVED] += popcount(active)
    record[R_HOLDING] += popcount(holding)
    record[R_EXPECTED] = expected
    complete(m, block, number)


def complete(m: int, block: int, number: int) -> None:
    """Open a barrier at which all expected threads have arrived."""
    machine, words = i64_at(m, MACHINE_WORDS), i64_at(block, BLOCK_WORDS)
    record = i64_at(block + 8 * (B_BARRIERS + 5 * number), 5)
    expected = words[B_LIVE] if record[R_EXPECTED] <= 0 else record[R_EXPECTED]
    if record[R_ARRIVED] == 0 or record[R_ARRIVED] < expected:
        return
    record[R_RESULT], record[R_RESULT_ARRIVED] = record[R_HOLDING], record[R_ARRIVED]
    record[R_ARRIVED] = 0
    record[R_HOLDING] = 0
    for index in range(machine[WARPS]):
        w = words[B_FIRST_WARP] + index * machine[WARP_BYTES]
        pcs, waits = i32_at(w + W_PC, 32), u32_at(w + W_WAIT, 32)
        for lane in range(32):
            if AT_BARRIER <= pcs[lane] < EXITED and waits[lane] == number:
                pcs[lane] = int(pcs[lane]) & STATE_BITS


def barrier_result(w: int, number: int, how: int) -> int:
    """Return the reduction of a barrier last opened: 0 how many held, 1 whether all did, 2 whether any did."""
    block = i64_at(w, 8)[W_BLOCK // 8]
    record = i64_at(block + 8 * (B_BARRIERS + 5 * (number & (BARRIERS - 1))), 5)
    if how == 0:
        return record[R_RESULT]
    if how == 1:
        return 1 if record[R_RESULT] == record[R_RESULT_ARRIVED] else 0
    return 1 if record[R_RESULT] else 0


# The schedule ------------------------------------------------------------------------------------------------


def execute(m: int) -> int:
    """Run all blocks; return why it ended: DONE, INSTRUCTIONS, DEADLOCK, FAULTED."""
    machine = i64_at(m, MACHINE_WORDS)
    count, together = machine[BLOCK_COUNT], machine[RESIDENT]
    numbers = i64_at(machine[BLOCKS], count)
    first = 0
    while first < count:
        resident = min(together, count - first)
        for place in range(resident):
            start_block(m, place, first + place, numbers[first + place])
        machine[DONE_BLOCKS] = first + resident
        state = DONE
        while state == DONE and look(m, resident):
            state = round_of(m, resident)
        if state == DONE and living(m, resident):
            state = DEADLOCK
        if state != DONE:
            return state
        first += resident
    return DONE


def living(m: int, resident: int) -> bool:
    """Whether a thread has not ended."""
    machine = i64_at(m, MACHINE_WORDS)
    for place in range(resident):
        if i64_at(machine[BLOCK_RECORDS] + place * BLOCK_WORDS * 8, BLOCK_WORDS)[B_LIVE]:
            return True
    return False


def look(m: int, resident: int) -> bool:
    """Note which warps can run; whether any can."""
    machine = i64_at(m, MACHINE_WORDS)
    some = False
    for index in range(resident * machine[WARPS]):
        w = machine[WARP_RECORDS] + index * machine[WARP_BYTES]
        ready = runnable(w)
        i32_at(w + W_READY, 1)[0] = ready
        some |= ready
    return some


def round_of(m: int, resident: int) -> int:
    """Give each warp a turn that could run when the round began; return why the run ends, or DONE."""
    machine = i64_at(m, MACHINE_WORDS)
    for index in range(resident * machine[WARPS]):
        w = machine[WARP_RECORDS] + index * machine[WARP_BYTES]
        if i32_at(w + W_READY, 1)[0] and runnable(w):
            if machine[BUDGET] <= 0:
                return INSTRUCTIONS
            turn = min(TURN, machine[BUDGET])
            left = i64_at(w + W_TURN, 1)
            left[0] = turn
            machine[CLOCK] += turn
            call(machine[DISPATCH], m, w)
            machine[CLOCK] -= left[0]
            machine[BUDGET] -= turn - left[0]
            if machine[FAULT]:
                return FAULTED
    return DONE


def runnable(w: int) -> bool:
    """Whether a lane of a warp waits for nothing."""
    for pc in i32_at(w + W_PC, 32):
        if pc < CONVERGING:
            return True
    return False


def start_block(m: int, place: int, ordinal: int, number: int) -> None:
    """Make a block's records as they are when it begins."""
    machine = i64_at(m, MACHINE_WORDS)
    block = machine[BLOCK_RECORDS] + place * BLOCK_WORDS * 8
    words = i64_at(block, BLOCK_WORDS)
    words[:] = 0
    words[B_NUMBER], words[B_ORDINAL], words[B_LIVE] = number, ordinal, machine[THREADS]
    words[B_SHARED] = machine[SHARED] + place * machine[SHARED_STRIDE]
    words[B_FIRST_WARP] = machine[WARP_RECORDS] + place * machine[WARPS] * machine[WARP_BYTES]
    bytes_at(words[B_SHARED], machine[SHARED_BYTES])[:] = 0
    for index in range(machine[WARPS]):
        start_warp(m, block, place, index)


def start_warp(m: int, block: int, place: int, index: int) -> None:
    """Make a warp's record, its registers and local memory zero."""
    machine, words = i64_at(m, MACHINE_WORDS), i64_at(block, BLOCK_WORDS)
    w = words[B_FIRST_WARP] + index * machine[WARP_BYTES]
    bytes_at(w, machine[WARP_BYTES])[:] = 0
    warp, pcs = i64_at(w, 8), i32_at(w + W_PC, 32)
    warp[W_BLOCK // 8], warp[W_INDEX // 8] = block, index
    warp[W_NUMBER // 8] = words[B_ORDINAL] * machine[WARPS] + index
    warp[W_GRID_NUMBER // 8] = words[B_NUMBER] * machine[WARPS] + index
    local = machine[LOCAL] + (place * machine[WARPS] + index) * machine[LOCAL_STRIDE] * 32
    warp[W_LOCAL // 8] = local
    bytes_at(local, machine[LOCAL_STRIDE] * 32)[:] = 0
    live = 0
    xs, ys, zs = i32_at(w + W_TID, 32), i32_at(w + W_TID + 128, 32), i32_at(w + W_TID + 256, 32)
    for lane in range(32):
        thread = index * 32 + lane
        pcs[lane] = EXITED
        xs[lane] = thread % machine[BLOCK_X]
        ys[lane] = thread // machine[BLOCK_X] % machine[BLOCK_Y]
        zs[lane] = thread // (machine[BLOCK_X] * machine[BLOCK_Y])
        if thread < machine[THREADS]:
            pcs[lane] = 0
            live |= 1 << lane
    u32_at(w + W_LIVE, 1)[0] = live
    start_specials(m, words[B_NUMBER], index, w)


def start_specials(m: int, number: int, index: int, w: int) -> None:
    """Write the special values of one warp."""
    machine = i64_at(m, MACHINE_WORDS)
    specials = i32_at(w + W_SPECIALS, SPECIAL_COUNT)
    copy(w + W_SPECIALS, machine[SPECIAL_TEMPLATE], 4 * SPECIAL_COUNT)
    x = number % machine[GRID_X]
    y = number // machine[GRID_X] % machine[GRID_Y]
    z = number // (machine[GRID_X] * machine[GRID_Y])
    cx, cy, cz = machine[CLUSTER_X], machine[CLUSTER_Y], machine[CLUSTER_Z]
    specials[S_CTAID], specials[S_CTAID + 1], specials[S_CTAID + 2] = x, y, z
    specials[S_WARPID] = index
    specials[S_SMID] = number % machine[SMS]
    specials[S_CLUSTERID], specials[S_CLUSTERID + 1], specials[S_CLUSTERID + 2] = x // cx, y // cy, z // cz
    x, y, z = x % cx, y % cy, z % cz
    specials[S_CLUSTER_CTAID], specials[S_CLUSTER_CTAID + 1], specials[S_CLUSTER_CTAID + 2] = x, y, z
    specials[S_CLUSTER_CTARANK] = x + cx * (y + cy * z)
