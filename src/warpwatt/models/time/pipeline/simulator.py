"""The hot loop: the warps of one SM, cycle by cycle, over the compiler's schedule.

Everything here is plain functions of arrays, so that it can be compiled (:mod:`.native`) and run as Python
too. Rules, after Huerta et al., "Dissecting and Modeling the Architecture of Modern GPU Cores" (MICRO 2025):

* A warp belongs to a sub-core. A sub-core issues one instruction per cycle: of the warp it issued last if
  that one is ready, else of the oldest (or youngest) ready warp.
* A warp is ready when its stall count has passed, the scoreboards in its wait mask are zero and its next
  instruction is fetched; it issues when the instruction's pipe, queue and register banks take it.
* A memory instruction goes through the sub-core's queue and address unit, then through the SM's load-store
  unit, whose cycles it takes by its wavefronts or lines. What misses L1 passes a port, L2 and DRAM, each a
  server with this SM's share of the rate; latency adds to the waiting.

A completion time is known when an instruction issues, so time jumps from event to event.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from warpwatt.emulate.native.pointers import f64_at, f64_rows, i64_at, i64_rows
from warpwatt.models.time.pipeline.layout import (
    ADDRESS_CYCLES,
    ARRIVE,
    ASYNC_WAIT,
    ATOMIC,
    ATOMIC_BUSY,
    ATOMIC_READ,
    BACKLOG,
    BANK0,
    BARRIER,
    BARRIER_CYCLES,
    BLOCK_CYCLES,
    BULK,
    BURST,
    BURST_AFTER,
    COPY,
    COPY_FENCE,
    COST,
    DEPBAR,
    DRAM_BYTES,
    DRAM_BYTES_MOVED,
    DRAM_LATENCY,
    END,
    FETCH_LINE,
    GROUP,
    GROUP_BOARD,
    GROUP_WAIT,
    INTERVAL,
    ISSUED,
    KIND,
    L0_LINES,
    L0_MISS_CYCLES,
    L1_MISS,
    L1I_AHEAD,
    L1I_LINES,
    L1I_MISS_CYCLES,
    L2_BYTES,
    L2_BYTES_MOVED,
    L2_LATENCY,
    L2_MISS,
    LAST_ISSUE,
    LATENCY,
    LOAD_LINEAR,
    LOAD_QUEUE,
    LOAD_WINDOW,
    LSU_BUSY,
    MEMORY,
    NEVER,
    NOTHING,
    NUMBER,
    OFF_CYCLES,
    OTHER_PIPE,
    PIPE,
    PIPES,
    PORT_BYTES,
    PORT_BYTES_MOVED,
    QUEUE_DEPTH,
    R_BARRIER,
    R_LONG,
    R_NO_INSTRUCTION,
    R_NOT_SELECTED,
    R_SELECTED,
    R_WAIT,
    READ_BARRIER,
    READ_LATENCY,
    READ_WINDOW,
    REASON,
    REASONS,
    REMAINING,
    RESIDENT,
    RESULTS,
    RING,
    SCOREBOARD,
    SCOREBOARDS,
    SHARED_INTERVAL,
    SHARED_PIPE,
    SHARED_PIPES,
    STALL,
    SUB_CORES,
    THROTTLE,
    TRAFFIC,
    WAIT_MASK,
    WARP_CYCLES,
    WARP_CYCLES_SUM,
    WARPS,
    WARPS_PER_BLOCK,
    WRITE,
    WRITE_BARRIER,
    WRITE_PORT_BYTES,
    YIELD,
    YOUNGEST,
)  # fmt: skip

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]
    Floats = NDArray[np.float64]

LSU, PORT, WRITE_PORT, L2, DRAM, ATOMICS, LOAD, LOAD_TIME = range(8)
"""Entries of ``State.servers``: when each server is free; DRAM's recent load and when it was updated."""
DEAD, LIVE, PARKED = range(3)
BOARDS = SCOREBOARDS + 1
(W_STATE, W_READY, W_STREAM, W_STEP, W_PC, W_ACCESS, W_BLOCK, W_MARK, W_STALL_END, W_BOARD_END, W_BOARD_REASON,
 W_FETCH_END, W_UNIT_END, W_BARRIER_AT, W_COPIED) = range(15)  # fmt: skip
