"""What functions of the system are called with: the warp that calls, and what it asks of its device."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from warpwatt.core.launch import Dim3
    from warpwatt.emulate.device_heap import DeviceHeap
    from warpwatt.emulate.tensor_memory import Side

    Bits = NDArray[np.uint64]
    Mask = NDArray[np.bool_]
    Constants = tuple[object, ...]
    Function = Callable[["Caller", Bits, Mask, Constants], Bits]


@dataclass(frozen=True, slots=True)
class ChildLaunch:
    """A launch that a kernel has made; ``kernel`` is its address, ``parameters`` the whole buffer."""

    kernel: int
    grid: Dim3
    block: Dim3
    shared: int
    parameters: bytes = b""


class Caller(Protocol):
    """The warp that calls, and its device."""

    @property
    def warp_in_block(self) -> int:
        """Number of the warp in its block."""
        ...

    @property
    def heap(self) -> DeviceHeap:
        """What ``malloc`` allocates from."""
        ...

    @property
    def buffers(self) -> dict[int, ChildLaunch]:
        """Launches whose parameters are being written, by the address where they lie."""
        ...

    def launch(self, child: ChildLaunch) -> None:
        """Run a kernel once this one has ended."""
        ...

    def side(self, step: int) -> Side:
        """Return the block some ranks further on in its cluster."""
        ...

    def allocate(self, columns: int) -> int:
        """Return the first of so many columns of tensor memory that nobody has."""
        ...

    def read(self, lane: int, address: int, size: int) -> bytes:
        """Return bytes at a generic address as a lane sees it; fewer where memory ends."""
        ...

    def print(self, text: str) -> None:
        """Write to the program's output."""
        ...

    def describe(self, lane: int) -> str:
        """Return block and thread as failed assertions name them."""
        ...
