"""Native module: which lanes wait, which go on, and whose turn it is; records as in ``state``."""

from __future__ import annotations

from warpwatt.emulate.native import state
from warpwatt.emulate.native.pointers import bytes_at, call, copy, i32_at, i64_at, u32_at
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
    machine, warp = i64_at(m, state.MACHINE_WORDS), i64_at(w, 8)
    if machine[state.FAULT] == 0:
        machine[state.FAULT] = reason
        machine[state.FAULT_INSTRUCTION] = instruction
        machine[state.FAULT_BLOCK] = i64_at(warp[state.W_BLOCK // 8], state.BLOCK_WORDS)[state.B_NUMBER]
        machine[state.FAULT_THREAD] = warp[state.W_INDEX // 8] * 32 + lane
        machine[state.FAULT_ADDRESS] = address
        machine[state.FAULT_BYTES] = size


def first_lane(lanes: int) -> int:
    """Return the lowest set bit; 32 if there is none."""
    for lane in range(32):
        if (lanes >> lane) & 1:
            return lane
    return 32


def trap(m: int, w: int, lanes: int, instruction: int) -> None:
    """Note a trap if a lane is on."""
    if lanes:
        fail(m, w, instruction, first_lane(lanes), state.TRAPPED, 0, 0)


def indirect(m: int, w: int, lanes: int, instruction: int) -> None:
    """Send lanes to the blocks that their addresses name."""
    machine, pcs = i64_at(m, state.MACHINE_WORDS), i32_at(w + state.W_PC, 32)
    count = machine[state.ADDRESS_COUNT]
    table = i64_at(machine[state.ADDRESSES], 2 * count)
    for lane in range(32):
        if (lanes >> lane) & 1:
            wanted = machine[state.LANE_ADDRESSES + lane]
            found = -1
            for row in range(count):
                if table[2 * row] == wanted:
                    found = table[2 * row + 1]
            if found < 0:
                fail(m, w, instruction, lane, state.NOWHERE, wanted, 0)
            else:
                pcs[lane] = found


# Convergence ------------------------------------------------------------


def converge(m: int, w: int, block: int) -> None:
    """Let the lanes that wait at the end of a block go on whose live partners all wait there."""
    machine = i64_at(m, state.MACHINE_WORDS)
    pcs, waits, live = i32_at(w + state.W_PC, 32), u32_at(w + state.W_WAIT, 32), u32_at(w + state.W_LIVE, 1)
    here = 0
    for lane in range(32):
        if pcs[lane] == state.CONVERGING + block:
            here |= 1 << lane
    missing = int(live[0]) & ~here
    leavers = i32_at(machine[state.LEAVERS], block + 1)[block]
    if leavers:
        missing &= ~int(u32_at(w + leavers, 1)[0])
    target = i32_at(machine[state.TARGETS], block + 1)[block]
    for lane in range(32):
        if (here >> lane) & 1 and (int(waits[lane]) & missing) == 0:
            pcs[lane] = target


def look_again(m: int, w: int) -> None:
    """Let lanes go on for whose convergence enough has changed."""
    pcs = i32_at(w + state.W_PC, 32)
    for lane in range(32):
        if state.CONVERGING <= pcs[lane] < state.AT_BARRIER:
            converge(m, w, int(pcs[lane]) & state.STATE_BITS)


def leave(m: int, w: int, lanes: int) -> None:
    """End threads; who waited for them may go on."""
    pcs, live = i32_at(w + state.W_PC, 32), u32_at(w + state.W_LIVE, 1)
    block = i64_at(w, 8)[state.W_BLOCK // 8]
    for lane in range(32):
        if (lanes >> lane) & 1:
            pcs[lane] = state.EXITED
    live[0] = int(live[0]) & ~lanes
    i64_at(block, state.BLOCK_WORDS)[state.B_LIVE] -= popcount(lanes)
    if live[0]:
        look_again(m, w)
    for number in range(state.BARRIERS):
        complete(m, block, number)


# Barriers ------------------------------------------------------------


def barrier(m: int, w: int, number: int, expected: int, arrive: int, holding: int, target: int) -> None:
    """Let the active lanes arrive at a barrier; unless they only ``arrive``, they wait."""
    number = number & (state.BARRIERS - 1)
    pcs, waits = i32_at(w + state.W_PC, 32), u32_at(w + state.W_WAIT, 32)
    active = int(u32_at(w + state.W_ACTIVE, 1)[0])
    block = i64_at(w, 8)[state.W_BLOCK // 8]
    record = i64_at(block + 8 * (state.B_BARRIERS + 5 * number), 5)
    for lane in range(32):
        if (active >> lane) & 1:
            pcs[lane] = target if arrive else state.AT_BARRIER + target
            waits[lane] = number
    record[state.R_ARRIVED] += popcount(active)
    record[state.R_HOLDING] += popcount(holding)
    record[state.R_EXPECTED] = expected
    complete(m, block, number)


def complete(m: int, block: int, number: int) -> None:
    """Open a barrier at which all expected threads have arrived."""
    machine, words = i64_at(m, state.MACHINE_WORDS), i64_at(block, state.BLOCK_WORDS)
    record = i64_at(block + 8 * (state.B_BARRIERS + 5 * number), 5)
    expected = words[state.B_LIVE] if record[state.R_EXPECTED] <= 0 else record[state.R_EXPECTED]
    if record[state.R_ARRIVED] == 0 or record[state.R_ARRIVED] < expected:
        return
    record[state.R_RESULT], record[state.R_RESULT_ARRIVED] = record[state.R_HOLDING], record[state.R_ARRIVED]
    record[state.R_ARRIVED] = 0
    record[state.R_HOLDING] = 0
    for index in range(machine[state.WARPS]):
        w = words[state.B_FIRST_WARP] + index * machine[state.WARP_BYTES]
        pcs, waits = i32_at(w + state.W_PC, 32), u32_at(w + state.W_WAIT, 32)
        for lane in range(32):
            if state.AT_BARRIER <= pcs[lane] < state.EXITED and waits[lane] == number:
                pcs[lane] = int(pcs[lane]) & state.STATE_BITS


def barrier_result(w: int, number: int, how: int) -> int:
    """Return how many held at a barrier last opened (0), whether all (1) or any did (2)."""
    block = i64_at(w, 8)[state.W_BLOCK // 8]
    record = i64_at(block + 8 * (state.B_BARRIERS + 5 * (number & (state.BARRIERS - 1))), 5)
    if how == 0:
        return int(record[state.R_RESULT])
    if how == 1:
        return 1 if record[state.R_RESULT] == record[state.R_RESULT_ARRIVED] else 0
    return 1 if record[state.R_RESULT] else 0


# The schedule ------------------------------------------------------------


def execute(m: int) -> int:
    """Run all blocks; return why it ended: DONE, INSTRUCTIONS, DEADLOCK, FAULTED."""
    machine = i64_at(m, state.MACHINE_WORDS)
    count, together = machine[state.BLOCK_COUNT], machine[state.RESIDENT]
    numbers = i64_at(machine[state.BLOCKS], count)
    first = 0
    while first < count:
        resident = min(together, count - first)
        for place in range(resident):
            start_block(m, place, first + place, numbers[first + place])
        machine[state.DONE_BLOCKS] = first + resident
        outcome = DONE
        while outcome == DONE and look(m, resident):
            outcome = round_of(m, resident)
        if outcome == DONE and living(m, resident):
            outcome = DEADLOCK
        if outcome != DONE:
            return outcome
        first += resident
    return DONE


def living(m: int, resident: int) -> bool:
    """Whether a thread has not ended."""
    machine = i64_at(m, state.MACHINE_WORDS)
    for place in range(resident):
        if i64_at(machine[state.BLOCK_RECORDS] + place * state.BLOCK_WORDS * 8, state.BLOCK_WORDS)[
            state.B_LIVE
        ]:
            return True
    return False


def look(m: int, resident: int) -> bool:
    """Note which warps can run; whether any can."""
    machine = i64_at(m, state.MACHINE_WORDS)
    some = False
    for index in range(resident * machine[state.WARPS]):
        w = machine[state.WARP_RECORDS] + index * machine[state.WARP_BYTES]
        ready = runnable(w)
        i32_at(w + state.W_READY, 1)[0] = ready
        some |= ready
    return some


def round_of(m: int, resident: int) -> int:
    """Give each warp a turn that could run when the round began; return why the run ends, or DONE."""
    machine = i64_at(m, state.MACHINE_WORDS)
    for index in range(resident * machine[state.WARPS]):
        w = machine[state.WARP_RECORDS] + index * machine[state.WARP_BYTES]
        if i32_at(w + state.W_READY, 1)[0] and runnable(w):
            if machine[state.BUDGET] <= 0:
                return INSTRUCTIONS
            turn = min(TURN, machine[state.BUDGET])
            left = i64_at(w + state.W_TURN, 1)
            left[0] = turn
            machine[state.CLOCK] += turn
            call(machine[state.DISPATCH], m, w)
            machine[state.CLOCK] -= left[0]
            machine[state.BUDGET] -= turn - left[0]
            if machine[state.FAULT]:
                return FAULTED
    return DONE


def runnable(w: int) -> bool:
    """Whether a lane of a warp waits for nothing."""
    lowest = state.EXITED
    for pc in i32_at(w + state.W_PC, 32):
        lowest = min(lowest, pc)
    return lowest < state.CONVERGING


def start_block(m: int, place: int, ordinal: int, number: int) -> None:
    """Make a block's records as they are when it begins."""
    machine = i64_at(m, state.MACHINE_WORDS)
    block = machine[state.BLOCK_RECORDS] + place * state.BLOCK_WORDS * 8
    words = i64_at(block, state.BLOCK_WORDS)
    words[:] = 0
    words[state.B_NUMBER], words[state.B_ORDINAL], words[state.B_LIVE] = (
        number,
        ordinal,
        machine[state.THREADS],
    )
    words[state.B_SHARED] = machine[state.SHARED] + place * machine[state.SHARED_STRIDE]
    words[state.B_FIRST_WARP] = (
        machine[state.WARP_RECORDS] + place * machine[state.WARPS] * machine[state.WARP_BYTES]
    )
    bytes_at(words[state.B_SHARED], machine[state.SHARED_BYTES])[:] = 0
    for index in range(machine[state.WARPS]):
        start_warp(m, block, place, index)


def start_warp(m: int, block: int, place: int, index: int) -> None:
    """Make a warp's record, its registers and local memory zero."""
    machine, words = i64_at(m, state.MACHINE_WORDS), i64_at(block, state.BLOCK_WORDS)
    w = words[state.B_FIRST_WARP] + index * machine[state.WARP_BYTES]
    bytes_at(w, machine[state.WARP_BYTES])[:] = 0
    warp, pcs = i64_at(w, 8), i32_at(w + state.W_PC, 32)
    warp[state.W_BLOCK // 8], warp[state.W_INDEX // 8] = block, index
    warp[state.W_NUMBER // 8] = words[state.B_ORDINAL] * machine[state.WARPS] + index
    warp[state.W_GRID_NUMBER // 8] = words[state.B_NUMBER] * machine[state.WARPS] + index
    local = machine[state.LOCAL] + (place * machine[state.WARPS] + index) * machine[state.LOCAL_STRIDE] * 32
    warp[state.W_LOCAL // 8] = local
    bytes_at(local, machine[state.LOCAL_STRIDE] * 32)[:] = 0
    live = 0
    xs, ys, zs = (
        i32_at(w + state.W_TID, 32),
        i32_at(w + state.W_TID + 128, 32),
        i32_at(w + state.W_TID + 256, 32),
    )
    for lane in range(32):
        thread = index * 32 + lane
        pcs[lane] = state.EXITED
        xs[lane] = thread % machine[state.BLOCK_X]
        ys[lane] = thread // machine[state.BLOCK_X] % machine[state.BLOCK_Y]
        zs[lane] = thread // (machine[state.BLOCK_X] * machine[state.BLOCK_Y])
        if thread < machine[state.THREADS]:
            pcs[lane] = 0
            live |= 1 << lane
    u32_at(w + state.W_LIVE, 1)[0] = live
    start_specials(m, words[state.B_NUMBER], index, w)


def start_specials(m: int, number: int, index: int, w: int) -> None:
    """Write the special values of one warp."""
    machine = i64_at(m, state.MACHINE_WORDS)
    specials = i32_at(w + state.W_SPECIALS, state.SPECIAL_COUNT)
    copy(w + state.W_SPECIALS, machine[state.SPECIAL_TEMPLATE], 4 * state.SPECIAL_COUNT)
    x = number % machine[state.GRID_X]
    y = number // machine[state.GRID_X] % machine[state.GRID_Y]
    z = number // (machine[state.GRID_X] * machine[state.GRID_Y])
    cx, cy, cz = machine[state.CLUSTER_X], machine[state.CLUSTER_Y], machine[state.CLUSTER_Z]
    specials[state.S_CTAID], specials[state.S_CTAID + 1], specials[state.S_CTAID + 2] = x, y, z
    specials[state.S_WARPID] = index
    specials[state.S_SMID] = number % machine[state.SMS]
    specials[state.S_CLUSTERID], specials[state.S_CLUSTERID + 1], specials[state.S_CLUSTERID + 2] = (
        x // cx,
        y // cy,
        z // cz,
    )
    x, y, z = x % cx, y % cy, z % cz
    (
        specials[state.S_CLUSTER_CTAID],
        specials[state.S_CLUSTER_CTAID + 1],
        specials[state.S_CLUSTER_CTAID + 2],
    ) = x, y, z
    specials[state.S_CLUSTER_CTARANK] = x + cx * (y + cy * z)
