"""The hot loop: the warps of one SM, cycle by cycle, over the compiler's schedule.

Everything here is plain functions of arrays, so that it can be compiled (:mod:`.native`) and run as Python
too. Rules, after Huerta et al., "Dissecting and Modeling the Architecture of Modern GPU Cores" (MICRO 2025):

* A warp belongs to a sub-core. A sub-core issues one instruction per cycle: of the warp it issued last if
  that one is ready, else of the ready warp that waits longest in the oldest block that has one (or that waits
  longest of all, or is the oldest, or the youngest). Sub-cores take turns at the SM's pipes.
* A warp is ready when its stall count has passed, the scoreboards in its wait mask are zero and its next
  instruction is fetched; it issues when the instruction's pipe, queue and register banks take it.
* FP64 instructions of boards with few FP64 lanes queue with the memory instructions for the SM's pipe.
  Special functions and conversions pass the same queue in order: one waits before the unit, the next at the
  queue's head, where it holds back what comes behind (Nsight Compute has them in the MIO queue).
* A memory instruction goes through the sub-core's queue and address unit, then through the SM's load-store
  unit, whose cycles it takes by its wavefronts or lines. What misses L1 passes a port, L2 and DRAM, each a
  server with this SM's share of the rate; latency adds to the waiting.

A completion time is known when an instruction issues, so time jumps from event to event.
"""

from __future__ import annotations

from warpwatt.emulate.native.pointers import f64_at, f64_rows, i64_at, i64_rows
from warpwatt.models.pipeline import layout as c
from warpwatt.models.pipeline.front_end import fetch
from warpwatt.models.pipeline.memory_pipe import access_memory, complete, pass_queue
from warpwatt.models.pipeline.state import (
    B_ARRIVED,
    B_ASYNC_DONE,
    B_BLOCK,
    B_COPIER,
    B_LIVE,
    BOARDS,
    DEAD,
    DEBT_COLUMNS,
    LIVE,
    NAMED_BARRIERS,
    PARKED,
    R_SETTERS,
    R_TIMES,
    RING_COLUMNS,
    S_BANKED,
    S_BANKS,
    S_LAST,
    S_LENGTH,
    S_PIPES,
    S_QUEUE,
    S_QUEUED,
    S_WAKE,
    SEAT_COLUMNS,
    SLOT_COLUMNS,
    SUB_COLUMNS,
    T_DUE,
    T_MARK,
    T_PC,
    T_WARP,
    W_ACCESS,
    W_AFTER,
    W_BANKED,
    W_BARRIER_AT,
    W_BLOCK,
    W_BOARD_END,
    W_BOARD_REASON,
    W_BOARDS,
    W_COPIED,
    W_COPIER,
    W_COUNTS,
    W_FETCH_END,
    W_FROM,
    W_HELD,
    W_MARK,
    W_PC,
    W_READY,
    W_REASONS,
    W_SEAT,
    W_SETTERS,
    W_STALL_END,
    W_STATE,
    W_STEP,
    W_STREAM,
    W_UNIT_END,
    WARP_COLUMNS,
    Inputs,
    State,
)  # fmt: skip


def simulate(x: Inputs, s: State) -> None:
    """Run the blocks in line one after the other as slots fall free; count into ``s``."""
    for slot in range(min(x.numbers[c.RESIDENT], x.blocks.shape[0])):
        start_block(x, s, slot, 0)
    time = 0
    while time < c.NEVER:
        following = c.NEVER
        for sub in range(x.numbers[c.SUB_CORES]):
            if s.subs[sub, S_WAKE] <= time:
                chosen = choose(x, s, sub, time)
                if chosen >= 0:
                    s.subs[sub, S_WAKE] = time + 1
                    issue(x, s, sub, chosen, time)
        for sub in range(x.numbers[c.SUB_CORES]):
            following = min(following, s.subs[sub, S_WAKE])
        time = following
    s.results[c.END] = max(s.results[c.END], s.results[c.LAST_ISSUE])


