"""Memory as the interpreter sees it: which space an address lies in, bounds, loads and stores by lane.

All lanes of several warps are accessed together: arrays are of shape (warps, 32).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from warpwatt.emulate.layout import (
    CONSTANT_BANK,
    CONSTANT_SLOT,
    LOCAL_SLOT,
    PARAMETER_BANK,
    PARAMETER_SLOT,
    SHARED_SLOT,
    SLOT_BITS,
)
from warpwatt.emulate.lift.barriers import PHASE_AT

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from tests.emulate.reference.state import Warps
    from warpwatt.emulate.memory import DeviceMemory
    from warpwatt.emulate.run import Fault

    Array = NDArray[Any]

OFFSET = (1 << SLOT_BITS) - 1
_WINDOWS = {"shared": SHARED_SLOT, "local": LOCAL_SLOT}
_BANK_OF = {PARAMETER_SLOT: PARAMETER_BANK, CONSTANT_SLOT: CONSTANT_BANK}
CONSTANT_WINDOWS = frozenset(_BANK_OF)


class FaultError(Exception):
    """A thread did what it must not; carries the :class:`~warpwatt.emulate.run.Fault`."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.reason)
        self.fault = fault


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """The lanes of an access that go to one slot.

    ``lanes`` is the mask; ``elements`` the slot's memory as elements (per block for shared, per thread for
    local memory: then ``owners`` says whose of it, by lane) and ``index`` each lane's first element.
    """

    slot: int
    lanes: Array
    elements: Array
    index: Array
    owners: Array | None

    def gather(self, k: int) -> Array:
        """Return element ``k`` behind each lane's address."""
        if self.owners is None:
            return np.asarray(self.elements[self.index + k])
        return np.asarray(self.elements[self.owners, self.index + k])

    def scatter(self, k: int, values: Array) -> None:
        """Write element ``k`` behind each lane's address, in lane order."""
        if self.owners is None:
            self.elements[self.index + k] = values
        else:
            self.elements[self.owners, self.index + k] = values


class Spaces:
    """The memory of some blocks: the device's buffers, their shared and local memory, constant banks."""

    def __init__(self, memory: DeviceMemory, banks: Mapping[int, bytes], warps: Warps) -> None:
        self.memory = memory
        self.banks = {number: np.frombuffer(data, np.uint8) for number, data in banks.items()}
        self.warps = warps
        shared, local = warps.context.shared, warps.context.local
        self.shared = np.zeros((warps.blocks, _padded(shared)), np.uint8)
        self.local = np.zeros((warps.count * 32, _padded(local)), np.uint8)
        self.limits = {SHARED_SLOT: shared, LOCAL_SLOT: local}

    def addresses(self, space: str, address: Array, bank: int = 0) -> Array:
        """Return addresses with their slot in the upper bits, whatever space the instruction names."""
        wide = address.astype(np.uint64)
        if space in ("global", "generic"):
            return wide
        if space == "const":
            window = next((slot for slot, known in _BANK_OF.items() if known == bank), bank)
            return (wide & np.uint64(OFFSET)) | np.uint64(window << SLOT_BITS)
        if address.dtype.itemsize == 8:
            wide &= np.uint64(OFFSET)
        return wide | np.uint64(_WINDOWS[space] << SLOT_BITS)

    def parities(self, warps: Warps, addresses: Array, lanes: Array) -> Array:
        """Return the parity of the phase of the barrier object at each lane's shared address."""
        found = np.zeros(addresses.shape, np.uint32)
        for row, lane in zip(*np.nonzero(lanes), strict=True):
            at = int(addresses[row, lane]) & OFFSET
            word = self.shared[warps.block_of[row], at : at + 8].view(np.uint64)
            found[row, lane] = word[0] >> np.uint64(PHASE_AT) & np.uint64(1)
        return found

    def pieces(
        self, rows: Array, addresses: Array, lanes: Array, dtype: np.dtype[Any], count: int, *,
        instruction: int, bank: int | None = None,
    ) -> Iterator[Piece]:  # fmt: skip
        """Yield the parts of an access by slot, lanes in order.

        Raises
        ------
        FaultError
            For the first lane that is out of bounds or misaligned.
        """
        size = dtype.itemsize * count
        slots = (addresses >> np.uint64(SLOT_BITS)).astype(np.int64)
        offsets = (addresses & np.uint64(OFFSET)).astype(np.int64)
        limits = self._limits(slots, bank)
        wrong = lanes & ((offsets + size > limits) | (offsets % size != 0))
        if wrong.any():
            self._fault(rows, addresses, wrong, size, limits, instruction)
        for slot in different(slots[lanes]):
            chosen = lanes & (slots == slot)
            where, column = np.nonzero(chosen)
            offset = offsets[where, column]
            elements, owners = self._storage(slot, rows[where], column, bank)
            if bank is None:
                self.memory.touch_pages((slot << SLOT_BITS) + offset, size)
            usable = elements.shape[-1] // dtype.itemsize * dtype.itemsize
            yield Piece(slot, chosen, elements[..., :usable].view(dtype), offset // dtype.itemsize, owners)

    def _limits(self, slots: Array, bank: int | None) -> Array:
        """Return the bytes behind each slot."""
        if bank is not None:
            return np.full(slots.shape, len(self.banks.get(bank, b"")))
        known = np.zeros(1 << 9, np.int64)
        known[: len(self.memory.sizes)] = self.memory.sizes
        for slot, limit in self.limits.items():
            known[slot] = limit
        for slot, number in _BANK_OF.items():
            known[slot] = len(self.banks.get(number, b""))
        return known[np.where((slots >= 0) & (slots < 256), slots, 256)]

    def _storage(self, slot: int, warps: Array, lanes: Array, bank: int | None) -> tuple[Array, Array | None]:
        if bank is not None:
            return self.banks[bank], None
        if slot == SHARED_SLOT:
            return self.shared, self.warps.block_of[warps]
        if slot == LOCAL_SLOT:
            return self.local, warps * 32 + lanes
        if slot in _BANK_OF:
            return self.banks[_BANK_OF[slot]], None
        return self.memory.bytes_of(slot), None

    def _fault(
        self, rows: Array, addresses: Array, wrong: Array, size: int, limits: Array, instruction: int
    ) -> None:
        row, lane = (int(part[0]) for part in np.nonzero(wrong))
        address = int(addresses[row, lane])
        aligned = address % size == 0
        reason = "misaligned" if not aligned else "out of bounds" if limits[row, lane] else "no such memory"
        raise FaultError(self.warps.fault(int(rows[row]), lane, instruction, address, size, reason))


def different(values: Array) -> list[int]:
    """Return the different values in order; mostly they are all the same."""
    same = not values.size or (values == values[0]).all()
    return [int(value) for value in (values[:1] if same else np.unique(values))]


def _padded(size: int) -> int:
    """Return a size at which memory can be viewed as elements of up to 16 bytes."""
    return -(-max(size, 1) // 16) * 16