W_BOARDS, W_REASONS, W_COUNTS, W_RING = 15, 15 + BOARDS, 15 + 2 * BOARDS, 15 + 3 * BOARDS
WARP_COLUMNS = W_RING + BOARDS * RING
"""A warp: what it does, the cycle it is ready, its place in the streams; from ``MARK`` on when what it waits
for ends; per scoreboard the release time, its reason, how often it was set and the last release times."""
S_LAST, S_WAKE, S_LENGTH, S_QUEUED, S_ADDRESS_FREE, S_FETCHES, S_BANKS, S_PIPES = 0, 1, 2, 3, 4, 5, 6, 8
S_QUEUE = S_PIPES + PIPES
SUB_COLUMNS = S_QUEUE + RING
"""A sub-core: warp issued last, cycle to look again, live warps, queued memory instructions, then when
address unit, register banks, pipes and queue entries are free."""
B_LIVE, B_BLOCK, B_ASYNC_DONE, B_ARRIVED = range(4)
NAMED_BARRIERS = 16
"""A block slot: live warps, the block in it, end of its bulk copies, warps at each barrier."""


class Inputs(NamedTuple):
    """What is simulated."""

    ints: Ints
    floats: Floats
    """Instruction table, as :class:`~.table.InstructionTable`."""
    starts: Ints
    steps: Ints
    """As of :class:`~warpwatt.core.streams.WarpStreams`, possibly with steps left out."""
    access_instruction: Ints
    accesses: Floats
    """Rows (load-store cycles, sectors, lines)."""
    blocks: Ints
    """The sampled block in each place of the line."""
    numbers: Ints
    rates: Floats
    """Settings."""


class State(NamedTuple):
    """The SM at one moment, and what is being counted."""

    warps: Ints
    subs: Ints
    order: Ints
    """Per sub-core its live warps, oldest first."""
    fetched: Ints
    """Per line of code and sub-core: the fetch that brought it to L0; behind them the same for the SM's
    instruction cache, and when it came."""
    slots: Ints
    shared_free: Ints
    """When each SM-wide pipe is free; behind them the next block in line and the
    lines of code fetched so far."""
    servers: Floats
    debts: Floats
    """Per instruction: accesses that should have missed L1, and L2, but have not yet."""
    results: Floats
    """See ``layout.END`` and following."""
    stalls: Floats
    """Warp cycles by instruction and reason."""
    block_end: Ints
    """Cycle in which each block ended."""
    pipe_busy: Floats
    """Cycles taken: sub-core pipes (summed over sub-cores), then SM-wide ones."""


def simulate(x: Inputs, s: State) -> None:
    """Run the blocks in line one after the other as slots fall free; count into ``s``."""
    for slot in range(min(x.numbers[RESIDENT], x.blocks.shape[0])):
        start_block(x, s, slot, 0)
    time = 0
    while time < NEVER:
        following = NEVER
        for sub in range(x.numbers[SUB_CORES]):
            if s.subs[sub, S_WAKE] <= time:
                chosen = choose(x, s, sub, time)
                if chosen >= 0:
                    s.subs[sub, S_WAKE] = time + 1
                    issue(x, s, sub, chosen, time)
        for sub in range(x.numbers[SUB_CORES]):
            following = min(following, s.subs[sub, S_WAKE])
        time = following
    s.results[END] = max(s.results[END], s.results[LAST_ISSUE])


def start_block(x: Inputs, s: State, slot: int, time: int) -> None:
    """Give the next block in line, if there is one, to a free slot."""
    ordinal = s.shared_free[SHARED_PIPES]
    if ordinal >= x.blocks.shape[0]:
        return
    s.shared_free[SHARED_PIPES] += 1
    count = x.numbers[WARPS_PER_BLOCK]
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
        sub = w % x.numbers[SUB_CORES]
        s.order[sub, s.subs[sub, S_LENGTH]] = w
        s.subs[sub, S_LENGTH] += 1
        begin = time + x.numbers[BLOCK_CYCLES] + number * x.numbers[WARP_CYCLES]
        s.warps[w, W_MARK] = begin
        advance(x, s, w, begin)  # every warp has a first instruction
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
    s.warps[w, W_BOARD_END] = waiting
    s.warps[w, W_UNIT_END] = 0
    ready = max(earliest, waiting)
    s.warps[w, W_FETCH_END] = fetch(x, s, w, previous, pc, earliest)
    s.warps[w, W_READY] = max(ready, s.warps[w, W_FETCH_END])
    return True