def start_block(x: Inputs, s: State, slot: int, time: int) -> None:
    """Give the next block in line, if there is one, to a free slot, but not before its turn on the chip."""
    ordinal = s.shared_free[c.SHARED_PIPES]
    if ordinal >= x.blocks.shape[0]:
        return
    time = max(time, int(ordinal * x.rates[c.DISPATCH]))
    s.results[c.DISPATCH_BUSY] += x.rates[c.DISPATCH]
    s.shared_free[c.SHARED_PIPES] += 1
    count = x.numbers[c.WARPS_PER_BLOCK]
    s.slots[slot, B_BLOCK] = ordinal
    s.slots[slot, B_LIVE] = count
    s.slots[slot, B_ASYNC_DONE] = 0
    s.slots[slot, B_ARRIVED : B_ARRIVED + NAMED_BARRIERS] = 0
    for number in range(count):
        w = slot * count + number
        s.warps[w, W_STATE] = LIVE
        s.warps[w, W_STREAM] = x.blocks[ordinal] * count + number
        s.warps[w, W_STEP] = x.starts[s.warps[w, W_STREAM]]
        s.warps[w, W_ACCESS] = 0
        if s.warps[w, W_STEP] < x.starts[s.warps[w, W_STREAM] + 1]:
            s.warps[w, W_ACCESS] = x.steps[s.warps[w, W_STEP], 2]
        s.warps[w, W_PC] = -1
        s.warps[w, W_BLOCK] = slot
        s.warps[w, W_BOARDS : W_BOARDS + BOARDS] = 0
        s.warps[w, W_COUNTS : W_COUNTS + BOARDS] = 0
        s.warps[w, W_COPIED] = 0
        s.warps[w, W_BARRIER_AT] = -1
        sub = w % x.numbers[c.SUB_CORES]
        s.warps[w, W_SEAT] = sub * s.warps.shape[0] + s.subs[sub, S_LENGTH]
        s.seats[s.warps[w, W_SEAT], T_WARP] = w
        s.subs[sub, S_LENGTH] += 1
        begin = time + x.numbers[c.BLOCK_CYCLES] + number * x.numbers[c.WARP_CYCLES]
        s.warps[w, W_MARK] = begin
        advance(x, s, w, begin)  # every warp has a first instruction
        sit(s, w)
        s.subs[sub, S_WAKE] = min(s.subs[sub, S_WAKE], s.warps[w, W_READY])


def advance(x: Inputs, s: State, w: int, earliest: int) -> bool:
    """Move a warp to its next instruction and compute when it is ready; False if there is none.

    ``earliest`` is when its stall count has passed.
    """
    step, end = s.warps[w, W_STEP], x.starts[s.warps[w, W_STREAM] + 1]
    previous = s.warps[w, W_PC]
    pc = previous + 1
    if previous < 0:
        pc = x.steps[step, 0] if step < end else 0
    while step < end and pc >= x.steps[step, 1]:
        step += 1
        if step < end:
            pc = x.steps[step, 0]
            s.warps[w, W_ACCESS] = x.steps[step, 2]
    s.warps[w, W_STEP] = step
    if step >= end:
        return False
    s.warps[w, W_PC] = pc
    waiting = board_wait(x, s, w, pc)
    s.warps[w, W_STALL_END] = earliest
    s.warps[w, W_AFTER] = x.ints[previous, c.AFTER] if previous >= 0 else c.R_WAIT
    s.warps[w, W_BOARD_END] = waiting
    s.warps[w, W_UNIT_END] = s.warps[w, W_HELD] = s.warps[w, W_BANKED] = 0
    ready = max(earliest, waiting)
    s.warps[w, W_FETCH_END] = fetch(x, s, w, previous, pc, earliest)
    s.warps[w, W_READY] = max(ready, s.warps[w, W_FETCH_END])
    return True


