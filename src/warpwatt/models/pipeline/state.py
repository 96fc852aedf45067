"""The state of the simulated SM as arrays: what :mod:`.simulator` reads and changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from warpwatt.models.pipeline import layout as c

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]
    Floats = NDArray[np.float64]

LSU, PORT, WRITE_PORT, L2, DRAM, ATOMICS, LOAD, LOAD_TIME = range(8)
"""Entries of ``State.servers``: when each server is free; DRAM's recent load and when it was updated."""
DEAD, LIVE, PARKED = range(3)
DEBT_COLUMNS = 4
BOARDS = c.SCOREBOARDS + 1
(W_STATE, W_READY, W_PC, W_UNIT_END, W_HELD, W_BANKED, W_MARK, W_STALL_END, W_BOARD_END, W_BOARD_REASON,
 W_FETCH_END, W_AFTER, W_FROM, W_STREAM, W_STEP, W_ACCESS, W_BLOCK, W_BARRIER_AT, W_COPIED, W_COPIER,
 W_SEAT) = range(21)  # fmt: skip
W_BOARDS, W_REASONS, W_COUNTS, W_SETTERS = 21, 21 + BOARDS, 21 + 2 * BOARDS, 21 + 3 * BOARDS
WARP_COLUMNS = W_SETTERS + BOARDS
"""A warp: what it does, the cycle it is ready, its instruction, the cycles that unit and register banks hold
it; when what it waits for ends, why, and whose result comes last; its place in the streams; per scoreboard
the release time, its reason, how often it was set and who set it."""
T_WARP, T_DUE, T_PC, T_MARK = range(4)
SEAT_COLUMNS = 4
"""A warp's place in the order of its sub-core, with what choosing needs to know of it, so that the scan of
every cycle reads little and in one direction: ``DUE`` is ``READY``, and never for a warp that is parked."""
R_TIMES, R_SETTERS = 0, BOARDS * c.RING
RING_COLUMNS = 2 * BOARDS * c.RING
"""What DEPBAR looks back at, of a warp: the last release times of each scoreboard, and who set them."""
S_LAST, S_WAKE, S_LENGTH, S_QUEUED, S_ADDRESS_FREE, S_FETCHES = range(6)
S_BANKS, S_BANKED, S_BEGUN, S_PIPES = 6, 8, 9, 10
S_QUEUE = S_PIPES + c.PIPES
SUB_COLUMNS = S_QUEUE + c.RING
"""A sub-core: warp issued last, cycle to look again, live warps, queued memory instructions, then when
address unit and register banks are free, whether these held the warp asked last, when the special function
unit took its last instruction, when pipes and queue entries are free."""
B_LIVE, B_BLOCK, B_ASYNC_DONE, B_COPIER, B_ARRIVED = range(5)
NAMED_BARRIERS = 16
SLOT_COLUMNS = B_ARRIVED + NAMED_BARRIERS
"""A block slot: live warps, the block in it, end of its bulk copies and who makes the last, warps at each
barrier."""


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
    seats: Ints
    """Per sub-core its live warps, oldest first; as many rows for each sub-core as there are warps."""
    fetched: Ints
    """Per line of code and sub-core: the fetch that brought it to L0; behind them the same for the SM's
    instruction cache, and when it came."""
    slots: Ints
    shared_free: Ints
    """When each SM-wide pipe is free; behind them the next block in line and the
    lines of code fetched so far."""
    servers: Floats
    debts: Floats
    """Per instruction: accesses that should have missed L1, L2, or hit a line in flight, but have not yet;
    and when its last miss arrives."""
    results: Floats
    """See ``layout.END`` and following."""
    stalls: Floats
    """Warp cycles by instruction and reason."""
    producers: Ints
    """Per instruction the first ``PRODUCERS`` ones it waited for, each plus 1; 0: none."""
    awaited: Floats
    """Warp cycles it waited for each of them."""
    rings: Ints
    """Per warp, see ``R_TIMES``; empty where no instruction looks back."""
    block_end: Ints
    """Cycle in which each block ended."""
    pipe_busy: Floats
    """Cycles taken: sub-core pipes (summed over sub-cores), then SM-wide ones."""


def new_state(inputs: Inputs) -> State:
    """Return an idle SM that has counted nothing."""
    numbers, instructions = inputs.numbers, len(inputs.ints)
    subs, resident = int(numbers[c.SUB_CORES]), int(numbers[c.RESIDENT])
    slots = resident * int(numbers[c.WARPS_PER_BLOCK])
    lines = int(inputs.ints[:, c.FETCH_LINE].max()) + 1
    looks_back = np.isin(inputs.ints[:, c.KIND], (c.DEPBAR, c.GROUP_WAIT)).any()
    state = State(
        warps=np.zeros((slots, WARP_COLUMNS), np.int64),
        subs=np.zeros((subs, SUB_COLUMNS), np.int64),
        seats=np.zeros((subs * slots, SEAT_COLUMNS), np.int64),
        fetched=np.full((subs + 2, lines), -c.NEVER, np.int64),
        slots=np.zeros((resident, SLOT_COLUMNS), np.int64),
        shared_free=np.zeros(c.SHARED_PIPES + 2, np.int64),
        servers=np.zeros(8),
        debts=np.tile((0.5, 0.5, 0.5, 0.0), (instructions, 1)),
        results=np.zeros(c.RESULTS),
        stalls=np.zeros((instructions, len(c.REASONS))),
        producers=np.zeros((instructions, c.PRODUCERS), np.int64),
        awaited=np.zeros((instructions, c.PRODUCERS)),
        rings=np.zeros((slots if looks_back else 0, RING_COLUMNS), np.int64),
        block_end=np.zeros(len(inputs.blocks), np.int64),
        pipe_busy=np.zeros(c.PIPES + c.SHARED_PIPES),
    )
    state.subs[:, S_LAST] = -1
    return state
