"""The heap that kernels allocate from (CUDA C++ Programming Guide, "Dynamic Global Memory Allocation")."""

from __future__ import annotations

import threading
from bisect import bisect_left, insort

ALIGNMENT = 16
"""Bytes: what ``malloc`` on the device returns is aligned to them (Programming Guide, same section)."""
HEAP_BYTES = 8 * 2**20
"""Its size unless the host sets ``cudaLimitMallocHeapSize`` (same guide, "Heap Memory Allocation")."""


class DeviceHeap:
    """Free and allocated pieces of a range of addresses; first fit.

    >>> heap = DeviceHeap(0x1000, 64)
    >>> a, b = heap.allocate(10), heap.allocate(40)
    >>> hex(a), hex(b), heap.allocate(1)
    ('0x1000', '0x1010', 0)
    >>> heap.free(a), hex(heap.allocate(16))
    (True, '0x1000')
    """

    def __init__(self, start: int, size: int) -> None:
        self._pieces = [(start, size)]  # free ones by address
        self._sizes: dict[int, int] = {}
        self._lock = threading.Lock()

    def copy(self) -> DeviceHeap:
        """Return one with the same pieces."""
        with self._lock:
            made = DeviceHeap(0, 0)
            made._pieces, made._sizes = list(self._pieces), dict(self._sizes)
        return made

    def allocate(self, size: int) -> int:
        """Return the address of so many bytes; 0 if no piece is large enough, or none are asked for."""
        size = -(-size // ALIGNMENT) * ALIGNMENT
        if size == 0:
            return 0
        with self._lock:
            for place, (start, room) in enumerate(self._pieces):
                if room >= size:
                    self._pieces[place : place + 1] = [(start + size, room - size)] * (room > size)
                    self._sizes[start] = size
                    return start
        return 0

    def free(self, address: int) -> bool:
        """Give a piece back and join it with its neighbours; whether there was one (or ``address`` is 0)."""
        if address == 0:
            return True
        with self._lock:
            size = self._sizes.pop(address, None)
            if size is None:
                return False
            insort(self._pieces, (address, size))
            self._join(bisect_left(self._pieces, (address, size)))
        return True

    def _join(self, place: int) -> None:
        """Join a piece with the ones before and behind it where they touch."""
        for first in (place, place - 1):
            if 0 <= first < len(self._pieces) - 1:
                (start, size), (behind, more) = self._pieces[first : first + 2]
                if start + size == behind:
                    self._pieces[first : first + 2] = [(start, size + more)]