def board_wait(x: Inputs, s: State, w: int, pc: int) -> int:
    """Return when all that instruction ``pc`` waits for has come, and note for which kind it waits longest."""
    latest = 0
    mask = x.ints[pc, WAIT_MASK]
    kind = x.ints[pc, KIND]
    for board in range(SCOREBOARDS):
        if mask >> board & 1 and s.warps[w, W_BOARDS + board] > latest:
            latest = s.warps[w, W_BOARDS + board]
            s.warps[w, W_BOARD_REASON] = s.warps[w, W_REASONS + board]
    if kind in (DEPBAR, GROUP_WAIT):
        board = x.ints[pc, SCOREBOARD]
        index = s.warps[w, W_COUNTS + board] - 1 - x.ints[pc, REMAINING]
        if index >= 0 and index >= s.warps[w, W_COUNTS + board] - RING:
            if s.warps[w, W_RING + board * RING + index % RING] > latest:
                latest = s.warps[w, W_RING + board * RING + index % RING]
                s.warps[w, W_BOARD_REASON] = s.warps[w, W_REASONS + board]
    if kind == ASYNC_WAIT and s.slots[s.warps[w, W_BLOCK], B_ASYNC_DONE] > latest:
        latest = s.slots[s.warps[w, W_BLOCK], B_ASYNC_DONE]
        s.warps[w, W_BOARD_REASON] = R_LONG
    return latest


def fetch(x: Inputs, s: State, w: int, previous: int, pc: int, earliest: int) -> int:
    """Return when instruction ``pc`` is in the buffer.

    At once from the sub-core's L0 cache, and from the SM's if it follows the last line (prefetched).
    """
    line = x.ints[pc, FETCH_LINE]
    if previous >= 0 and x.ints[previous, FETCH_LINE] == line:
        return 0
    sub = w % x.numbers[SUB_CORES]
    if s.subs[sub, S_FETCHES] - s.fetched[sub, line] < x.numbers[L0_LINES]:
        return 0
    s.fetched[sub, line] = s.subs[sub, S_FETCHES]
    s.subs[sub, S_FETCHES] += 1
    arrival = from_l1_5(x, s, line, earliest)
    if previous < 0 or previous + 1 == pc:
        return arrival
    return max(arrival, earliest + x.numbers[L0_MISS_CYCLES])


def from_l1_5(x: Inputs, s: State, line: int, time: int) -> int:
    """Return when the SM's instruction cache has a line; on a miss L2 is asked for it and those behind it."""
    cache = x.numbers[SUB_CORES]  # its row, behind those of the sub-cores
    loaded = s.shared_free[SHARED_PIPES + 1]
    if loaded - s.fetched[cache, line] >= x.numbers[L1I_LINES]:
        s.fetched[cache, line] = loaded
        s.fetched[cache + 1, line] = time + x.numbers[L1I_MISS_CYCLES]
        loaded += 1
    for ahead in range(line + 1, min(line + 1 + x.numbers[L1I_AHEAD], s.fetched.shape[1])):
        if loaded - s.fetched[cache, ahead] >= x.numbers[L1I_LINES]:
            s.fetched[cache, ahead] = loaded
            s.fetched[cache + 1, ahead] = time + x.numbers[L1I_MISS_CYCLES]
            loaded += 1
    s.shared_free[SHARED_PIPES + 1] = loaded
    return s.fetched[cache + 1, line]


def choose(x: Inputs, s: State, sub: int, time: int) -> int:
    """Return the warp that a sub-core issues now, or -1 and set when to look again."""
    last = s.subs[sub, S_LAST]
    if last >= 0 and s.warps[last, W_STATE] == LIVE and s.warps[last, W_READY] <= time:
        free = unit_free(x, s, sub, s.warps[last, W_PC])
        if free <= time:
            return last
        s.warps[last, W_UNIT_END] = free
    again = NEVER
    length = s.subs[sub, S_LENGTH]
    for position in range(length):
        w = s.order[sub, length - 1 - position if x.numbers[YOUNGEST] else position]
        if s.warps[w, W_STATE] != LIVE:
            continue
        if s.warps[w, W_READY] > time:
            again = min(again, s.warps[w, W_READY])
            continue
        free = unit_free(x, s, sub, s.warps[w, W_PC])
        if free <= time:
            return w
        s.warps[w, W_UNIT_END] = free
        again = min(again, free)
    s.subs[sub, S_WAKE] = again
    return -1