def board_wait(x: Inputs, s: State, w: int, pc: int) -> int:
    """Return when all that instruction ``pc`` waits for has come, and note why and for whose result."""
    latest = 0
    mask = x.ints[pc, c.WAIT_MASK]
    kind = x.ints[pc, c.KIND]
    for board in range(c.SCOREBOARDS):
        if mask >> board & 1 and s.warps[w, W_BOARDS + board] > latest:
            latest = s.warps[w, W_BOARDS + board]
            s.warps[w, W_BOARD_REASON] = s.warps[w, W_REASONS + board]
            s.warps[w, W_FROM] = s.warps[w, W_SETTERS + board]
    if kind in (c.DEPBAR, c.GROUP_WAIT):
        board = x.ints[pc, c.SCOREBOARD]
        index = s.warps[w, W_COUNTS + board] - 1 - x.ints[pc, c.REMAINING]
        within = index >= 0 and index >= s.warps[w, W_COUNTS + board] - c.RING
        if within and s.rings[w, R_TIMES + board * c.RING + index % c.RING] > latest:
            latest = s.rings[w, R_TIMES + board * c.RING + index % c.RING]
            s.warps[w, W_BOARD_REASON] = s.warps[w, W_REASONS + board]
            s.warps[w, W_FROM] = s.rings[w, R_SETTERS + board * c.RING + index % c.RING]
    if kind == c.ASYNC_WAIT and s.slots[s.warps[w, W_BLOCK], B_ASYNC_DONE] > latest:
        latest = s.slots[s.warps[w, W_BLOCK], B_ASYNC_DONE]
        s.warps[w, W_BOARD_REASON] = c.R_LONG
        s.warps[w, W_FROM] = s.slots[s.warps[w, W_BLOCK], B_COPIER]
    return latest


def choose(x: Inputs, s: State, sub: int, time: int) -> int:
    """Return the warp that a sub-core issues now, or -1 and set when to look again."""
    last = s.subs[sub, S_LAST]
    if last >= 0 and s.warps[last, W_STATE] == LIVE and s.warps[last, W_READY] <= time:
        free = unit_free(x, s, sub, s.warps[last, W_PC])
        if free <= time:
            return int(last)
        hold(s, sub, last, time, free)
    again = c.NEVER
    first, length, policy = sub * s.warps.shape[0], s.subs[sub, S_LENGTH], x.numbers[c.ISSUE_ORDER]
    best, since = -1, c.NEVER
    asked, free = -1, 0  # warps often stand at the same instruction
    for position in range(length):
        seat = first + (length - 1 - position if policy == c.YOUNGEST else position)
        if best >= 0 and policy == c.OLDEST_BLOCK and block_at(s, seat) != s.warps[best, W_BLOCK]:
            return int(best)
        due = s.seats[seat, T_DUE]
        if due > time:
            again = min(again, due)
            continue
        if s.seats[seat, T_PC] != asked:
            asked = s.seats[seat, T_PC]
            free = unit_free(x, s, sub, asked)
        if free <= time:
            if policy in (c.OLDEST, c.YOUNGEST):
                return int(s.seats[seat, T_WARP])
            if s.seats[seat, T_MARK] < since:
                best, since = s.seats[seat, T_WARP], s.seats[seat, T_MARK]
            continue
        hold(s, sub, s.seats[seat, T_WARP], time, free)
        again = min(again, free)
    if best >= 0:
        return int(best)
    s.subs[sub, S_WAKE] = again
    return -1


def block_at(s: State, seat: int) -> int:
    """Return the slot of the block whose warp sits there; warps of a block sit side by side, oldest first."""
    return int(s.warps[s.seats[seat, T_WARP], W_BLOCK])


def sit(s: State, w: int) -> None:
    """Write into a warp's seat how it stands now."""
    seat = s.warps[w, W_SEAT]
    s.seats[seat, T_DUE] = s.warps[w, W_READY] if s.warps[w, W_STATE] == LIVE else c.NEVER
    s.seats[seat, T_PC] = s.warps[w, W_PC]
    s.seats[seat, T_MARK] = s.warps[w, W_MARK]


def hold(s: State, sub: int, w: int, time: int, free: int) -> None:
    """Count the cycles that a ready warp's unit or register banks, asked just now, keep it from issuing."""
    held = free - max(time, s.warps[w, W_UNIT_END])
    if held > 0:
        s.warps[w, W_HELD] += held
        if s.subs[sub, S_BANKED]:
            s.warps[w, W_BANKED] += held
        s.warps[w, W_UNIT_END] = free


