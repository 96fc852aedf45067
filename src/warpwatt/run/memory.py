"""The arena: one shared file that is the device's memory, in the program's process and in ours."""

from __future__ import annotations

import fcntl
import mmap
import os
from bisect import bisect_left, bisect_right, insort
from dataclasses import dataclass, replace
from itertools import chain, count
from typing import TYPE_CHECKING

import numpy as np

from warpwatt.emulate.arena import ARENA, Allocation, AllocationTable, ArenaMemory
from warpwatt.emulate.memory import NO_RESERVE
from warpwatt.run.codes import Memory

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from warpwatt.emulate.textures import Texture

ARENA_BYTES = 1 << 40
"""Address space of the arena: more than any GPU's memory; only what is touched costs anything."""
SHARED = (Memory.MANAGED, Memory.PINNED)
"""Kinds of memory that the program reads and writes without asking."""
ELSEWHERE = 0
"""Instead of an allocation's address: what kernels allocate, variables that the host has not registered."""
PAGE = 2 << 20
"""Devices map memory in pages of 2 MiB: beside an allocation, but within its page, nothing faults."""


class Arena:
    """The shared file and our two mappings of it.

    ``shared`` is what the program sees. ``private`` sees the same until it is written to; writes stay ours,
    until :meth:`forget`.
    """

    def __init__(self, size: int = ARENA_BYTES) -> None:
        self.file = os.memfd_create("warpwatt-arena", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        os.ftruncate(self.file, size)
        fcntl.fcntl(self.file, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW)
        self.size = size
        self._shared = mmap.mmap(self.file, size, flags=mmap.MAP_SHARED | NO_RESERVE)
        self._private = mmap.mmap(self.file, size, flags=mmap.MAP_PRIVATE | NO_RESERVE)
        self.shared: NDArray[np.uint8] = np.frombuffer(self._shared, np.uint8)
        self.private: NDArray[np.uint8] = np.frombuffer(self._private, np.uint8)

    @staticmethod
    def offset(address: int) -> int:
        """Return where a device address lies in the mappings."""
        return address - ARENA

    def bytes_at(self, address: int, size: int) -> NDArray[np.uint8]:
        """Return what lies at a device address; a view that can be written."""
        return self.shared[self.offset(address) : self.offset(address) + size]

    def forget(self) -> None:
        """Drop what was written to the private mapping."""
        self._private.madvise(mmap.MADV_DONTNEED)

    def close(self) -> None:
        """Give the file up: the last process that maps it frees the memory."""
        os.close(self.file)


@dataclass(frozen=True, slots=True)
class Block:
    """An allocation of the program, of whatever kind."""

    address: int
    bytes: int
    kind: Memory
    name: str = ""


class Allocations:
    """What the program has allocated, by address."""

    def __init__(self) -> None:
        self._blocks: dict[int, Block] = {}
        self._sorted: list[int] = []
        self._named: dict[str, set[int]] = {}
        self._shared: set[int] = set()
        self._table: AllocationTable | None = None
        self._highest = ARENA
        self.textures: dict[int, Texture] = {}
        """Texture and surface objects by what kernels get of them."""
        self.lost: dict[int, str] = {}
        """Addresses of allocations whose contents were not computed, and by which launch and why."""

    def add(self, block: Block) -> None:
        """Know an allocation."""
        self._forget(block.address)
        self._blocks[block.address], self._table = block, None
        insort(self._sorted, block.address)
        self._named.setdefault(self.name(block.address), set()).add(block.address)
        if block.kind in SHARED:
            self._shared.add(block.address)
        self._highest = max(self._highest, block.address + block.bytes)

    def remove(self, address: int) -> None:
        """Forget an allocation; unknown addresses are ignored, as the client has said so to the program."""
        self._forget(address)
        self.lost.pop(address, None)

    def _forget(self, address: int) -> None:
        """Take an allocation out of what it is looked up by."""
        if address in self._blocks:
            self._named[self.name(address)].discard(address)
            del self._blocks[address], self._sorted[bisect_left(self._sorted, address)]
            self._shared.discard(address)
            self._table = None

    def at(self, address: int) -> Block | None:
        """Return the allocation that an address lies in, or None."""
        place = bisect_right(self._sorted, address) - 1
        if place < 0:
            return None
        block = self._blocks[self._sorted[place]]
        return block if address < block.address + max(1, block.bytes) else None

    def lose(self, addresses: Iterable[int] | None, why: str) -> None:
        """Know that what was to be written to allocations, None: to any memory, was not computed."""
        self.lost |= dict.fromkeys((*self._blocks, ELSEWHERE) if addresses is None else addresses, why)

    def why_lost(self, addresses: Iterable[int] | None) -> str:
        """Return why some of these allocations, None: any memory, are lost; empty if they are not."""
        found = self.lost if addresses is None else addresses
        return next((self.lost[one] for one in found if one in self.lost), "")

    @property
    def shared_lost(self) -> str:
        """Why memory is lost that the program reads without asking, empty if none is."""
        return self.why_lost(self._shared)

    def overwritten(self, address: int, size: int, why_lost: str = "") -> None:
        """Know that bytes were copied or filled in, which were lost where they came from: why.

        An allocation that was lost is whole again once all of it is overwritten.
        """
        block = self.at(address)
        if block is not None and why_lost:
            self.lost[block.address] = why_lost
        elif block is not None and address == block.address and size >= block.bytes:
            self.lost.pop(address, None)

    def named(self, address: int, name: str) -> None:
        """Call an allocation by the name that a kernel's parameter has for it; the first one stays.

        Where another allocation has that name, a number behind it tells them apart.
        """
        block = self.at(address)
        if block is None or block.name:
            return
        numbered = (f"{name} ({number})" for number in count(2))
        free = next(each for each in chain((name,), numbered) if not self._named.get(each))
        self.add(replace(block, name=free))

    def name(self, address: int) -> str:
        """Return what :meth:`table` calls the allocation at an address."""
        return self._blocks[address].name or f"{address:#x}"

    @property
    def of_textures(self) -> frozenset[int] | None:
        """Addresses of the allocations that texture and surface objects lie in; None if not all are known."""
        found = [self.at(texture.address) for texture in self.textures.values()]
        known = frozenset(block.address for block in found if block is not None)
        return known if all(found) else None

    def by_name(self, name: str) -> list[Block]:
        """Return the allocations that :meth:`table` calls by a name."""
        return [self._blocks[address] for address in self._named.get(name, ())]

    def table(self) -> AllocationTable:
        """Return what the emulator tells buffers apart by."""
        if self._table is None:
            filled = (block for block in self._blocks.values() if block.bytes)
            self._table = AllocationTable.of(
                Allocation(b.address, b.bytes, self.name(b.address)) for b in filled
            )
        return self._table

    @property
    def has_shared(self) -> bool:
        """Whether there is memory that the program writes without asking."""
        return bool(self._shared)

    @property
    def end(self) -> int:
        """Bytes of the arena that may be touched without a fault."""
        return -(-(self._highest - ARENA) // PAGE) * PAGE


def device_memory(
    area: NDArray[np.uint8], allocations: Allocations, memory: ArenaMemory | None = None
) -> ArenaMemory:
    """Return a mapping of the arena as the emulator's device memory: a new one, or ``memory``, updated."""
    mapped, table = area[: max(PAGE, allocations.end)], allocations.table()
    if memory is None:
        memory = ArenaMemory(mapped, table)
    memory.update(mapped, table)
    memory.textures = allocations.textures
    return memory