def unit_free(x: Inputs, s: State, sub: int, pc: int) -> int:
    """Return when the units and register banks that an instruction needs can take it."""
    free = 0
    pipe = x.ints[pc, PIPE]
    if pipe >= 0:
        free = s.subs[sub, S_PIPES + pipe]
        other = x.ints[pc, OTHER_PIPE]
        if other >= 0:
            free = min(free, s.subs[sub, S_PIPES + other])
    shared = x.ints[pc, SHARED_PIPE]
    if shared >= 0:
        free = max(free, s.shared_free[shared])
    if x.ints[pc, KIND] == MEMORY and s.subs[sub, S_QUEUED] >= x.numbers[QUEUE_DEPTH]:
        free = max(free, s.subs[sub, S_QUEUE + (s.subs[sub, S_QUEUED] - x.numbers[QUEUE_DEPTH]) % RING])
    for bank in range(2):
        reads = x.ints[pc, BANK0 + bank]
        if reads > 0:
            free = max(free, s.subs[sub, S_BANKS + bank] + reads - x.numbers[READ_WINDOW])
    return free


def issue(x: Inputs, s: State, sub: int, w: int, time: int) -> None:
    """Issue the next instruction of a warp and move it on."""
    pc = s.warps[w, W_PC]
    charge(x, s, w, pc, time)
    take_units(x, s, sub, pc, time)
    s.subs[sub, S_LAST] = w
    s.results[ISSUED] += 1
    s.results[LAST_ISSUE] = time
    kind = x.ints[pc, KIND]
    if kind == MEMORY:
        access_memory(x, s, sub, w, pc, time)
    elif kind == COPY_FENCE:
        complete(x, s, w, pc, x.ints[pc, WRITE_BARRIER], max(time, s.warps[w, W_COPIED]))
    elif kind == GROUP:
        complete(x, s, w, pc, GROUP_BOARD, time + int(x.floats[pc, LATENCY]))
    else:
        complete(x, s, w, pc, x.ints[pc, WRITE_BARRIER], time + int(x.floats[pc, LATENCY]))
        complete(x, s, w, pc, x.ints[pc, READ_BARRIER], time + int(x.floats[pc, READ_LATENCY]))
    stall = max(1, x.ints[pc, STALL])
    if x.ints[pc, YIELD]:
        stall = max(2, stall)
    going = advance(x, s, w, time + stall)
    if kind in (BARRIER, ARRIVE):
        arrive(x, s, w, pc, time, kind == BARRIER and going)
    if not going:
        finish(x, s, w, time)


def take_units(x: Inputs, s: State, sub: int, pc: int, time: int) -> None:
    """Occupy pipes and register banks."""
    pipe = x.ints[pc, PIPE]
    if pipe >= 0:
        other = x.ints[pc, OTHER_PIPE]
        if other >= 0 and s.subs[sub, S_PIPES + other] <= time:
            pipe = other
        s.subs[sub, S_PIPES + pipe] = time + x.ints[pc, INTERVAL]
        s.pipe_busy[pipe] += x.ints[pc, INTERVAL]
    shared = x.ints[pc, SHARED_PIPE]
    if shared >= 0:
        s.shared_free[shared] = max(s.shared_free[shared], time) + x.ints[pc, SHARED_INTERVAL]
        s.pipe_busy[PIPES + shared] += x.ints[pc, SHARED_INTERVAL]
    for bank in range(2):
        reads = x.ints[pc, BANK0 + bank]
        if reads > 0:
            s.subs[sub, S_BANKS + bank] = max(s.subs[sub, S_BANKS + bank], time) + reads


def complete(x: Inputs, s: State, w: int, pc: int, board: int, time: int) -> None:
    """Let a scoreboard (-1: none) of a warp be released at ``time``."""
    if board < 0:
        return
    if time > s.warps[w, W_BOARDS + board]:
        s.warps[w, W_BOARDS + board] = time
        s.warps[w, W_REASONS + board] = x.ints[pc, REASON]
    s.warps[w, W_RING + board * RING + s.warps[w, W_COUNTS + board] % RING] = s.warps[w, W_BOARDS + board]
    s.warps[w, W_COUNTS + board] += 1


