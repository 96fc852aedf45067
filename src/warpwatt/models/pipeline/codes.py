"""Codes of the simulator's instructions and settings: names and values of the enumerations in ``native/sm``.

What they mean stands in ``native/sm/instruction.h``, ``settings.h`` and ``stall.h``.
"""

from __future__ import annotations

from enum import IntEnum

from warpwatt.core.warps import Stall


class Operation(IntEnum):
    """What the simulator does with an instruction."""

    ARITHMETIC = 0
    MEMORY = 1
    MIO_PIPE = 2
    BARRIER_SYNC = 3
    BARRIER_ARRIVE = 4
    DEPBAR = 5
    COPY_FENCE = 6
    PHASE_WAIT = 7
    WARPGROUP_MMA = 8
    WARPGROUP_WAIT = 9
    TENSOR_MEMORY_MMA = 10
    TENSOR_MEMORY_COMMIT = 11


class ObjectUse(IntEnum):
    """What a memory instruction does with a barrier object."""

    NONE = 0
    MAKE = 1
    CHANGE = 2
    WAIT = 3
    TELL = 4


class Traffic(IntEnum):
    """What a memory instruction moves past the SM."""

    NONE = 0
    READ = 1
    WRITE = 2
    ATOMIC = 3
    ASYNC_COPY = 4
    BULK_COPY = 5


class Pipe(IntEnum):
    """Pipes of a sub-core."""

    NONE = 0
    FMA = 1
    FMA_LITE = 2
    ALU = 3
    FP16 = 4
    XU = 5
    FP64 = 6
    TENSOR = 7
    UNIFORM = 8
    BRANCH = 9


class SmPipe(IntEnum):
    """Pipes that the sub-cores share."""

    NONE = 0
    FP64 = 1
    BARRIER = 2
    TENSOR = 3


class IssueOrder(IntEnum):
    """Which ready warp a sub-core issues when it cannot go on with the last one."""

    OLDEST = 0
    YOUNGEST = 1
    LONGEST_WAITING = 2
    OLDEST_BLOCK = 3


class Reason(IntEnum):
    """Columns of the stall cycles: names of :class:`~warpwatt.core.case.Stall`."""

    SELECTED = 0
    NOT_SELECTED = 1
    WAIT = 2
    LONG_SCOREBOARD = 3
    SHORT_SCOREBOARD = 4
    MATH_PIPE_THROTTLE = 5
    MIO_THROTTLE = 6
    LG_THROTTLE = 7
    TEX_THROTTLE = 8
    BARRIER = 9
    NO_INSTRUCTION = 10
    BRANCH_RESOLVING = 11
    DISPATCH = 12
    MEMBAR = 13
    IMC_MISS = 14
    SLEEPING = 15


NO_SCOREBOARD = -1
SCOREBOARDS = 6
OBJECTS = 64
"""Barrier objects of a block that are told apart."""
WARPGROUP_BOARD = 6
"""The scoreboard of warp-group operations, beside those of the control code."""
REASONS = tuple(Stall[reason.name] for reason in Reason)
SCOREBOARD_REASONS = (Reason.LONG_SCOREBOARD, Reason.SHORT_SCOREBOARD, Reason.MEMBAR)
"""Stalls for a result, so that there is an instruction that makes it."""
