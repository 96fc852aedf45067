"""Which lane holds which element of a matrix: the fragments of mma, wmma and wgmma (PTX ISA 9.7.14).

One rule gives them all. A register holds ``e = 32 / bits`` elements (one, if they are wider). With
g = lane / 4 and t = lane mod 4, register r of an m × k matrix A holds row g + 8 (r mod m/8) and columns
e t + 4 e ⌊r / (m/8)⌋ onwards; B (k × n) is A transposed with its registers down the columns first; of C and D
(m × n), pairs of columns: element pair p holds row g + 8 (p mod m/8), columns 2 t + 8 ⌊p / (m/8)⌋ onwards.

For mma this is the documented layout. For wmma, whose layout is left open, it is what the machine code uses.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

WARP = 32


@dataclass(frozen=True, slots=True, eq=False)
class Fragment:
    """For each element of a rows × columns matrix: its lane, its register there, its lowest bit in it.

    Arrays of shape (rows, columns). ``registers`` per lane; ``bits`` of an element.
    """

    lane: NDArray[np.int64]
    register: NDArray[np.int64]
    shift: NDArray[np.int64]
    registers: int
    bits: int

    def gather(self, values: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """Return the elements' bits as a matrix from registers of shape (registers, lanes)."""
        mask = np.uint64((1 << self.bits) - 1)
        found: NDArray[np.uint64] = values[self.register, self.lane] >> self.shift.astype(np.uint64) & mask
        return found

    def scatter(self, matrix: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """Return registers of shape (registers, lanes) from the elements' bits as a matrix."""
        values = np.zeros((self.registers, WARP), np.uint64)
        np.bitwise_or.at(values, (self.register, self.lane), matrix << self.shift.astype(np.uint64))
        return values


@lru_cache(maxsize=256)
def fragment(matrix: str, rows: int, columns: int, bits: int) -> Fragment:
    """Return the layout of matrix ``a``, ``b`` or ``c`` (D is as C) with elements of ``bits``.

    >>> found = fragment("a", 16, 16, 16)
    >>> found.registers, found.lane[8, 2], found.register[8, 2], found.shift[8, 3]
    (4, np.int64(1), np.int64(1), np.int64(16))
    """
    row, column = np.indices((rows, columns))
    if matrix == "c":
        return _accumulator(row, column, rows, columns, bits)
    if matrix == "b":
        row, column, rows, columns = column, row, columns, rows
    each = max(1, 32 // bits)
    down = rows // 8
    across = columns // (4 * each)
    lane = row % 8 * 4 + column // each % 4
    if matrix == "a":
        register = row // 8 + down * (column // (4 * each))
    else:
        register = column // (4 * each) + across * (row // 8)
    return Fragment(lane, register, column % each * bits, down * across, bits)


def _accumulator(
    row: NDArray[np.int64], column: NDArray[np.int64], rows: int, columns: int, bits: int
) -> Fragment:
    lane = row % 8 * 4 + column // 2 % 4
    number = 2 * (row // 8 + rows // 8 * (column // 8)) + column % 2
    each = max(1, 32 // bits)
    return Fragment(lane, number // each, number % each * bits, rows * columns // WARP // each, bits)