def access_memory(x: Inputs, s: State, sub: int, w: int, pc: int, time: int) -> None:
    """Send one memory instruction down the pipe and set when its scoreboards fall."""
    cursor = s.warps[w, W_ACCESS]
    silent = cursor >= x.access_instruction.shape[0] or x.access_instruction[cursor] != pc
    sends = x.ints[pc, TRAFFIC] != NOTHING
    cost, sectors, lines = x.floats[pc, COST], 0.0, 0.0
    if not silent:
        s.warps[w, W_ACCESS] = cursor + 1
        cost, sectors, lines = x.accesses[cursor, 0], x.accesses[cursor, 1], x.accesses[cursor, 2]
    elif sends or x.floats[pc, COST] < 0:
        cost = 0.0
    addressed = max(time, s.subs[sub, S_ADDRESS_FREE])
    s.subs[sub, S_ADDRESS_FREE] = addressed + x.numbers[ADDRESS_CYCLES]
    accepted = max(float(addressed), s.servers[LSU])
    if sends and not silent:
        accepted = max(accepted, s.servers[L2] - x.rates[BACKLOG], s.servers[DRAM] - x.rates[BACKLOG])
    s.servers[LSU] = accepted + cost
    s.results[LSU_BUSY] += cost
    s.subs[sub, S_QUEUE + s.subs[sub, S_QUEUED] % RING] = math.ceil(accepted)
    s.subs[sub, S_QUEUED] += 1
    extra = max(0.0, cost - abs(x.floats[pc, COST]))
    done = accepted + x.floats[pc, LATENCY] + extra
    if silent and (sends or x.floats[pc, COST] < 0):
        done = accepted + x.numbers[OFF_CYCLES]
    elif sends:
        done = max(done, beyond(x, s, pc, accepted + extra, sectors, lines))
    when = math.ceil(done)
    traffic = x.ints[pc, TRAFFIC]
    if traffic == COPY:
        s.warps[w, W_COPIED] = max(s.warps[w, W_COPIED], when)
    elif traffic == BULK:
        s.slots[s.warps[w, W_BLOCK], B_ASYNC_DONE] = max(s.slots[s.warps[w, W_BLOCK], B_ASYNC_DONE], when)
    complete(x, s, w, pc, x.ints[pc, WRITE_BARRIER], when)
    read = math.ceil(accepted + extra + x.floats[pc, READ_LATENCY])
    complete(x, s, w, pc, x.ints[pc, READ_BARRIER], read)
    s.results[END] = max(s.results[END], float(when))


def beyond(x: Inputs, s: State, pc: int, time: float, sectors: float, lines: float) -> float:
    """Move what misses L1 through port, L2 and DRAM; return when the data is back (0 if all hit)."""
    missing = missed(s.debts, pc, 0, x.floats[pc, L1_MISS], sectors, lines)
    if missing <= 0.0:
        return 0.0
    traffic = x.ints[pc, TRAFFIC]
    size = 32.0 * missing
    port, rate = PORT, x.rates[PORT_BYTES]
    if traffic == WRITE:
        port, rate = WRITE_PORT, x.rates[WRITE_PORT_BYTES]
    start = max(time, s.servers[port])
    s.servers[port] = start + size / rate
    s.results[PORT_BYTES_MOVED] += size
    if traffic == ATOMIC_READ and x.floats[pc, ATOMIC] > 0:
        start = max(start, s.servers[ATOMICS])
        s.servers[ATOMICS] = start + x.floats[pc, ATOMIC]
        s.results[ATOMIC_BUSY] += x.floats[pc, ATOMIC]
    start = max(start, s.servers[L2])
    s.servers[L2] = start + size / x.rates[L2_BYTES]
    s.results[L2_BYTES_MOVED] += size
    done = start + x.floats[pc, L2_LATENCY] + size / rate
    further = missed(s.debts, pc, 1, x.floats[pc, L2_MISS], missing, max(1.0, lines * missing / sectors))
    if further > 0.0:
        done = max(done, from_dram(x, s, pc, start, 32.0 * further))
    return done