def unit_free(x: Inputs, s: State, sub: int, pc: int) -> int:
    """Return when the units and register banks that an instruction needs can take it."""
    free = 0
    pipe, kind = x.ints[pc, c.PIPE], x.ints[pc, c.KIND]
    if pipe >= 0 and kind != c.QUEUED:
        free = s.subs[sub, S_PIPES + pipe]
        other = x.ints[pc, c.OTHER_PIPE]
        if other >= 0:
            free = min(free, s.subs[sub, S_PIPES + other])
    shared = x.ints[pc, c.SHARED_PIPE]
    if shared >= 0 and kind != c.QUEUED:
        free = max(free, s.shared_free[shared])
    if kind in (c.MEMORY, c.QUEUED) and s.subs[sub, S_QUEUED] >= x.numbers[c.QUEUE_DEPTH]:
        free = max(free, s.subs[sub, S_QUEUE + (s.subs[sub, S_QUEUED] - x.numbers[c.QUEUE_DEPTH]) % c.RING])
    s.subs[sub, S_BANKED] = 0
    for bank in range(2):
        reads = x.ints[pc, c.BANK0 + bank]
        if reads > 0 and s.subs[sub, S_BANKS + bank] + reads - x.numbers[c.READ_WINDOW] > free:
            free = s.subs[sub, S_BANKS + bank] + reads - x.numbers[c.READ_WINDOW]
            s.subs[sub, S_BANKED] = 1
    return free


def issue(x: Inputs, s: State, sub: int, w: int, time: int) -> None:
    """Issue the next instruction of a warp and move it on."""
    pc = s.warps[w, W_PC]
    charge(x, s, w, pc, time)
    take_units(x, s, sub, pc, time)
    s.subs[sub, S_LAST] = w
    s.results[c.ISSUED] += 1
    s.results[c.LAST_ISSUE] = time
    kind = x.ints[pc, c.KIND]
    if kind == c.MEMORY:
        access_memory(x, s, sub, w, pc, time)
    elif kind == c.QUEUED:
        pass_queue(x, s, sub, w, pc, time)
    elif kind == c.COPY_FENCE:
        complete(x, s, w, s.warps[w, W_COPIER], x.ints[pc, c.WRITE_BARRIER], max(time, s.warps[w, W_COPIED]))
    elif kind == c.GROUP:
        complete(x, s, w, pc, c.GROUP_BOARD, time + int(x.floats[pc, c.LATENCY]))
    else:
        complete(x, s, w, pc, x.ints[pc, c.WRITE_BARRIER], time + int(x.floats[pc, c.LATENCY]))
        complete(x, s, w, pc, x.ints[pc, c.READ_BARRIER], time + int(x.floats[pc, c.READ_LATENCY]))
    stall = max(1, x.ints[pc, c.STALL])
    if x.ints[pc, c.YIELD]:
        stall = max(2, stall)
    going = advance(x, s, w, time + stall)
    if kind in (c.BARRIER, c.ARRIVE):
        arrive(x, s, w, pc, time, kind == c.BARRIER and going)
    if going:
        sit(s, w)
    else:
        finish(x, s, w, time)
    if x.numbers[c.TURN] > 0 and int(s.results[c.ISSUED]) % x.numbers[c.TURN] == 0:
        for other in range(x.numbers[c.SUB_CORES]):
            take_turns(s, other)


def take_turns(s: State, sub: int) -> None:
    """Let the oldest block of a sub-core be its youngest, as if it had made room for another one."""
    first = sub * s.warps.shape[0]
    behind = first + s.subs[sub, S_LENGTH]
    moves = 0
    while first + moves < behind and block_at(s, first + moves) == block_at(s, first):
        moves += 1
    for _ in range(moves):
        w = s.seats[first, T_WARP]
        for seat in range(first, behind - 1):
            for column in range(SEAT_COLUMNS):
                s.seats[seat, column] = s.seats[seat + 1, column]
            s.warps[s.seats[seat, T_WARP], W_SEAT] = seat
        s.warps[w, W_SEAT] = behind - 1
        s.seats[behind - 1, T_WARP] = w
        sit(s, w)


