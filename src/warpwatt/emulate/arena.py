"""Device memory that a running program shares with us: one area of address space, many allocations in it.

A device pointer of the program is the same number here: ``ARENA_SLOT << 40 | offset``. Engines see one slot.
What they report of it is told apart by allocation afterwards (:meth:`ArenaMemory.localised`): each allocation
that was touched gets a slot of its own, as a described buffer has.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from warpwatt.core.arrays import unique
from warpwatt.emulate.layout import ARENA_SLOT, FIRST_BUFFER_SLOT, SHARED_SLOT, SLOT_BITS
from warpwatt.emulate.memory import OFFSET_MASK, DeviceMemory

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from warpwatt.emulate.run import AccessCounts, Fault, Run, Trace

ARENA = ARENA_SLOT << SLOT_BITS
"""Device address of the first byte."""
NOWHERE = "no allocation"
"""Name of the memory between allocations."""
LINE = 128
"""Bytes of the lines in traces; the lowest bits of their addresses tell the sectors."""
_SECTOR_BITS = 0xF
_GLOBAL_SPACE = 0
_SEVERAL = -1
_SLOTS = tuple(s for s in range(FIRST_BUFFER_SLOT, SHARED_SLOT) if s != ARENA_SLOT)


@dataclass(frozen=True, slots=True)
class Allocation:
    """A range of device addresses that the program got at one time, and what to call it."""

    address: int
    bytes: int
    name: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class AllocationTable:
    """Allocations in the order of their addresses, which do not overlap.

    >>> table = AllocationTable.of([Allocation(ARENA + 512, 100, "y"), Allocation(ARENA, 256, "x")])
    >>> table.find(np.array([ARENA, ARENA + 300, ARENA + 611])).tolist()
    [0, -1, 1]
    """

    rows: tuple[Allocation, ...]
    starts: NDArray[np.int64] = field(repr=False)
    ends: NDArray[np.int64] = field(repr=False)
    """Addresses of the first byte, and behind the last."""

    @classmethod
    def of(cls, allocations: Iterable[Allocation]) -> AllocationTable:
        """Return the table of some allocations."""
        rows = tuple(sorted(allocations, key=lambda a: a.address))
        starts = np.array([a.address for a in rows], np.int64)
        return cls(rows, starts, starts + np.array([a.bytes for a in rows], np.int64))

    def find(self, addresses: NDArray[np.int64], bytes_: int = 1) -> NDArray[np.int64]:
        """Return the last row that some bytes from each address on reach, -1 where they reach none."""
        if not self.rows:
            return np.full(len(addresses), -1)
        row = np.searchsorted(self.starts, addresses + bytes_ - 1, side="right") - 1
        return np.where((row >= 0) & (addresses < self.ends[row]), row, -1)

    def at(self, address: int) -> Allocation | None:
        """Return the allocation that an address lies in."""
        row = int(self.find(np.array([address], np.int64))[0])
        return None if row < 0 else self.rows[row]


class ArenaMemory(DeviceMemory):
    """A device whose slot ``ARENA_SLOT`` is memory mapped by who runs the program.

    Parameters
    ----------
    area
        The mapping, as bytes from :data:`ARENA` on; what lies behind it is out of bounds.
    table
        What the program has allocated in it.
    """

    def __init__(self, area: NDArray[np.uint8], table: AllocationTable) -> None:
        super().__init__()
        self.table = table
        self._map(ARENA_SLOT, area)
        self._slots: dict[int, int] = {}

    def update(self, area: NDArray[np.uint8], table: AllocationTable) -> None:
        """Know what the program has allocated since; the heap and the module's variables stay."""
        self.table = table
        self._map(ARENA_SLOT, area)
        self._slots.clear()

    @property
    def buffers(self) -> Mapping[int, tuple[str, float | None]]:
        """Name and bytes of what lies in each slot, as far as runs have touched it."""
        found = dict(super().buffers)
        for row, slot in self._slots.items():
            place = self.table.rows[row] if row >= 0 else Allocation(0, 0, NOWHERE)
            found.setdefault(slot, (place.name, float(place.bytes) if row >= 0 else None))
        return found

    @property
    def allocations(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Where each allocation begins, and the address behind it, in order."""
        return self.table.starts, self.table.ends

    def localised(self, run: Run) -> Run:
        """Return a run whose addresses in the arena are those of slots, one for each allocation."""
        trace = None if run.trace is None else self._trace(run.trace)
        fault = None if run.fault is None else self.localised_fault(run.fault)
        accesses = run.accesses if trace is None else _accesses(run.accesses, trace)
        return replace(run, trace=trace, fault=fault, accesses=accesses)

    def _trace(self, trace: Trace) -> Trace:
        slots = (trace.lines >> np.uint64(SLOT_BITS)).astype(np.int64)
        here = np.flatnonzero(slots == ARENA_SLOT)
        if not len(here):
            return trace
        lines = trace.lines.copy()
        addresses = (lines[here] & ~np.uint64(_SECTOR_BITS)).astype(np.int64)
        lines[here] = self._moved(addresses, LINE).astype(np.uint64)
        lines[here] |= trace.lines[here] & np.uint64(_SECTOR_BITS)
        return replace(trace, lines=lines)

    def localised_fault(self, fault: Fault) -> Fault:
        """Return a fault whose address is that of the slot of its allocation."""
        if fault.address >> SLOT_BITS != ARENA_SLOT:
            return fault
        return replace(fault, address=int(self._moved(np.array([fault.address], np.int64), 1)[0]))

    def _moved(self, addresses: NDArray[np.int64], bytes_: int) -> NDArray[np.int64]:
        """Return addresses in slots of the allocations that some bytes from them on reach.

        Those in none keep their offset in the arena; a start is rounded down to as many bytes.
        """
        rows = self.table.find(addresses, bytes_)
        present = unique(rows)
        slots = np.array([self._slot(int(row)) for row in present], np.int64)
        starts = np.array([self.table.rows[row].address if row >= 0 else ARENA for row in present], np.int64)
        starts, at = starts & -bytes_, np.searchsorted(present, rows)
        return (slots[at] << SLOT_BITS) | ((addresses - starts[at]) & OFFSET_MASK)

    def _slot(self, row: int) -> int:
        """Return the slot that stands for an allocation; those beyond the last slot share it."""
        return self._slots.setdefault(row, _SLOTS[min(len(self._slots), len(_SLOTS) - 1)])


def _accesses(accesses: AccessCounts, trace: Trace) -> AccessCounts:
    """Return sums whose slots are those of the trace: the one that an instruction reached, or several."""
    per_access = np.diff(trace.line_start)
    instruction = np.repeat(trace.access_instruction.astype(np.int64), per_access)
    slots = (trace.lines >> np.uint64(SLOT_BITS)).astype(np.int64)
    size = 1 + max(int(instruction.max(initial=0)), int(accesses.instruction.max(initial=0)))
    low, high = np.full(size, SHARED_SLOT), np.full(size, _SEVERAL)
    np.minimum.at(low, instruction, slots)
    np.maximum.at(high, instruction, slots)
    own: NDArray[Any] = np.where(low == high, low, _SEVERAL)[accesses.instruction]
    in_arena = (accesses.space == _GLOBAL_SPACE) & np.isin(accesses.slot, (ARENA_SLOT, _SEVERAL))
    return replace(accesses, slot=np.where(in_arena, own, accesses.slot))