def missed(debts: Floats, pc: int, level: int, rate: float, sectors: float, lines: float) -> float:
    """Return how many of an access's sectors miss.

    Whole accesses hit or miss, in turns such that the share comes out right; lines miss independently.
    """
    if rate >= 1.0:
        return sectors
    if rate <= 0.0 or sectors <= 0.0:
        return 0.0
    share = rate if lines <= 1.0 else 1.0 - (1.0 - rate) ** lines
    debts[pc, level] += share
    if debts[pc, level] < 1.0:
        return 0.0
    debts[pc, level] -= 1.0
    return sectors * rate / share


def from_dram(x: Inputs, s: State, pc: int, time: float, size: float) -> float:
    """Queue at DRAM; return when the data is back. Latency grows with DRAM's recent load."""
    service = size / x.rates[DRAM_BYTES]
    s.servers[DRAM] = max(time, s.servers[DRAM]) + service
    smooth = x.rates[BURST] * min(1.0, time / x.rates[BURST_AFTER])
    start = max(time, s.servers[DRAM] - service - smooth)
    s.results[DRAM_BYTES_MOVED] += size
    window = x.rates[LOAD_WINDOW]
    passed = max(0.0, start - s.servers[LOAD_TIME])
    load = s.servers[LOAD] * math.exp(-passed / window) + service / window
    s.servers[LOAD] = load
    s.servers[LOAD_TIME] = start
    load = min(load, 0.95)
    slower = x.rates[LOAD_LINEAR] * load + x.rates[LOAD_QUEUE] * load / (1.0 - load)
    return start + x.floats[pc, DRAM_LATENCY] + slower


def arrive(x: Inputs, s: State, w: int, pc: int, time: int, waits: bool) -> None:
    """Count a warp at a block barrier and let all go if it was the last."""
    slot, number = s.warps[w, W_BLOCK], x.ints[pc, NUMBER]
    s.slots[slot, B_ARRIVED + number] += 1
    if waits:
        s.warps[w, W_STATE] = PARKED
        s.warps[w, W_BARRIER_AT] = pc
    release(x, s, slot, number, time, x.ints[pc, WARPS])


def release(x: Inputs, s: State, slot: int, number: int, time: int, wanted: int) -> None:
    """Let the warps at a barrier go if all have come. ``wanted`` 0: all live ones of the block."""
    arrived = s.slots[slot, B_ARRIVED + number]
    expected = s.slots[slot, B_LIVE]
    if wanted > 0:
        expected = min(expected, wanted)
    if arrived == 0 or arrived < expected:
        return
    s.slots[slot, B_ARRIVED + number] = 0
    count = x.numbers[WARPS_PER_BLOCK]
    for w in range(slot * count, slot * count + count):
        if s.warps[w, W_STATE] != PARKED or x.ints[s.warps[w, W_BARRIER_AT], NUMBER] != number:
            continue
        s.warps[w, W_STATE] = LIVE
        free = time + x.numbers[BARRIER_CYCLES]
        at = s.warps[w, W_BARRIER_AT]
        begin = max(s.warps[w, W_MARK], min(s.warps[w, W_STALL_END], free))
        s.stalls[at, R_WAIT] += begin - s.warps[w, W_MARK]
        s.stalls[at, R_BARRIER] += max(0, free - begin)
        s.results[WARP_CYCLES_SUM] += max(free, begin) - s.warps[w, W_MARK]
        s.warps[w, W_MARK] = max(free, begin)
        s.warps[w, W_STALL_END] = max(free, s.warps[w, W_STALL_END])
        s.warps[w, W_READY] = max(s.warps[w, W_READY], free)
        sub = w % x.numbers[SUB_CORES]
        s.subs[sub, S_WAKE] = min(s.subs[sub, S_WAKE], max(time + 1, s.warps[w, W_READY]))


def charge(x: Inputs, s: State, w: int, pc: int, time: int) -> None:
    """Attribute the cycles since the warp's last issue to the instruction that issues now."""
    at = s.warps[w, W_MARK]
    s.results[WARP_CYCLES_SUM] += time + 1 - at
    until = min(time, s.warps[w, W_STALL_END])
    if until > at:
        s.stalls[pc, R_WAIT] += until - at
        at = until
    until = min(time, s.warps[w, W_BOARD_END])
    if until > at:
        s.stalls[pc, s.warps[w, W_BOARD_REASON]] += until - at
        at = until
    until = min(time, s.warps[w, W_FETCH_END])
    if until > at:
        s.stalls[pc, R_NO_INSTRUCTION] += until - at
        at = until
    until = min(time, s.warps[w, W_UNIT_END])
    if until > at:
        s.stalls[pc, x.ints[pc, THROTTLE]] += until - at
        at = until
    if time > at:
        s.stalls[pc, R_NOT_SELECTED] += time - at
    s.stalls[pc, R_SELECTED] += 1
    s.warps[w, W_MARK] = time + 1


