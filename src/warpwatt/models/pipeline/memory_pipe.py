"""The memory pipe of the simulated SM: queue, address unit, load-store unit, then port, L2 and DRAM."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from warpwatt.models.pipeline import layout as c
from warpwatt.models.pipeline.state import (
    ATOMICS,
    B_ASYNC_DONE,
    B_COPIER,
    DRAM,
    L2,
    LOAD,
    LOAD_TIME,
    LSU,
    PORT,
    R_SETTERS,
    R_TIMES,
    S_ADDRESS_FREE,
    S_BEGUN,
    S_PIPES,
    S_QUEUE,
    S_QUEUED,
    W_ACCESS,
    W_BLOCK,
    W_BOARDS,
    W_COPIED,
    W_COPIER,
    W_COUNTS,
    W_REASONS,
    W_SETTERS,
    WRITE_PORT,
)  # fmt: skip

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from warpwatt.models.pipeline.state import Inputs, State

    Floats = NDArray[np.float64]


def access_memory(x: Inputs, s: State, sub: int, w: int, pc: int, time: int) -> None:
    """Send one memory instruction down the pipe and set when its scoreboards fall."""
    cursor = s.warps[w, W_ACCESS]
    silent = cursor >= x.access_instruction.shape[0] or x.access_instruction[cursor] != pc
    sends = x.ints[pc, c.TRAFFIC] != c.NOTHING
    cost, sectors, lines = x.floats[pc, c.COST], 0.0, 0.0
    if not silent:
        s.warps[w, W_ACCESS] = cursor + 1
        cost, sectors, lines = x.accesses[cursor, 0], x.accesses[cursor, 1], x.accesses[cursor, 2]
    elif sends or x.floats[pc, c.COST] < 0:
        cost = 0.0
    addressed = max(time, s.subs[sub, S_ADDRESS_FREE])
    s.subs[sub, S_ADDRESS_FREE] = addressed + x.numbers[c.ADDRESS_CYCLES]
    accepted = float(addressed)
    if cost > 0.0 or silent:  # else from the sub-core's own constant cache
        accepted = max(accepted, s.servers[LSU])
        if sends and not silent:
            accepted = max(accepted, s.servers[L2] - x.rates[c.BACKLOG], s.servers[DRAM] - x.rates[c.BACKLOG])
        s.servers[LSU] = accepted + cost
    s.results[c.LSU_BUSY] += cost
    if sends:
        s.results[c.L1_BUSY] += cost
    elif x.floats[pc, c.COST] < 0:
        s.results[c.SHARED_BUSY] += cost
    s.subs[sub, S_QUEUE + s.subs[sub, S_QUEUED] % c.RING] = math.ceil(accepted)
    s.subs[sub, S_QUEUED] += 1
    extra = max(0.0, cost - abs(x.floats[pc, c.COST]))
    done = accepted + x.floats[pc, c.LATENCY] + extra
    if silent and (sends or x.floats[pc, c.COST] < 0):
        done = accepted + x.numbers[c.OFF_CYCLES]
    elif sends:
        done = max(done, arrival(x, s, pc, accepted + extra, sectors, lines))
    when = math.ceil(done)
    traffic = x.ints[pc, c.TRAFFIC]
    slot = s.warps[w, W_BLOCK]
    if traffic == c.COPY and when > s.warps[w, W_COPIED]:
        s.warps[w, W_COPIED], s.warps[w, W_COPIER] = when, pc
    elif traffic == c.BULK and when > s.slots[slot, B_ASYNC_DONE]:
        s.slots[slot, B_ASYNC_DONE], s.slots[slot, B_COPIER] = when, pc
    complete(x, s, w, pc, x.ints[pc, c.WRITE_BARRIER], when)
    read = math.ceil(accepted + extra + x.floats[pc, c.READ_LATENCY])
    complete(x, s, w, pc, x.ints[pc, c.READ_BARRIER], read)
    s.results[c.END] = max(s.results[c.END], float(when))


def arrival(x: Inputs, s: State, pc: int, time: float, sectors: float, lines: float) -> float:
    """Return when the data arrives in L1, 0 if it is there: some hits wait for what another warp has missed.

    That is the last miss of the same instruction, since warps that share a line ask for it in turn. Where it
    has arrived, this access is the first of its turn: it misses, and a later one hits in its place.
    """
    debt = s.debts[pc, 0]
    found = beyond(x, s, pc, time, sectors, lines)
    if found == 0.0:
        s.debts[pc, 2] += x.floats[pc, c.IN_FLIGHT]
        if s.debts[pc, 2] < 1.0:
            return 0.0
        s.debts[pc, 2] -= 1.0
        if s.debts[pc, 3] > time or debt < 0.0 or x.floats[pc, c.L1_MISS] <= 0.0:
            return float(s.debts[pc, 3])
        s.debts[pc, 0] = debt + 1.0
        found = beyond(x, s, pc, time, sectors, lines)
        s.debts[pc, 0] -= 1.0
    s.debts[pc, 3] = found
    return found


def pass_queue(x: Inputs, s: State, sub: int, w: int, pc: int, time: int) -> None:
    """Send an instruction of a pipe behind the queue down it; the pipe takes them as they come."""
    shared, pipe = x.ints[pc, c.SHARED_PIPE], x.ints[pc, c.PIPE]
    addressed = max(time, s.subs[sub, S_ADDRESS_FREE])
    if shared >= 0:
        s.subs[sub, S_ADDRESS_FREE] = addressed + x.numbers[c.ADDRESS_CYCLES]
        leaves = accepted = max(addressed, s.shared_free[shared])
        s.shared_free[shared] = accepted + x.ints[pc, c.SHARED_INTERVAL]
        s.pipe_busy[c.PIPES + shared] += x.ints[pc, c.SHARED_INTERVAL]
    else:
        leaves = max(addressed, s.subs[sub, S_BEGUN])  # when the one before the unit has gone in
        accepted = max(leaves, s.subs[sub, S_PIPES + pipe])
        s.subs[sub, S_ADDRESS_FREE], s.subs[sub, S_BEGUN] = leaves + 1, accepted
        s.subs[sub, S_PIPES + pipe] = accepted + x.ints[pc, c.INTERVAL]
        s.pipe_busy[pipe] += x.ints[pc, c.INTERVAL]
    s.subs[sub, S_QUEUE + s.subs[sub, S_QUEUED] % c.RING] = leaves
    s.subs[sub, S_QUEUED] += 1
    done = accepted + int(x.floats[pc, c.LATENCY])
    complete(x, s, w, pc, x.ints[pc, c.WRITE_BARRIER], done)
    complete(x, s, w, pc, x.ints[pc, c.READ_BARRIER], accepted + int(x.floats[pc, c.READ_LATENCY]))
    s.results[c.END] = max(s.results[c.END], float(done))


def beyond(x: Inputs, s: State, pc: int, time: float, sectors: float, lines: float) -> float:
    """Move what misses L1 through port, L2 and DRAM; return when the data is back (0 if all hit)."""
    missing = missed(s.debts, pc, 0, x.floats[pc, c.L1_MISS], sectors, lines)
    if missing <= 0.0:
        return 0.0
    traffic = x.ints[pc, c.TRAFFIC]
    size = 32.0 * missing
    port, rate = PORT, x.rates[c.PORT_BYTES]
    if traffic == c.WRITE:
        port, rate = WRITE_PORT, x.rates[c.WRITE_PORT_BYTES]
    start = max(time, s.servers[port])
    s.servers[port] = start + size / rate
    s.results[c.PORT_BYTES_MOVED] += size
    if traffic == c.ATOMIC_READ and x.floats[pc, c.ATOMIC] > 0:
        start = max(start, s.servers[ATOMICS])
        s.servers[ATOMICS] = start + x.floats[pc, c.ATOMIC]
        s.results[c.ATOMIC_BUSY] += x.floats[pc, c.ATOMIC]
    start = max(start, s.servers[L2])
    s.servers[L2] = start + size / x.rates[c.L2_BYTES]
    s.results[c.L2_BYTES_MOVED] += size
    done = start + x.floats[pc, c.L2_LATENCY] + size / rate
    further = missed(s.debts, pc, 1, x.floats[pc, c.L2_MISS], missing, max(1.0, lines * missing / sectors))
    if further > 0.0:
        done = max(done, from_dram(x, s, pc, start, 32.0 * further * x.floats[pc, c.DRAM_TIMES]))
    return float(done)


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
    service = size / x.rates[c.DRAM_BYTES]
    s.servers[DRAM] = max(time, s.servers[DRAM]) + service
    smooth = x.rates[c.BURST] * min(1.0, time / x.rates[c.BURST_AFTER])
    start = max(time, s.servers[DRAM] - service - smooth)
    s.results[c.DRAM_BYTES_MOVED] += size
    window = x.rates[c.LOAD_WINDOW]
    passed = max(0.0, start - s.servers[LOAD_TIME])
    load = s.servers[LOAD] * math.exp(-passed / window) + service / window
    s.servers[LOAD] = load
    s.servers[LOAD_TIME] = start
    load = min(load, 0.95)
    slower = x.rates[c.LOAD_LINEAR] * load + x.rates[c.LOAD_QUEUE] * load / (1.0 - load)
    return float(start + x.floats[pc, c.DRAM_LATENCY] + slower)


def complete(x: Inputs, s: State, w: int, pc: int, board: int, time: int) -> None:
    """Let a scoreboard (-1: none) of a warp be released at ``time``."""
    if board < 0:
        return
    if time > s.warps[w, W_BOARDS + board]:
        s.warps[w, W_BOARDS + board] = time
        s.warps[w, W_REASONS + board] = x.ints[pc, c.REASON]
        s.warps[w, W_SETTERS + board] = pc
    if s.rings.shape[0] > 0:
        place = board * c.RING + s.warps[w, W_COUNTS + board] % c.RING
        s.rings[w, R_TIMES + place] = s.warps[w, W_BOARDS + board]
        s.rings[w, R_SETTERS + place] = s.warps[w, W_SETTERS + board]
        s.warps[w, W_COUNTS + board] += 1
