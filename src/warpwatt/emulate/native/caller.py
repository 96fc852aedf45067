"""The warp that calls a function of the system, as that function sees it."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from warpwatt.core.launch import WARP_SIZE
from warpwatt.emulate.layout import (
    CONSTANT_BANK,
    CONSTANT_SLOT,
    LOCAL_SLOT,
    PARAMETER_BANK,
    PARAMETER_SLOT,
    SHARED_SLOT,
    SLOT_BITS,
)
from warpwatt.emulate.native.records import BLOCK, WARP, record_at
from warpwatt.emulate.tensor_memory import COLUMNS, LANES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from warpwatt.core.launch import Dim3
    from warpwatt.emulate.device_heap import DeviceHeap
    from warpwatt.emulate.memory import DeviceMemory
    from warpwatt.emulate.run import Context
    from warpwatt.emulate.system_caller import ChildLaunch

MOST_TENSOR_MEMORIES = 256
"""Blocks whose tensor memory (256 KiB) is kept: more than run at one time."""
_BANKS = {PARAMETER_SLOT: PARAMETER_BANK, CONSTANT_SLOT: CONSTANT_BANK}


@dataclass(frozen=True, slots=True, eq=False)
class BlockSide:
    """A block's tensor memory, and where its shared memory lies, with its size."""

    tensor: NDArray[np.uint32]
    start: int
    room: int

    def shared(self, offset: int, size: int) -> bytes:
        """Return bytes of shared memory; fewer where that ends."""
        return ctypes.string_at(self.start + offset, max(0, min(size, self.room - offset)))


@dataclass(slots=True, eq=False)
class WarpCaller:
    """The calling warp of a machine whose record this is.

    ``printed`` takes what is written, with the block's number in the grid; None: nobody wants it.
    """

    record: np.void
    context: Context
    memory: DeviceMemory
    printed: list[tuple[int, str]] | None = field(default=None)
    launched: list[tuple[int, ChildLaunch]] | None = field(default=None)
    """Takes what kernels launch, as ``printed`` takes what they write."""
    buffers: dict[int, ChildLaunch] = field(default_factory=dict)
    """Launches whose parameters are being written, by the address where they lie."""
    _tensors: dict[int, NDArray[np.uint32]] = field(default_factory=dict)
    """Tensor memory by the block's number in the grid, of the last blocks that used theirs."""
    _columns: dict[int, int] = field(default_factory=dict)
    """Columns of it that were allocated; room that is given back is not used again."""

    @property
    def heap(self) -> DeviceHeap:
        """The device's heap."""
        return self.memory.heap

    def read(self, lane: int, address: int, size: int) -> bytes:
        """Return bytes at a generic address as a lane sees it; fewer where memory ends."""
        slot, offset = address >> SLOT_BITS, address & ((1 << SLOT_BITS) - 1)
        if slot in (LOCAL_SLOT, SHARED_SLOT):
            return self._read_own(lane, slot, offset, size)
        if slot in _BANKS:
            return self.context.banks.get(_BANKS[slot], b"")[offset : offset + size]
        room = int(self.memory.sizes[slot]) if slot < len(self.memory.sizes) else 0
        size = max(0, min(size, room - offset))
        return self.memory.read(address, size) if size else b""

    def _read_own(self, lane: int, slot: int, offset: int, size: int) -> bytes:
        """Return bytes of a lane's local memory, or of its block's shared memory."""
        record, warp = self.record, self._warp
        kind = "local" if slot == LOCAL_SLOT else "shared"
        room = max(0, min(size, int(record[f"residents.{kind}_bytes"]) - offset))
        if slot == LOCAL_SLOT:
            start = int(warp["local"]) + lane * int(record["residents.local_stride"])
        else:
            start = int(record_at(int(warp["block"]), BLOCK)["shared"])
        return ctypes.string_at(start + offset, room)

    def print(self, text: str) -> None:
        """Write to the program's output."""
        if self.printed is not None:
            self.printed.append((self._block, text))

    def launch(self, child: ChildLaunch) -> None:
        """Run a kernel once this one has ended."""
        if self.launched is not None:
            self.launched.append((self._block, child))

    def describe(self, lane: int) -> str:
        """Return ``block: [0,0,0], thread: [31,0,0]``."""
        launch, warp = self.context.launch, self._warp
        thread = int(warp["index_in_block"]) * WARP_SIZE + lane
        block = _coordinates(self._block, launch.grid)
        return f"block: {block}, thread: {_coordinates(thread, launch.block)}"

    @property
    def warp_in_block(self) -> int:
        """Number of the warp in its block."""
        return int(self._warp["index_in_block"])

    def side(self, step: int) -> BlockSide:
        """Return the memories of the block ``step`` places further on: of its cluster."""
        record = record_at(int(self._warp["block"]) + step * BLOCK.itemsize, BLOCK)
        number = int(record["index_in_grid"])
        if number not in self._tensors:
            if len(self._tensors) == MOST_TENSOR_MEMORIES:
                del self._tensors[next(iter(self._tensors))]
            self._tensors[number] = np.zeros((LANES, COLUMNS), np.uint32)
        room = int(self.record["residents.shared_bytes"])
        return BlockSide(self._tensors[number], int(record["shared"]), room)

    def allocate(self, columns: int) -> int:
        """Return the first of so many columns of its block's tensor memory that nobody has had."""
        number = int(record_at(int(self._warp["block"]), BLOCK)["index_in_grid"])
        first = self._columns.get(number, 0)
        self._columns[number] = first + columns
        return first % COLUMNS

    @property
    def _block(self) -> int:
        """Number of the warp's block in the grid."""
        return int(record_at(int(self._warp["block"]), BLOCK)["index_in_grid"])

    @property
    def _warp(self) -> np.void:
        return record_at(int(self.record["caller"]), WARP)


def _coordinates(number: int, extent: Dim3) -> str:
    """Return coordinates of a linear number.

    >>> from warpwatt.core.launch import Dim3
    >>> _coordinates(5, Dim3(2, 2, 2))
    '[1,0,1]'
    """
    return f"[{number % extent.x},{number // extent.x % extent.y},{number // (extent.x * extent.y)}]"
