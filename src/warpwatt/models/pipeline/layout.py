"""Columns of the flat arrays that the simulator works on, and the codes that stand in them.

Arrays of numbers and no objects: the hot loop is compiled. Cycles are those of the SM clock.
"""

from __future__ import annotations

from warpwatt.core.case import Stall

# -- InstructionTable.ints: one row per static instruction ---------------------------------------------
STALL, YIELD, WRITE_BARRIER, READ_BARRIER, WAIT_MASK, KIND = range(6)
PIPE, OTHER_PIPE, INTERVAL, SHARED_PIPE, SHARED_INTERVAL = range(6, 11)
BANK0, BANK1, TRAFFIC, SCOREBOARD, REMAINING, REASON, THROTTLE, NUMBER, WARPS, FETCH_LINE = range(11, 21)
AFTER = 21
INT_COLUMNS = 22
"""Control code; kind; per-sub-core pipe (or -1), a second one it may take instead (or -1), cycles it is
taken; SM-wide pipe (or -1) and cycles; reads of both register banks; what it moves; DEPBAR's scoreboard and
count; stall names for who waits for its result and for its unit; barrier number and warps (0: all); line of
the instruction cache; stall name for its stall count, which holds the instruction behind it."""

# -- InstructionTable.floats --------------------------------------------------------------------------
(LATENCY, READ_LATENCY, L2_LATENCY, DRAM_LATENCY, L1_MISS, L2_MISS, COST, ATOMIC, DRAM_TIMES,
 IN_FLIGHT) = range(10)  # fmt: skip
FLOAT_COLUMNS = 10
"""Cycles from issue to the result (of an L1 hit), to the last operand read, to the result from L2 and from
DRAM; shares of sectors that miss L1, and of those that miss L2; load-store cycles where the stream does not
say; cycles that L2's atomic unit needs per request, seen from one SM; how much longer than its bytes say DRAM
takes; share of L1's hits whose line is still on its way."""

# -- kinds of instructions ----------------------------------------------------------------------------
PLAIN, MEMORY, BARRIER, ARRIVE, DEPBAR, COPY_FENCE, GROUP_WAIT, ASYNC_WAIT, GROUP, QUEUED = range(10)
"""GROUP: an operation of a warp group that runs on; GROUP_WAIT waits for it. COPY_FENCE: LDGDEPBAR.
ASYNC_WAIT: waits for bulk copies of its block. QUEUED: waits for its SM-wide pipe in the queue of memory
instructions."""

# -- what a memory instruction moves ------------------------------------------------------------------
NOTHING, READ, WRITE, ATOMIC_READ, COPY, BULK = range(6)
"""NOTHING: stays on the SM (shared memory, constants, shuffles). COPY and BULK: reads in the background."""

# -- pipes --------------------------------------------------------------------------------------------
FMA, FMA_LITE, ALU, FP16, XU, FP64, TENSOR, UNIFORM, BRANCH = range(9)
PIPES = 9
"""Per sub-core. FMA does the integer multiplications too; XU: special functions and conversions."""
PIPE_NAMES = ("fma", "fma", "alu", "fp16", "xu", "fp64", "tensor", "uniform", "branch")
SHARED_FP64, TEXTURE, BLOCK_BARRIER = range(3)
SHARED_PIPES = 3
SHARED_PIPE_NAMES = ("fp64", "texture", "barrier unit")

# -- settings of one simulation -----------------------------------------------------------------------
OLDEST, YOUNGEST, LONGEST_WAITING, OLDEST_BLOCK = range(4)
"""Which of the ready warps a sub-core issues when it cannot go on with the last one; OLDEST_BLOCK: the one
that waits longest among those of the block that started first."""
(SUB_CORES, RESIDENT, WARPS_PER_BLOCK, QUEUE_DEPTH, ADDRESS_CYCLES, ISSUE_ORDER, BARRIER_CYCLES, BLOCK_CYCLES,
 L0_LINES, L0_MISS_CYCLES, READ_WINDOW, OFF_CYCLES, WARP_CYCLES, L1I_LINES, L1I_MISS_CYCLES,
 L1I_AHEAD, TURN) = range(17)  # fmt: skip
INT_SETTINGS = 17
"""TURN: after so many issued instructions the oldest block becomes the youngest; 0: never."""
(L2_BYTES, DRAM_BYTES, PORT_BYTES, WRITE_PORT_BYTES, LOAD_LINEAR, LOAD_QUEUE, LOAD_WINDOW, BACKLOG, BURST,
 BURST_AFTER, DISPATCH) = range(11)  # fmt: skip
FLOAT_SETTINGS = 11
"""Bytes per cycle that L2 and DRAM give this SM and its ports carry; how DRAM's latency grows with its load
ρ: LINEAR·ρ + QUEUE·ρ/(1−ρ), over WINDOW cycles; cycles that L2's queue may run ahead before the LSU stops.
A burst of this SM of up to BURST cycles of its share goes through at once, because the others are at other
places; that holds from BURST_AFTER cycles on, when the SMs have fallen out of step. DISPATCH: cycles between
the blocks that the chip's distributor has for this SM."""

# -- results ------------------------------------------------------------------------------------------
(END, ISSUED, LSU_BUSY, PORT_BYTES_MOVED, L2_BYTES_MOVED, DRAM_BYTES_MOVED, WARP_CYCLES_SUM, LAST_ISSUE,
 ATOMIC_BUSY, SHARED_BUSY, L1_BUSY, DISPATCH_BUSY) = range(12)  # fmt: skip
RESULTS = 12

REASONS = (
    Stall.SELECTED, Stall.NOT_SELECTED, Stall.WAIT, Stall.LONG_SCOREBOARD, Stall.SHORT_SCOREBOARD,
    Stall.MATH_PIPE_THROTTLE, Stall.MIO_THROTTLE, Stall.LG_THROTTLE, Stall.TEX_THROTTLE, Stall.BARRIER,
    Stall.NO_INSTRUCTION, Stall.BRANCH_RESOLVING, Stall.DISPATCH, Stall.MEMBAR, Stall.IMC_MISS,
    Stall.SLEEPING,
)  # fmt: skip
"""Stall names by their column in the simulator's result."""
(R_SELECTED, R_NOT_SELECTED, R_WAIT, R_LONG, R_SHORT, R_MATH, R_MIO, R_LG, R_TEX, R_BARRIER, R_NO_INSTRUCTION,
 R_BRANCH, R_DISPATCH, R_MEMBAR, R_IMC, R_SLEEPING) = range(16)  # fmt: skip

SCOREBOARD_REASONS = (R_LONG, R_SHORT, R_MEMBAR)
"""Stalls for a result, so that there is an instruction that makes it."""

SCOREBOARDS = 6
GROUP_BOARD = 6
"""Column of the scoreboard that warp-group operations use."""
RING = 16
"""Completions remembered per scoreboard, for DEPBAR."""
PRODUCERS = 6
"""Instructions remembered that an instruction waits for; further ones stay unnamed."""
NEVER = 1 << 60
