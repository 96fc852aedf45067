"""Matrices in shared memory as the warp group's matrix instructions read them: descriptors and their layouts.

A descriptor (PTX ISA 9.7.15.5, "Matrix descriptor") holds, in units of 16 bytes, the start (bits 0-13), the
leading byte offset (16-29) and the stride byte offset (32-45), and in bits 62-63 the swizzle. Layouts:
CUTLASS, ``cute/arch/mma_sm90_desc.hpp``. Rows of eight, or units of 16 bytes across, repeat at these offsets.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from warpwatt.emulate.formats import BITS, decode, encode
from warpwatt.emulate.fragments import fragment
from warpwatt.emulate.layout import SHARED_SLOT, SLOT_BITS

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray


class Caller(Protocol):
    """The calling warp, as far as matrices ask."""

    @property
    def warp_in_block(self) -> int:
        """Its number in its block."""

    def read(self, lane: int, address: int, size: int) -> bytes:
        """Return bytes at a generic address; fewer where memory ends."""


_UNIT = 16
"""Bytes that no swizzle takes apart."""
_SPANS = (_UNIT, 128, 64, 32)
"""Bytes of a row, by the swizzle's code."""
_ROWS = 16
"""Rows of D that one of the four warps has."""
_WARPS = 4


@dataclass(frozen=True, slots=True)
class Descriptor:
    """A matrix in shared memory; offsets in bytes."""

    start: int
    leading: int
    stride: int
    span: int
    """Bytes within which units of 16 bytes are permuted; 16: none are."""

    @classmethod
    def decode(cls, word: int) -> Descriptor:
        """Return what a 64-bit descriptor says.

        >>> Descriptor.decode(1 << 62 | 64 << 32 | 1 << 16 | 0x40)
        Descriptor(start=1024, leading=16, stride=1024, span=128)
        """
        start, leading, stride = (_UNIT * (word >> at & 0x3FFF) for at in (0, 16, 32))
        return cls(start, leading, stride, _SPANS[word >> 62 & 3])

    def addresses(self, across: int, deep: int, size: int, *, transposed: bool) -> NDArray[np.int64]:
        """Return where elements of ``size`` bytes lie, shape (across, deep): along M or N, and along K.

        ``transposed``: elements side by side differ in M or N, else in K.

        >>> Descriptor(0, 16, 1024, 128).addresses(16, 16, 2, transposed=False)[[0, 1, 1, 8], [1, 0, 8, 0]]
        array([   2,  144,  128, 1024])
        """
        x, k = np.indices((across, deep))
        plain = self._transposed(x, k, size) if transposed else self._rows(x, k * size)
        at: NDArray[np.int64] = self.start + plain
        permuted: NDArray[np.int64] = at ^ (at >> 3 & (self.span // _UNIT - 1) << 4)
        return permuted

    def _rows(self, row: NDArray[np.int64], byte: NDArray[np.int64]) -> NDArray[np.int64]:
        """K side by side: groups of eight rows at the stride."""
        group = row // 8 * self.stride + row % 8 * self.span
        if self.span > _UNIT:
            return group + byte
        return group + byte // _UNIT * self.leading + byte % _UNIT

    def _transposed(self, x: NDArray[np.int64], k: NDArray[np.int64], size: int) -> NDArray[np.int64]:
        """M or N side by side, a row for each of eight k."""
        byte = x * size
        along_x, along_k = (self.leading, self.stride) if self.span > _UNIT else (self.stride, self.leading)
        return byte // self.span * along_x + byte % self.span + k // 8 * along_k + k % 8 * self.span


def wgmma(
    caller: Caller, args: NDArray[np.uint64], _mask: NDArray[np.bool_], constants: tuple[object, ...]
) -> NDArray[np.uint64]:
    """Return a warp's 16 rows of D = A × B + C, summed in float64 (integers: exactly) and rounded once.

    ``constants``: n, k; the PTX types of A, B and of C and D; whether A is in registers; whether A and B are
    transposed, and negated. ``args``: A's registers if it is there, the words of both descriptors, whether C
    is added, C's registers.
    """
    given: tuple[Any, ...] = constants
    n, k, a_kind, b_kind, kind, in_registers, a_across, b_across, a_negated, b_negated = given
    layout = fragment("a", _ROWS, k, BITS[a_kind])
    registers, rest = (args[: layout.registers], args[layout.registers :]) if in_registers else (None, args)
    words = [int(rest[place, 0]) for place in range(4)]
    descriptors = [Descriptor.decode(words[j] | words[j + 1] << 32) for j in (0, 2)]
    first = _ROWS * (caller.warp_in_block % _WARPS)
    if registers is not None:
        a = decode(layout.gather(registers), a_kind)
    else:
        a = _read(caller, descriptors[0], (_ROWS * _WARPS, k), a_kind, a_across)[first : first + _ROWS]
    b = _read(caller, descriptors[1], (n, k), b_kind, b_across).T
    sums = fragment("c", _ROWS, n, BITS[kind])
    c = decode(sums.gather(rest[5:]), kind)
    with np.errstate(invalid="ignore", over="ignore"):
        product = (a @ b) * (-1 if a_negated != b_negated else 1)
        return sums.scatter(encode(product + c if rest[4, 0] else product, kind))


def _read(
    caller: Caller, matrix: Descriptor, shape: tuple[int, int], kind: str, transposed: bool
) -> NDArray[Any]:
    """Return a matrix, shape (along M or N, along K)."""
    size = BITS[kind] // 8

    def shared(offset: int, size: int) -> bytes:
        return caller.read(0, (SHARED_SLOT << SLOT_BITS) + offset, size)

    return decode(placed(shared, matrix.addresses(*shape, size, transposed=transposed), size), kind)


def placed(read: Callable[[int, int], bytes], places: NDArray[np.int64], size: int) -> NDArray[np.uint64]:
    """Return elements of ``size`` bytes; ``read(offset, bytes)`` gives memory, 0 where it ends."""
    first, last = int(places.min()), int(places.max())
    held = np.frombuffer(read(first, last + size - first).ljust(last + size - first, b"\0"), np.uint8)
    elements = np.zeros(places.shape, np.uint64)
    for byte in range(size):
        elements |= held[places - first + byte].astype(np.uint64) << np.uint64(8 * byte)
    return elements