def take_units(x: Inputs, s: State, sub: int, pc: int, time: int) -> None:
    """Occupy pipes and register banks."""
    pipe = x.ints[pc, c.PIPE]
    if pipe >= 0 and x.ints[pc, c.KIND] != c.QUEUED:
        other = x.ints[pc, c.OTHER_PIPE]
        if other >= 0 and s.subs[sub, S_PIPES + other] <= time:
            pipe = other
        s.subs[sub, S_PIPES + pipe] = time + x.ints[pc, c.INTERVAL]
        s.pipe_busy[pipe] += x.ints[pc, c.INTERVAL]
    shared = x.ints[pc, c.SHARED_PIPE]
    if shared >= 0 and x.ints[pc, c.KIND] != c.QUEUED:
        s.shared_free[shared] = max(s.shared_free[shared], time) + x.ints[pc, c.SHARED_INTERVAL]
        s.pipe_busy[c.PIPES + shared] += x.ints[pc, c.SHARED_INTERVAL]
    for bank in range(2):
        reads = x.ints[pc, c.BANK0 + bank]
        if reads > 0:
            s.subs[sub, S_BANKS + bank] = max(s.subs[sub, S_BANKS + bank], time) + reads


def arrive(x: Inputs, s: State, w: int, pc: int, time: int, waits: bool) -> None:
    """Count a warp at a block barrier and let all go if it was the last."""
    slot, number = s.warps[w, W_BLOCK], x.ints[pc, c.NUMBER]
    s.slots[slot, B_ARRIVED + number] += 1
    if waits:
        s.warps[w, W_STATE] = PARKED
        s.warps[w, W_BARRIER_AT] = pc
    release(x, s, slot, number, time, x.ints[pc, c.WARPS])


def release(x: Inputs, s: State, slot: int, number: int, time: int, wanted: int) -> None:
    """Let the warps at a barrier go if all have come. ``wanted`` 0: all live ones of the block."""
    arrived = s.slots[slot, B_ARRIVED + number]
    expected = s.slots[slot, B_LIVE]
    if wanted > 0:
        expected = min(expected, wanted)
    if arrived == 0 or arrived < expected:
        return
    s.slots[slot, B_ARRIVED + number] = 0
    count = x.numbers[c.WARPS_PER_BLOCK]
    for w in range(slot * count, slot * count + count):
        if s.warps[w, W_STATE] != PARKED or x.ints[s.warps[w, W_BARRIER_AT], c.NUMBER] != number:
            continue
        s.warps[w, W_STATE] = LIVE
        free = time + x.numbers[c.BARRIER_CYCLES]
        at = s.warps[w, W_BARRIER_AT]
        begin = max(s.warps[w, W_MARK], min(s.warps[w, W_STALL_END], free))
        s.stalls[at, c.R_WAIT] += begin - s.warps[w, W_MARK]
        s.stalls[at, c.R_BARRIER] += max(0, free - begin)
        s.results[c.WARP_CYCLES_SUM] += max(free, begin) - s.warps[w, W_MARK]
        s.warps[w, W_MARK] = max(free, begin)
        s.warps[w, W_STALL_END] = max(free, s.warps[w, W_STALL_END])
        s.warps[w, W_READY] = max(s.warps[w, W_READY], free)
        sit(s, w)
        sub = w % x.numbers[c.SUB_CORES]
        s.subs[sub, S_WAKE] = min(s.subs[sub, S_WAKE], max(time + 1, s.warps[w, W_READY]))


def charge(x: Inputs, s: State, w: int, pc: int, time: int) -> None:
    """Attribute the cycles since the warp's last issue to the instruction that issues now."""
    at = s.warps[w, W_MARK]
    s.results[c.WARP_CYCLES_SUM] += time + 1 - at
    until = min(time, s.warps[w, W_STALL_END])
    if until > at:
        s.stalls[pc, s.warps[w, W_AFTER]] += until - at
        at = until
    until = min(time, s.warps[w, W_BOARD_END])
    if until > at:
        s.stalls[pc, s.warps[w, W_BOARD_REASON]] += until - at
        blame(s, pc, s.warps[w, W_FROM], until - at)
        at = until
    until = min(time, s.warps[w, W_FETCH_END])
    if until > at:
        s.stalls[pc, c.R_NO_INSTRUCTION] += until - at
        at = until
    if time > at:
        s.stalls[pc, c.R_DISPATCH] += s.warps[w, W_BANKED]
        s.stalls[pc, x.ints[pc, c.THROTTLE]] += s.warps[w, W_HELD] - s.warps[w, W_BANKED]
        s.stalls[pc, c.R_NOT_SELECTED] += time - at - s.warps[w, W_HELD]
    s.stalls[pc, c.R_SELECTED] += 1
    s.warps[w, W_MARK] = time + 1


