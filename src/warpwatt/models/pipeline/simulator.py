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
from warpwatt.native import ADDRESS, INT, addresses, function
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
    """Rows as ``MemoryAccess``; those that concern no barrier object may end before it."""
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
    written_bytes: float
    """That left through the write port, addresses included."""
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
    found = _Found.of(inputs, len(inputs.blocks))
    _run(inputs, found, 0, None)
    return found.simulation()


def simulate_with_beginning(inputs: Inputs, blocks: int) -> tuple[Simulation, Simulation]:
    """Run the blocks in line, and only the first ``blocks`` of them (at least as many as are resident).

    Both are what :func:`simulate` says; as far as they are the same they are simulated once.

    Raises
    ------
    UnsupportedGpuError
        As :func:`simulate`.
    """
    whole, beginning = _Found.of(inputs, len(inputs.blocks)), _Found.of(inputs, blocks)
    _run(inputs, whole, blocks, beginning)
    return whole.simulation(), beginning.simulation()


def _with_events(accesses: Floats) -> Floats:
    """Return rows of accesses with their barrier object, none where they do not say."""
    missing = len(_EVENT) + 3 - accesses.shape[1]
    if not missing or not len(accesses):
        return accesses
    return np.column_stack((accesses, np.tile(_EVENT, (len(accesses), 1))))


_EVENT = (-1.0, 0.0)
"""Barrier object and change of an access that concerns none."""


def _run(inputs: Inputs, found: _Found, blocks: int, beginning: _Found | None) -> None:
    inputs = inputs._replace(accesses=_with_events(inputs.accesses))
    given = _record("Inputs", inputs._asdict())
    given["instruction_count"], given["access_count"] = len(inputs.instructions), len(inputs.accesses)
    given["block_count"] = len(inputs.blocks)
    outputs = [_record("Outputs", one._asdict()) for one in (found, beginning) if one is not None]
    where = [*addresses(*outputs), None][:2]
    if not _native()(*addresses(given), where[0], blocks, where[1]):
        raise UnsupportedGpuError("the SM has more sub-cores, warps or queue entries than can be simulated")


class _Found(NamedTuple):
    """The arrays that the native core fills in: ``Outputs``."""

    counters: Records
    pipe_busy: Floats
    sm_pipe_busy: Floats
    stalls: Ints
    producers: NDArray[np.int32]
    awaited: Ints
    block_end: Ints

    @classmethod
    def of(cls, inputs: Inputs, blocks: int) -> _Found:
        size = len(inputs.instructions)
        return cls(
            np.zeros((), record_type("Counters")),
            np.zeros(len(Pipe)),
            np.zeros(len(SmPipe)),
            np.zeros((size, len(Reason)), np.int64),
            np.full((size, PRODUCERS), -1, np.int32),
            np.zeros((size, PRODUCERS), np.int64),
            np.zeros(blocks, np.int64),
        )

    def simulation(self) -> Simulation:
        arrays = self._asdict()
        counters = arrays.pop("counters")
        totals = {name: float(counters[name]) for name in counters.dtype.names or ()}
        arrays |= {name: arrays[name].astype(np.float64) for name in ("stalls", "awaited")}
        return Simulation(Counters(**totals), **arrays)


@cache
def _native() -> Callable[..., bool]:
    return function("simulate_sm", ctypes.c_bool, ADDRESS, ADDRESS, INT, ADDRESS)


def _record(name: str, arrays: dict[str, NDArray[Any]]) -> Records:
    """Return a record of pointers to arrays."""
    record = np.zeros((), record_type(name))
    for field, array in arrays.items():
        (record[field],) = addresses(array)
    return record
