"""One SM, simulated by the native core: the records of ``native/sm`` and the call.

Rules and their sources stand there, a file per unit; ``native/sm/sm.h`` is where to begin.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from warpwatt.core.errors import UnsupportedGpuError
from warpwatt.models.pipeline.codes import Pipe, Reason, SmPipe
from warpwatt.native import ADDRESS, addresses, function
from warpwatt.native.records import record_types

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]
    Floats = NDArray[np.float64]
    Records = NDArray[np.void]

PRODUCERS = 6
"""Instructions remembered that an instruction waits for; further ones stay unnamed."""


def record_type(name: str) -> np.dtype[Any]:
    """Return NumPy's type of a record of the simulator.

    >>> record_type("TraceStep").names
    ('first', 'end', 'first_access')
    """
    return record_types("sm_fields")[name]


class Inputs(NamedTuple):
    """What is simulated."""

    settings: Records
    """One record ``Settings``."""
    instructions: Records
    """Records ``Instruction``."""
    warp_starts: Ints
    """``starts`` of :class:`~warpwatt.core.streams.WarpStreams`."""
    steps: Ints
    """Its ``steps``: rows as ``TraceStep``."""
    access_instructions: Ints
    """Its ``access_instruction``."""
    accesses: Floats
    """Rows as ``MemoryAccess``."""
    blocks: Ints
    """The sampled block in each place of the line."""


class Counters(NamedTuple):
    """Sums over the simulation: cycles, unless the name says otherwise."""

    cycles: float
    """From the first dispatch to the last completion."""
    issued_instructions: float
    last_issue: float
    warp_cycles: float
    """That warps were resident."""
    lsu_busy: float
    l1_busy: float
    """Of the load-store unit, for L1."""
    shared_memory_busy: float
    """And for shared memory."""
    l2_bytes: float
    dram_bytes: float
    dispatch_busy: float


class Simulation(NamedTuple):
    """What one SM did."""

    counters: Counters
    pipe_busy: Floats
    """By :class:`~.codes.Pipe`: cycles that it was taken, in all sub-cores together."""
    sm_pipe_busy: Floats
    """By :class:`~.codes.SmPipe`."""
    stalls: Floats
    """Warp cycles by instruction and :class:`~.codes.Reason`."""
    producers: NDArray[np.int32]
    """By instruction the first ones whose results it waited for, -1: none."""
    awaited: Floats
    """Warp cycles that it waited for each of them."""
    block_end: Ints
    """Cycle in which each block in line ended."""

    def scaled(self, factor: float) -> Simulation:
        """Return the counts of ``factor`` times as much work."""
        return self._replace(
            counters=Counters(*(factor * count for count in self.counters)),
            pipe_busy=factor * self.pipe_busy,
            sm_pipe_busy=factor * self.sm_pipe_busy,
            stalls=factor * self.stalls,
            awaited=factor * self.awaited,
        )


def simulate(inputs: Inputs) -> Simulation:
    """Run the blocks in line one after the other as slots fall free.

    Raises
    ------
    UnsupportedGpuError
        If the SM has more than four sub-cores, 64 warps in one of them or 16 places in a queue.
    """
    counters = np.zeros((), record_type("Counters"))
    size = len(inputs.instructions)
    found: dict[str, Any] = {
        "pipe_busy": np.zeros(len(Pipe)),
        "sm_pipe_busy": np.zeros(len(SmPipe)),
        "stalls": np.zeros((size, len(Reason)), np.int64),
        "producers": np.full((size, PRODUCERS), -1, np.int32),
        "awaited": np.zeros((size, PRODUCERS), np.int64),
        "block_end": np.zeros(len(inputs.blocks), np.int64),
    }
    given = _record("Inputs", inputs._asdict())
    given["instruction_count"], given["access_count"] = size, len(inputs.accesses)
    given["block_count"] = len(inputs.blocks)
    wanted = _record("Outputs", {"counters": counters, **found})
    if not _native()(*addresses(given, wanted)):
        raise UnsupportedGpuError("the SM has more sub-cores, warps or queue entries than can be simulated")
    totals = {name: float(counters[name]) for name in counters.dtype.names or ()}
    stalls, awaited = (found.pop(name).astype(np.float64) for name in ("stalls", "awaited"))
    return Simulation(Counters(**totals), stalls=stalls, awaited=awaited, **found)


@cache
def _native() -> Callable[..., bool]:
    return function("simulate_sm", ctypes.c_bool, ADDRESS, ADDRESS)


def _record(name: str, arrays: dict[str, NDArray[Any]]) -> Records:
    """Return a record of pointers to arrays."""
    record = np.zeros((), record_type(name))
    for field, array in arrays.items():
        (record[field],) = addresses(array)
    return record
