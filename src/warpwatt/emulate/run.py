"""What an engine is given and what it returns; the same for the native engine and the NumPy reference.

``run(routine, context, memory, blocks, limits, record) -> Run`` is the signature of both.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from warpwatt.core.launch import Launch

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class Context:
    """What a launch gives every thread, without the buffers' contents.

    ``banks`` are the constant banks by number (kernel parameters included; PTX ``.param`` space is bank 0
    from offset 0, its ``.const`` variables bank 3). ``shared`` bytes per block, ``local`` bytes per thread.
    ``code`` maps nothing here: code addresses are the blocks' own.
    """

    launch: Launch
    banks: Mapping[int, bytes]
    shared: int
    local: int = 0
    sms: int = 132
    """Number of SMs that ``%nsmid`` shows; block b runs on SM b modulo this."""
    first_turn: int = 0
    """Warp instructions of a warp's first turn where all blocks of a run take turns, twice as many of each
    after, up to :data:`TURN`; 0: they run one after the other."""

    unknown_factors: bool = False
    """Whether factors of matrix products are not known: the products are replaced by zeros."""


TURN = 4096
"""A warp that neither waits nor ends gives way to the next warp of its block when it has executed this many
instructions in a row. Warps take turns in order; blocks run one after the other, but for those of a cluster
or of a cooperative launch, which take turns too."""

CLOCK_TICK = 8
"""Cycles by which an instruction of a warp moves ``clock`` on: about what dependent code takes. A loop that
waits for the clock takes as long as it says, however many warps there are; ``globaltimer`` counts the
instructions of all warps."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of one run. Beyond them it stops and says so; it does not raise.

    A block of instructions is started while some of the budget is left, and counts at least 1.
    """

    warp_instructions: int = 20_000_000
    trace_bytes: int = 256 * 2**20


UNBOUNDED = 1 << 62
"""Warp instructions of blocks that are bounded one by one."""


class Stop(StrEnum):
    """Why a run ended."""

    DONE = "done"
    INSTRUCTIONS = "instructions"
    """The budget of instructions is spent (perhaps an endless loop)."""
    DEADLOCK = "deadlock"
    """Every live thread of a block waits at a barrier or convergence that cannot come."""
    FAULT = "fault"
    """A thread touched memory out of bounds or misaligned, jumped nowhere, or trapped."""


@dataclass(frozen=True, slots=True)
class Fault:
    """Where a run went wrong: the thread, the instruction, and for memory the address and its size."""

    instruction: int
    block: int
    thread: int
    address: int = 0
    bytes: int = 0
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Hazard:
    """Two instructions of a block that nothing orders, or one that reads what nobody wrote.

    ``kind``: ``read after write``, ``write after read``, ``write after write`` (of shared memory, by
    different warps), ``uninitialised``, ``divergent barrier`` (instructions behind two barriers).
    """

    kind: str
    first: int
    second: int


@dataclass(frozen=True, slots=True, eq=False)
class AccessCounts:
    """Sums over the executions of each memory instruction with at least one lane on; arrays by row.

    Rows are in order of instruction, then space; an instruction that reached several spaces has several.
    Loads from a constant bank at an address that is a CONST are operands and have no row.

    ``instruction`` (index in the program) names the row. ``requests``: executions with a lane on (a warp
    instruction whose lanes are all off makes none). ``lanes``: lanes on. ``sectors``, ``lines``: distinct
    32-byte sectors and 128-byte lines per request (global and local). ``l1_passes``: see
    ``AccessPattern``. ``wavefronts``: shared-memory passes; of constant memory, different addresses.
    ``ideal``: least possible sectors (or wavefronts) for the bytes and lanes. ``collisions``: for atomics,
    the largest number of lanes on one address, summed. ``uniform``: requests whose lanes all have one
    address. ``constant_misses``, ``constant_far_misses``: lines of constants that the warp's indexed
    constant cache did not hold, and of them those that the L1.5 constant cache did not; 0 where all fit.
    ``stride``: the common distance in bytes between neighbouring lanes if it was the same in all requests,
    else the minimum of int64.
    ``space``: 0 global, 1 shared, 2 local, 3 const (by the address it really went to, for generic ones).
    ``slot``: the buffer's slot (of global memory; else the window's, 0xF0 to 0xF3), -1 if several.

    Local memory is interleaved as in hardware: byte ``o`` of a thread lies at
    ``0xF1 << 40 | (warp's number in the grid × bytes per thread × 32 + (o & ~3) × 32 + lane × 4 + (o & 3))``,
    which gives its sectors, lines and tag passes. Sectors, lines, tag passes are 0 for shared and constant
    memory, wavefronts for all but these two, ``ideal`` for constant, ``collisions`` for all but atomics.
    """

    instruction: NDArray[np.int64]
    space: NDArray[np.int64]
    requests: NDArray[np.int64]
    lanes: NDArray[np.int64]
    sectors: NDArray[np.int64]
    lines: NDArray[np.int64]
    l1_passes: NDArray[np.int64]
    wavefronts: NDArray[np.int64]
    ideal: NDArray[np.int64]
    collisions: NDArray[np.int64]
    uniform: NDArray[np.int64]
    constant_misses: NDArray[np.int64]
    constant_far_misses: NDArray[np.int64]
    stride: NDArray[np.int64]
    slot: NDArray[np.int64]


NO_BARRIER_OBJECT = 0xFFFFFFFF
"""In a trace: an access that concerns no barrier object."""


@dataclass(frozen=True, slots=True, eq=False)
class Trace:
    """What the warps of the run did, in order, as far as ``Limits.trace_bytes`` reached (``complete``).

    A warp is numbered ``ordinal of its block in the run × warps per block + warp``.

    Steps: warp ``w`` executed basic blocks ``step_block[step_start[w]:step_start[w + 1]]`` (indices into
    ``Routine.blocks``) with active lanes ``step_mask``. Accesses: ``access_*`` are its memory accesses
    with a lane on, in order, ``access_start[w]:access_start[w + 1]``; of each the instruction, the lanes on,
    the number of shared wavefronts (0 for other spaces), the step that made it (an index into ``step_*``)
    and, from ``line_start[a]`` to ``line_start[a + 1]``, its global or local lines: byte address of a
    128-byte line, the bits of its 4 sectors in the lowest four; ``access_barrier`` is the shared address of
    the barrier object that the access changes, looks at or tells, :data:`NO_BARRIER_OBJECT` if none,
    ``access_change`` by how much its word changes: of a wait the parity of the phase, of a copy its bytes (of
    all blocks that get it); None: no access concerns one. One execution of an instruction may make
    several accesses: an asynchronous copy reads and writes, a matrix load makes one per 8 x 8 matrix.
    """

    step_start: NDArray[np.int64]
    step_block: NDArray[np.int32]
    step_mask: NDArray[np.uint32]
    access_start: NDArray[np.int64]
    access_instruction: NDArray[np.int32]
    access_mask: NDArray[np.uint32]
    access_wavefronts: NDArray[np.uint8]
    access_step: NDArray[np.int64]
    line_start: NDArray[np.int64]
    lines: NDArray[np.uint64]
    complete: bool
    access_barrier: NDArray[np.uint32] | None = None
    access_change: NDArray[np.int64] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """What came of running some blocks of a grid.

    ``executions[i]``: warps that executed program instruction i, predicated off or not; ``lanes[i]``: active
    lanes summed, those whose guard is off not counted.
    """

    stop: Stop
    executions: NDArray[np.int64]
    lanes: NDArray[np.int64]
    accesses: AccessCounts
    blocks: tuple[int, ...]
    """Linear numbers of the grid's blocks that were run."""
    trace: Trace | None = None
    fault: Fault | None = None
    unknown: Mapping[int, str] = field(default_factory=dict)
    """Instructions without semantics that were executed -> opcode."""
    hazards: tuple[Hazard, ...] = ()
    """Seen in the first block."""
    warp_instructions: int = field(init=False)
    """The sum of ``executions``, which who scales asks for again and again."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "warp_instructions", int(self.executions.sum()))


@dataclass(frozen=True, slots=True, eq=False)
class Each:
    """What came of running blocks one by one: together, with their trace in order; of each, why it ended.

    ``spent`` are the warp instructions of each.
    """

    run: Run
    stops: tuple[Stop, ...]
    spent: tuple[int, ...]