def blame(s: State, pc: int, producer: int, cycles: int) -> None:
    """Note for whose result instruction ``pc`` waited, as long as there is room."""
    for place in range(c.PRODUCERS):
        if s.producers[pc, place] == 0:
            s.producers[pc, place] = producer + 1
        if s.producers[pc, place] == producer + 1:
            s.awaited[pc, place] += cycles
            return


def finish(x: Inputs, s: State, w: int, time: int) -> None:
    """End a warp; the last of a block makes room for the next one."""
    s.warps[w, W_STATE] = DEAD
    slot = s.warps[w, W_BLOCK]
    sub = w % x.numbers[c.SUB_CORES]
    if s.subs[sub, S_LAST] == w:
        s.subs[sub, S_LAST] = -1
    s.subs[sub, S_LENGTH] -= 1
    for seat in range(s.warps[w, W_SEAT], sub * s.warps.shape[0] + s.subs[sub, S_LENGTH]):
        for column in range(SEAT_COLUMNS):
            s.seats[seat, column] = s.seats[seat + 1, column]
        s.warps[s.seats[seat, T_WARP], W_SEAT] = seat
    s.slots[slot, B_LIVE] -= 1
    if s.slots[slot, B_LIVE] == 0:
        s.block_end[s.slots[slot, B_BLOCK]] = time
        start_block(x, s, slot, time)
        return
    for number in range(NAMED_BARRIERS):
        release(x, s, slot, number, time, 0)


def simulate_at(arrays: int, count: int) -> int:
    """Simulate what stands at an address; return 0. For the compiler.

    ``arrays``: ``count`` rows (address, rows, columns) of the fields of :class:`Inputs` and :class:`State`.
    """
    at = i64_rows(arrays, count, 3)
    inputs = Inputs(
        i64_rows(at[0, 0], at[0, 1], c.INT_COLUMNS), f64_rows(at[1, 0], at[1, 1], c.FLOAT_COLUMNS),
        i64_at(at[2, 0], at[2, 1]), i64_rows(at[3, 0], at[3, 1], 3), i64_at(at[4, 0], at[4, 1]),
        f64_rows(at[5, 0], at[5, 1], 3), i64_at(at[6, 0], at[6, 1]), i64_at(at[7, 0], at[7, 1]),
        f64_at(at[8, 0], at[8, 1]),
    )  # fmt: skip
    state = State(
        i64_rows(at[9, 0], at[9, 1], WARP_COLUMNS), i64_rows(at[10, 0], at[10, 1], SUB_COLUMNS),
        i64_rows(at[11, 0], at[11, 1], SEAT_COLUMNS), i64_rows(at[12, 0], at[12, 1], at[12, 2]),
        i64_rows(at[13, 0], at[13, 1], SLOT_COLUMNS), i64_at(at[14, 0], at[14, 1]),
        f64_at(at[15, 0], at[15, 1]), f64_rows(at[16, 0], at[16, 1], DEBT_COLUMNS),
        f64_at(at[17, 0], at[17, 1]),
        f64_rows(at[18, 0], at[18, 1], at[18, 2]), i64_rows(at[19, 0], at[19, 1], c.PRODUCERS),
        f64_rows(at[20, 0], at[20, 1], c.PRODUCERS), i64_rows(at[21, 0], at[21, 1], RING_COLUMNS),
        i64_at(at[22, 0], at[22, 1]), f64_at(at[23, 0], at[23, 1]),
    )  # fmt: skip
    simulate(inputs, state)
    return 0