def finish(x: Inputs, s: State, w: int, time: int) -> None:
    """End a warp; the last of a block makes room for the next one."""
    s.warps[w, W_STATE] = DEAD
    slot = s.warps[w, W_BLOCK]
    sub = w % x.numbers[SUB_CORES]
    position = 0
    while s.order[sub, position] != w:
        position += 1
    if s.subs[sub, S_LAST] == w:
        s.subs[sub, S_LAST] = -1
    s.subs[sub, S_LENGTH] -= 1
    for later in range(position, s.subs[sub, S_LENGTH]):
        s.order[sub, later] = s.order[sub, later + 1]
    s.slots[slot, B_LIVE] -= 1
    if s.slots[slot, B_LIVE] == 0:
        s.block_end[s.slots[slot, B_BLOCK]] = time
        start_block(x, s, slot, time)
        return
    for number in range(NAMED_BARRIERS):
        release(x, s, slot, number, time, 0)


def new_state(inputs: Inputs) -> State:
    """Return an idle SM that has counted nothing."""
    numbers, instructions = inputs.numbers, len(inputs.ints)
    subs, resident = int(numbers[SUB_CORES]), int(numbers[RESIDENT])
    slots = resident * int(numbers[WARPS_PER_BLOCK])
    lines = int(inputs.ints[:, FETCH_LINE].max()) + 1
    state = State(
        warps=np.zeros((slots, WARP_COLUMNS), np.int64),
        subs=np.zeros((subs, SUB_COLUMNS), np.int64),
        order=np.zeros((subs, slots), np.int64),
        fetched=np.full((subs + 2, lines), -NEVER, np.int64),
        slots=np.zeros((resident, B_ARRIVED + NAMED_BARRIERS), np.int64),
        shared_free=np.zeros(SHARED_PIPES + 2, np.int64),
        servers=np.zeros(8),
        debts=np.full((instructions, 2), 0.5),
        results=np.zeros(RESULTS),
        stalls=np.zeros((instructions, len(REASONS))),
        block_end=np.zeros(len(inputs.blocks), np.int64),
        pipe_busy=np.zeros(PIPES + SHARED_PIPES),
    )
    state.subs[:, S_LAST] = -1
    return state


def simulate_at(arrays: int, count: int) -> int:
    """Simulate what stands at an address; return 0. For the compiler.

    ``arrays``: ``count`` rows (address, rows, columns) of the fields of :class:`Inputs` and :class:`State`.
    """
    at = i64_rows(arrays, count, 3)
    inputs = Inputs(
        i64_rows(at[0, 0], at[0, 1], at[0, 2]), f64_rows(at[1, 0], at[1, 1], at[1, 2]),
        i64_at(at[2, 0], at[2, 1]), i64_rows(at[3, 0], at[3, 1], at[3, 2]), i64_at(at[4, 0], at[4, 1]),
        f64_rows(at[5, 0], at[5, 1], at[5, 2]), i64_at(at[6, 0], at[6, 1]), i64_at(at[7, 0], at[7, 1]),
        f64_at(at[8, 0], at[8, 1]),
    )  # fmt: skip
    state = State(
        i64_rows(at[9, 0], at[9, 1], at[9, 2]), i64_rows(at[10, 0], at[10, 1], at[10, 2]),
        i64_rows(at[11, 0], at[11, 1], at[11, 2]), i64_rows(at[12, 0], at[12, 1], at[12, 2]),
        i64_rows(at[13, 0], at[13, 1], at[13, 2]), i64_at(at[14, 0], at[14, 1]), f64_at(at[15, 0], at[15, 1]),
        f64_rows(at[16, 0], at[16, 1], at[16, 2]), f64_at(at[17, 0], at[17, 1]),
        f64_rows(at[18, 0], at[18, 1], at[18, 2]), i64_at(at[19, 0], at[19, 1]), f64_at(at[20, 0], at[20, 1]),
    )  # fmt: skip
    simulate(inputs, state)
    return 0
