"""Where everything lies in memory while a routine runs: shared by generated code and native modules.

The *machine* is one record per run, a *block* and a *warp* record exist for each that is resident. Names of
the machine and of blocks count 64-bit words, those of warps count bytes.
"""

from __future__ import annotations

from warpwatt.emulate.ir import ATOMICS, SPECIALS

# Machine, in 64-bit words.
FAULT, FAULT_INSTRUCTION, FAULT_BLOCK, FAULT_THREAD, FAULT_ADDRESS, FAULT_BYTES = 0, 1, 2, 3, 4, 65
BUDGET, CLOCK, RECORD = 6, 7, 8
"""Warp instructions left; instructions executed at the end of the current turn; whether to keep a trace."""
BASES, SIZES, PAGE_FLAGS, TOUCH = 10, 11, 12, 13
BANKS, BANK_SIZES = 14, 15
EXECUTIONS, LANES, GUARDED, OPERATIONS, COUNTERS = 16, 17, 18, 19, 20
SHARED_BYTES, LOCAL_BYTES, WARP_BYTES, REGISTER_BYTES = 21, 22, 23, 24
THREADS, WARPS, RESIDENT, GRID_BLOCKS, SMS = 25, 26, 27, 28, 29
BLOCK_X, BLOCK_Y, BLOCK_Z, GRID_X, GRID_Y, GRID_Z, CLUSTER_X, CLUSTER_Y, CLUSTER_Z = range(30, 39)
BLOCKS, BLOCK_RECORDS, WARP_RECORDS, SHARED, LOCAL, SPECIAL_TEMPLATE = 39, 40, 41, 42, 43, 44
TARGETS, ADDRESSES, ADDRESS_COUNT, CALL, DISPATCH = 45, 46, 47, 48, 49
STEPS, STEP_ROOM, STEP_COUNT, ACCESSES, ACCESS_ROOM, ACCESS_COUNT = 50, 51, 52, 53, 54, 55
LINES, LINE_ROOM, LINE_COUNT, DROPPED = 56, 57, 58, 59
SET_STAMP, DONE_BLOCKS = 60, 61
BLOCK_COUNT = 62
SHARED_STRIDE, LOCAL_STRIDE = 63, 9
FILL_KINDS, FILL_KEYS = 66, 67
LEAVERS = 5
"""Table: byte offset in the warp of the register of lanes that a CONVERGE does not wait for; 0 for none."""
SLOT_KEYS, SLOT_STAMPS = 72, 72 + 512
"""A hash set of numbers: keys, and the stamp of the generation each belongs to."""
SET_SIZE = 512
FOUND = SLOT_STAMPS + SET_SIZE
"""Results of looking at one request, see :mod:`~warpwatt.emulate.native.patterns`."""
HOSTS, MEMBERS = FOUND + 960, FOUND + 1000
"""Host addresses of the lanes of a request, and which lanes are in each space."""
PLACE, LIMIT, SAME, ASCENDING, STEP, HIGHEST = range(FOUND + 1004, FOUND + 1010)
"""Where the memory of an access lies and its size; what its lanes' addresses have in common; highest line."""
LANE_ADDRESSES = FOUND + 1024
"""32 addresses, then the lanes' values."""
LANE_VALUES = LANE_ADDRESSES + 32
LANE_OLD = LANE_VALUES + 32 * 64
"""Old values of an atomic."""
MACHINE_WORDS = LANE_OLD + 32 * 8

# Reasons of a fault.
OUT_OF_BOUNDS, MISALIGNED, NO_MEMORY, NOWHERE, TRAPPED, FAILED = 1, 2, 3, 4, 5, 6
REASONS = (
    "", "out of bounds", "misaligned", "no such memory", "jump to an address that is no instruction", "trap",
    "",
)  # fmt: skip

# Warp, in bytes.
W_BLOCK, W_INDEX, W_NUMBER, W_TURN, W_LOCAL, W_GRID_NUMBER = 0, 8, 16, 24, 32, 40
W_ACTIVE, W_LIVE, W_READY = 48, 52, 56
"""Lanes that run and lanes that have not ended, as bits; whether the warp could run as the round began."""
W_PC, W_WAIT = 64, 192
W_TID = 320
W_SPECIALS = 704
W_REGISTERS = 896

# States of a lane in W_PC: below CONVERGING, the block it is to execute next.
CONVERGING, AT_BARRIER, EXITED = 0x40000000, 0x50000000, 0x7FFFFFFF
STATE_BITS = 0x0FFFFFFF

# Block, in 64-bit words. Five words for each of 16 barriers.
B_NUMBER, B_LIVE, B_SHARED, B_ORDINAL, B_FIRST_WARP = 0, 1, 2, 3, 4
B_BARRIERS = 8
BARRIERS = 16
R_ARRIVED, R_EXPECTED, R_HOLDING, R_RESULT, R_RESULT_ARRIVED = 0, 1, 2, 3, 4
BLOCK_WORDS = B_BARRIERS + BARRIERS * 5

# An operation on memory, in 64-bit words.
O_SPACE, O_ELEMENT, O_COUNT, O_BYTES, O_ALIGN, O_INSTRUCTION, O_BANK, O_ATOMIC, O_TYPE, O_PROBE = range(10)
OPERATION_WORDS = 10
ATOMIC_CODES = {name: code for code, name in enumerate(ATOMICS)}
GLOBAL, SHARED_SPACE, LOCAL_SPACE, CONST_SPACE, GENERIC = 0, 1, 2, 3, 4
SPACES = ("global", "shared", "local", "const", "generic")

# What is summed for each operation and space.
(C_REQUESTS, C_LANES, C_SECTORS, C_LINES, C_TAG_PASSES, C_WAVEFRONTS, C_IDEAL, C_COLLISIONS, C_UNIFORM,
 C_STRIDE, C_STRIDE_STATE, C_SLOT) = range(12)  # fmt: skip
COUNTER_WORDS = 12
UNSET, SET, BROKEN = 0, 1, 2
"""States of a stride. Slots: 0 is unset, -1 several."""

S_CTAID = SPECIALS.index("ctaid.x")
S_WARPID = SPECIALS.index("warpid")
S_SMID = SPECIALS.index("smid")
S_CLUSTERID = SPECIALS.index("clusterid.x")
S_CLUSTER_CTAID = SPECIALS.index("cluster_ctaid.x")
S_CLUSTER_CTARANK = SPECIALS.index("cluster_ctarank")
SPECIAL_COUNT = len(SPECIALS)
