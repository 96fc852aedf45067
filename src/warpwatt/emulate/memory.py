"""The memory of the emulated device: sparse buffers whose pages come into being when first touched.

A device address is ``slot << 40 | byte offset``. Slot 0 is never mapped (null pointers), slot 1 holds the
module's global variables, the slots behind it one buffer each. Memory is the host's own: an engine adds the
offset to ``bases[slot]`` after it has compared it with ``sizes[slot]``.

Buffers that begin as random numbers, ones or a range are reserved but not written. Each has one byte per
page of 512 bytes; where ``page_flags[slot]`` is not 0, an engine makes a page (:meth:`DeviceMemory.touch`,
or the same arithmetic natively from ``fill_kinds``, ``fill_keys`` and ``fill_factors``, see
:mod:`warpwatt.emulate.fills`) before it is changed or often read, and sets its byte.
"""

from __future__ import annotations

import mmap
import sys
from collections.abc import Mapping
from pathlib import Path
from tokenize import TokenError
from typing import TYPE_CHECKING, Any

import numpy as np

from warpwatt.core.arguments import Buffer, DType, Fill
from warpwatt.core.arrays import unique
from warpwatt.core.errors import InputError, LaunchError
from warpwatt.emulate import fills
from warpwatt.emulate.device_heap import HEAP_BYTES, DeviceHeap
from warpwatt.emulate.layout import (
    FIRST_BUFFER_SLOT,
    GLOBALS_SLOT,
    GRID_WORKSPACE_SLOT,
    HEAP_SLOT,
    SHARED_SLOT,
    SLOT_BITS,
    TEXTURE_SLOT,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from warpwatt.emulate.run import Run
    from warpwatt.emulate.textures import Texture

SLOTS = 256
PAGE_BITS = 9
PAGE = 1 << PAGE_BITS
MADE = 1
"""The flag of a page that has its contents; others count how often it was read before it had."""
GRID_WORKSPACE_BYTES = 8
"""``struct grid_workspace`` of ``cooperative_groups/details/driver_abi.h``."""
OFFSET_MASK = (1 << SLOT_BITS) - 1
FILL_KINDS = {Fill.RANDOM: 1, Fill.ONES: 2, Fill.ARANGE: 3, Fill.INDICES: 4, Fill.OFFSETS: 5}
"""Codes of ``fill_kinds``, in the upper byte; the element type's place in ``DTYPES`` is in the lower."""
DTYPES = tuple(DType)
TEXTURES, TEXTURE_BYTES, TEXTURE_EXTENTS = 8, 1 << 32, (1 << 14, 1 << 13, 1 << 3)
"""Textures that nobody has described: how many are told apart, address space of each, their elements."""
NO_RESERVE = 0x4000 if sys.platform == "linux" else 0x40
"""``MAP_NORESERVE``: address space that costs nothing until it is touched."""


class DeviceMemory:
    """Global variables and buffers of one emulated device.

    Attributes
    ----------
    bases, sizes
        ``int64[256]``: host address and bytes of each slot; 0 where nothing is.
    page_flags
        ``int64[256]``: host address of a byte per page, 1 where it has its contents; 0 if all have.
    fill_kinds, fill_keys, fill_factors
        ``int64[256]``, ``uint64[256]`` and ``float64[256]``: what an untouched page holds, see the module,
        ``FILL_KINDS`` and :func:`warpwatt.emulate.fills.factor`.
    heap_bytes
        Size of the heap, to be set before a kernel first allocates (``cudaLimitMallocHeapSize``).
    textures
        Texture and surface objects by the number that kernels have of them.

    >>> memory = DeviceMemory()
    >>> address = memory.describe("x", Buffer(DType.I32, (5,), Fill.ARANGE))
    >>> hex(address), memory.array("x").tolist()
    ('0x20000000000', [0, 1, 2, 3, 4])
    """

    def __init__(self) -> None:
        self.bases = np.zeros(SLOTS, np.int64)
        self.sizes = np.zeros(SLOTS, np.int64)
        self.page_flags = np.zeros(SLOTS, np.int64)
        self.fill_kinds = np.zeros(SLOTS, np.int64)
        self.fill_keys = np.zeros(SLOTS, np.uint64)
        self.fill_factors = np.zeros(SLOTS, np.float64)
        self._bytes: dict[int, NDArray[np.uint8]] = {}
        self._flags: dict[int, NDArray[np.uint8]] = {}
        self._buffers: dict[int, Buffer] = {}
        self._fronts: dict[int, int] = {}
        self._arrays: dict[str, tuple[int, np.dtype[Any], tuple[int, ...]]] = {}
        self._variables: dict[str, tuple[int, int]] = {}
        self._next = FIRST_BUFFER_SLOT
        self.heap_bytes = HEAP_BYTES
        self.textures: dict[int, Texture] = {}
        self._heap: DeviceHeap | None = None

    # -- placing --------------------------------------------------------------------------------------

    def set_variables(self, image: bytes, places: Mapping[str, tuple[int, int]]) -> None:
        """Give the module's global variables (slot 1) their bytes; known ones keep what they hold.

        ``places`` are offset and size of each variable: kernels of one module may see different ones.
        """
        data = _reserve(len(image))
        data[:] = np.frombuffer(image, np.uint8)
        for name, (offset, size) in places.items():
            if name in self._variables:
                old, _ = self._variables[name]
                data[offset : offset + size] = self._bytes[GLOBALS_SLOT][old : old + size]
        self._variables = dict(places)
        self._map(GLOBALS_SLOT, data)

    def describe(
        self, name: str, buffer: Buffer, folder: Path | None = None, room: tuple[int, int] = (0, 0)
    ) -> int:
        """Place a described buffer and return its address; files are looked for in ``folder``.

        ``room``: bytes in front of it and behind it that belong to nobody and hold zeros; the former
        keep it aligned.

        Raises
        ------
        InputError
            If a file cannot be read or does not hold what the description says.
        LaunchError
            If there are too many buffers, or no address space is left.
        """
        slot = self._take(name, np.dtype(fills.NUMPY[buffer.dtype]), buffer.shape)
        if buffer.fill is Fill.FILE:
            self._map(slot, _read(name, buffer, folder))
            return slot << SLOT_BITS
        front, behind = room
        self._map(slot, _reserve(front + buffer.nbytes + behind))
        if buffer.fill is not Fill.ZEROS:
            alike = [(b.dtype, b.fill) for b in self._buffers.values()].count((buffer.dtype, buffer.fill))
            self._flags[slot] = flags = _reserve(-(-max(1, int(self.sizes[slot])) // PAGE))
            self._buffers[slot], self._fronts[slot] = buffer, front
            self.page_flags[slot] = flags.ctypes.data
            if room == (0, 0):  # else the engine would not know where it begins, and has them made here
                self.fill_kinds[slot] = FILL_KINDS[buffer.fill] << 8 | DTYPES.index(buffer.dtype)
            self.fill_keys[slot] = fills.key(buffer, alike)
            self.fill_factors[slot] = fills.factor(buffer)
        return (slot << SLOT_BITS) + front

    def place(self, name: str, array: NDArray[Any]) -> int:
        """Copy an array onto the device and return its address.

        >>> memory = DeviceMemory()
        >>> _ = memory.place("x", np.array([1.5, 2.5]))
        >>> memory.array("x")
        array([1.5, 2.5])
        """
        slot = self._take(name, array.dtype, array.shape)
        self._map(slot, _reserve(array.nbytes))
        self._bytes[slot][:] = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
        return slot << SLOT_BITS

    def write(self, address: int, data: bytes) -> None:
        """Overwrite bytes of the device; the range must lie in one buffer."""
        self.touch(address, len(data))
        slot, offset = address >> SLOT_BITS, address & OFFSET_MASK
        self._bytes[slot][offset : offset + len(data)] = np.frombuffer(data, np.uint8)

    def read(self, address: int, size: int) -> bytes:
        """Return bytes of the device; the range must lie in one buffer."""
        self.touch(address, size)
        slot, offset = address >> SLOT_BITS, address & OFFSET_MASK
        return self._bytes[slot][offset : offset + size].tobytes()

    # -- looking --------------------------------------------------------------------------------------

    def address(self, name: str) -> int:
        """Return the device address of a buffer by its name; ``KeyError`` if there is none."""
        return self._arrays[name][0] << SLOT_BITS

    @property
    def buffers(self) -> Mapping[int, tuple[str, float | None]]:
        """Name and bytes of each buffer by slot."""
        return {slot: (name, float(self.sizes[slot])) for name, (slot, _, _) in self._arrays.items()}

    @property
    def allocations(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Where each allocation in the arena begins, and the address behind it, in order: here none.

        The functional engine holds accesses to these bounds.
        """
        return np.zeros(0, np.int64), np.zeros(0, np.int64)

    @property
    def heap(self) -> DeviceHeap:
        """What kernels allocate from; it lives as long as the device."""
        if self._heap is None:
            self._heap = DeviceHeap(HEAP_SLOT << SLOT_BITS, self.heap_bytes)
            self._map(HEAP_SLOT, _reserve(self.heap_bytes))
        return self._heap

    def make_grid_workspace(self) -> None:
        """Let the blocks of a cooperative launch wait for each other: its size and a count, 4 bytes each."""
        self._map(GRID_WORKSPACE_SLOT, _reserve(GRID_WORKSPACE_BYTES))

    def undescribed_texture(self, handle: int) -> Texture:
        """Return where a texture might lie that nobody has described: rows without end, side by side."""
        if not self.sizes[TEXTURE_SLOT]:
            self._map(TEXTURE_SLOT, _reserve(TEXTURES * TEXTURE_BYTES))
        from warpwatt.emulate.textures import Texture

        first = (TEXTURE_SLOT << SLOT_BITS) + handle % TEXTURES * TEXTURE_BYTES
        width, height, depth = TEXTURE_EXTENTS
        pitch = TEXTURE_BYTES // height // depth
        return Texture(first, width, height, depth, pitch, pitch * height)

    def share_heap(self, other: DeviceMemory) -> None:
        """Allocate from the heap of another device: what one launch has allocated, a later one may free."""
        self._heap = other.heap
        self._map(HEAP_SLOT, other.bytes_of(HEAP_SLOT))

    def copy_heap(self, other: DeviceMemory) -> None:
        """Find what another device's heap holds, if kernels have allocated from it; it stays as it is."""
        if other._heap is not None:
            self._heap = other._heap.copy()
            self._map(HEAP_SLOT, other.bytes_of(HEAP_SLOT).copy())

    def localised(self, run: Run) -> Run:
        """Return a run whose addresses tell by their slots which buffer they lie in: here as it is."""
        return run

    def array(self, name: str) -> NDArray[Any]:
        """Return a buffer as an array that shares the device's memory, all its pages made."""
        slot, dtype, shape = self._arrays[name]
        self.touch(slot << SLOT_BITS, int(self.sizes[slot]))
        return self._bytes[slot].view(dtype).reshape(shape)

    def bytes_of(self, slot: int) -> NDArray[np.uint8]:
        """Return the raw bytes of a slot; pages that were not touched read as zeros.

        >>> memory = DeviceMemory()
        >>> memory.set_variables(b"ab", {})
        >>> memory.bytes_of(1).tolist()
        [97, 98]
        """
        return self._bytes[slot]

    # -- first touch ----------------------------------------------------------------------------------

    def touch(self, address: int, size: int) -> None:
        """Make the pages of a range that have no contents yet; what lies outside a buffer is ignored."""
        slot, offset = address >> SLOT_BITS, address & OFFSET_MASK
        flags = self._flags.get(slot)
        if flags is None or size <= 0:
            return
        first, last = offset >> PAGE_BITS, min((offset + size - 1) >> PAGE_BITS, len(flags) - 1)
        for start, stop in _runs(np.flatnonzero(flags[first : last + 1] != MADE) + first):
            self._make(slot, start, stop)

    def touch_pages(self, addresses: NDArray[np.int64], size: int) -> None:
        """Do the same for an access of ``size`` bytes at each address, all within one buffer, aligned."""
        slot = int(addresses[0]) >> SLOT_BITS if addresses.size else 0
        flags = self._flags.get(slot)
        if flags is None:
            return
        pages = (addresses & OFFSET_MASK) >> PAGE_BITS
        for page in unique(pages[flags[pages] != MADE]).tolist():
            self.touch((slot << SLOT_BITS) + (page << PAGE_BITS), size)

    def _make(self, slot: int, first: int, stop: int) -> None:
        """Give pages ``first`` to ``stop`` of a slot their contents."""
        buffer, front = self._buffers[slot], self._fronts[slot]
        start = max(first << PAGE_BITS, front)
        end = min(stop << PAGE_BITS, front + buffer.nbytes)
        if start < end:
            width = buffer.dtype.size
            key, index = int(self.fill_keys[slot]), (start - front) // width
            values = fills.elements(buffer, key, index, (end - start) // width)
            self._bytes[slot][start:end] = values.view(np.uint8)
        self._flags[slot][first:stop] = MADE

    # -- slots ----------------------------------------------------------------------------------------

    def _take(self, name: str, dtype: np.dtype[Any], shape: tuple[int, ...]) -> int:
        slot = self._next
        if slot >= SHARED_SLOT:
            raise LaunchError(f"more than {SHARED_SLOT - FIRST_BUFFER_SLOT} buffers")
        self._arrays[name] = slot, dtype, shape
        self._next += 1
        return slot

    def _map(self, slot: int, data: NDArray[np.uint8]) -> None:
        self._bytes[slot] = data
        self.bases[slot] = data.ctypes.data
        self.sizes[slot] = data.nbytes


def _reserve(size: int) -> NDArray[np.uint8]:
    """Return ``size`` zero bytes of address space that cost nothing until they are touched."""
    if size > OFFSET_MASK:
        raise LaunchError(f"a buffer of {size} bytes: the emulator holds at most {OFFSET_MASK}")
    try:
        if sys.platform == "win32":
            area = mmap.mmap(-1, max(size, 1))
        else:
            flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | NO_RESERVE
            area = mmap.mmap(-1, max(size, 1), flags=flags)
    except (OSError, OverflowError) as error:
        raise LaunchError(f"no address space for a buffer of {size} bytes: {error}") from None
    return np.frombuffer(area, np.uint8, size)


def _read(name: str, buffer: Buffer, folder: Path | None) -> NDArray[np.uint8]:
    """Return the bytes of a ``.npy`` file, mapped so that writes stay private."""
    path = folder / buffer.path if folder else Path(buffer.path)
    try:
        array: NDArray[Any] = np.load(path, mmap_mode="c", allow_pickle=False)
    except OSError as error:
        raise InputError(f"buffer {name!r}: {error.strerror or error}", file=path) from None
    except (EOFError, ValueError, TypeError, SyntaxError, TokenError, OverflowError):  # headers are Python
        hint = "write it with numpy.save, from an array of numbers"
        raise InputError(f"buffer {name!r}: not a NumPy file of numbers", file=path, hint=hint) from None
    wanted = np.dtype(fills.NUMPY[buffer.dtype])
    if array.dtype != wanted or array.size != buffer.elements:
        raise InputError(
            f"buffer {name!r} is {array.dtype}{list(array.shape)}, described as {wanted}{list(buffer.shape)}",
            file=path,
            hint=f"describe it as it is, --arg {name}=TYPE[SHAPE]:{buffer.path}, or save it again",
        )
    return np.asarray(np.ascontiguousarray(array).reshape(-1).view(np.uint8))


def _runs(pages: NDArray[np.int64]) -> list[tuple[int, int]]:
    """Return consecutive numbers as (first, behind the last).

    >>> _runs(np.array([1, 2, 5]))
    [(1, 3), (5, 6)]
    """
    if not pages.size:
        return []
    breaks = np.flatnonzero(np.diff(pages) != 1) + 1
    return [(int(part[0]), int(part[-1]) + 1) for part in np.split(pages, breaks)]
