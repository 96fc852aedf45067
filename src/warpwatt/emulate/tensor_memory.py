"""Tensor memory of Blackwell's data-centre GPUs (PTX ISA 9.7.16, tcgen05): values of its instructions.

A block has 128 lanes (rows) of 512 columns of 32 bits. A product's descriptor (CUTLASS,
``cute/arch/mma_sm100_desc.hpp``) holds types, sizes and what is negated or transposed; matrices in shared
memory have descriptors like wgmma's, with another code for the swizzle. Of a pair of blocks the one of even
rank starts the product, each reads its half of A and of B and holds its rows of D.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from warpwatt.emulate.formats import BITS, decode, encode, scale_values
from warpwatt.emulate.warp_groups import Descriptor, placed

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Words = NDArray[np.uint64]
    Mask = NDArray[np.bool_]
    Constants = tuple[Any, ...]

LANES, COLUMNS = 128, 512
_WARP_LANES = 32
_SPANS = {0: 16, 2: 128, 4: 64, 6: 32}
"""Bytes of a row by the swizzle's code, bits 61-63 of a matrix descriptor of version 1."""
_FORMATS = {
    "UTCHMMA": ("f16", "bf16", "tf32"),
    "UTCQMMA": ("e4m3", "e5m2", "", "e2m3", "e3m2", "e2m1"),
    "UTCIMMA": ("u8", "s8"),
    "UTCOMMA": ("", "e2m1"),
}
_SUMS = ("f16", "f32", "s32")
_HALVES = {"16x32b half 0": slice(16), "16x32b half 1": slice(16, 32)}
"""Threads that make one of the two accesses of 16x32bx2; the others' registers stay as they are."""
_GRANULE = 32
"""Columns that are allocated at least."""


class Side(Protocol):
    """One block of a pair: its memories."""

    @property
    def tensor(self) -> NDArray[np.uint32]:
        """Its tensor memory, shape (128, 512)."""
        ...

    def shared(self, offset: int, size: int) -> bytes:
        """Return bytes of its shared memory; fewer where that ends."""
        ...


class Caller(Protocol):
    """The calling warp, as far as tensor memory asks."""

    def side(self, step: int) -> Side:
        """Return the block ``step`` ranks further on: 0 is its own."""
        ...

    def allocate(self, columns: int) -> int:
        """Return the first of so many columns that nobody has."""
        ...


@dataclass(frozen=True, slots=True)
class ProductKind:
    """What an instruction descriptor says of a product, types as PTX names them."""

    m: int
    n: int
    a: str
    b: str
    sums: str
    sign: int
    a_transposed: bool
    b_transposed: bool
    a_scale: int
    b_scale: int
    scales: str
    """Type of the scales of blocks."""

    @classmethod
    def decode(cls, opcode: str, word: int) -> ProductKind:
        """Return the fields; of products with scales, ``sums`` (32-bit floats then) has no field.

        >>> kind = ProductKind.decode("UTCHMMA", 0x08400490)
        >>> kind.m, kind.n, kind.a, kind.b, kind.sums
        (128, 256, 'bf16', 'bf16', 'f32')
        """
        formats = _FORMATS[opcode]
        a, b = formats[word >> 7 & 7], formats[word >> 10 & 7]
        negated = word >> 13 & 1 != word >> 14 & 1
        return cls(
            (word >> 24 & 31) * 16, (word >> 17 & 63) * 8, a, b, _SUMS[min(word >> 4 & 3, 2)],
            -1 if negated else 1, bool(word >> 15 & 1), bool(word >> 16 & 1),
            word >> 29 & 3, word >> 4 & 3, "ue8m0" if word >> 23 & 1 else "ue4m3",
        )  # fmt: skip


def matrix(word: int) -> Descriptor:
    """Return what the 64-bit descriptor of a matrix in shared memory says.

    >>> matrix(2 << 61 | 1 << 46 | 64 << 32 | 1 << 16 | 0x40)
    Descriptor(start=1024, leading=16, stride=1024, span=128)
    """
    start, leading, stride = (16 * (word >> at & 0x3FFF) for at in (0, 16, 32))
    return Descriptor(start, leading, stride, _SPANS[word >> 61 & 7])


def allocate(caller: Caller, args: Words, mask: Mask, _: Constants) -> Words:
    """Return the first granule of 32 columns of as many as are asked for."""
    first = caller.allocate(_GRANULE * int(args[0][mask][0])) // _GRANULE
    return np.full((1, len(mask)), first, np.uint64)


def load(caller: Caller, args: Words, mask: Mask, constants: Constants) -> Words:
    """Return the registers that a warp loads. ``constants``: shape, registers; ``args``: the address."""
    lanes, columns = _places(args, mask, *constants)
    return caller.side(0).tensor[lanes, columns].astype(np.uint64)


def store(caller: Caller, args: Words, mask: Mask, constants: Constants) -> Words:
    """Store a warp's registers. ``args``: the address, the registers."""
    lanes, columns = _places(args, mask, *constants)
    threads = _HALVES.get(constants[0], slice(None))
    caller.side(0).tensor[lanes[:, threads], columns[:, threads]] = args[1:, threads].astype(np.uint32)
    return np.zeros((0, len(mask)), np.uint64)


def _places(
    args: Words, mask: Mask, shape: str, registers: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return lanes and columns by (register, thread) of a load or store (PTX ISA, "tcgen05.ld")."""
    address = int(args[0][mask][0])
    lane, column = address >> 16, address & 0xFFFF
    register, thread = np.indices((registers, _WARP_LANES))
    if shape == "32x32b":
        rows, across = thread, register
    elif shape in _HALVES:
        rows, across = thread % 16, register
    elif shape == "16x128b":
        rows, across = thread // 4 + 8 * (register % 2), thread % 4 + 4 * (register // 2)
    else:  # 16x256b, as the accumulator of mma
        rows = thread // 4 + 8 * (register // 2 % 2)
        across = thread % 4 * 2 + register % 2 + 8 * (register // 4)
    return (lane + rows) % LANES, (column + across) % COLUMNS


def copy(caller: Caller, args: Words, mask: Mask, constants: Constants) -> Words:
    """Copy rows of shared memory to tensor memory; of a pair each block its own.

    ``constants``: rows, bytes of a row, how often the rows are repeated down the lanes; ``pair``.
    ``args``: address, the words of the matrix descriptor.
    """
    rows, size, times, pair = constants
    address, low, high = (int(a[mask][0]) for a in args)
    where = matrix(low | high << 32)
    places = where.addresses(rows, size, 1, transposed=False)
    lane, column = address >> 16, address & 0xFFFF
    for step in range(1 + pair):
        side = caller.side(step)
        words = np.ascontiguousarray(placed(side.shared, places, 1).astype(np.uint8)).view(np.uint32)
        for turn in range(times):
            first = lane + turn * rows
            side.tensor[first : first + rows, column : column + words.shape[1]] = words
    return np.zeros((0, len(mask)), np.uint64)


def multiply(caller: Caller, args: Words, mask: Mask, constants: Constants) -> Words:
    """D = A × B, plus D, summed in float64 (integers: exactly) and rounded once.

    ``constants``: opcode, K, whether A is in tensor memory, elements that share a scale (0: none), ``pair``.
    ``args``: A's address or two words of its descriptor, B's descriptor, D's address, the instruction
    descriptor, whether D is added, the address of the scales of A and B.
    """
    opcode, k, a_in_tensor, block, pair = constants
    words = [int(a[mask][0]) for a in args]
    a_place = words[0] | words[1] << 32
    b_place, d_place, adds = words[2] | words[3] << 32, words[4], words[6]
    kind = ProductKind.decode(opcode, words[5])
    k = k // 2 if kind.a == "tf32" else k
    sides = [caller.side(step) for step in range(1 + pair)]
    halves = len(sides)
    b_rows = [_matrix(s.shared, b_place, (kind.n // halves, k), kind.b, kind.b_transposed) for s in sides]
    b = np.concatenate(b_rows)
    for side in sides:
        m = kind.m // halves
        if a_in_tensor:
            a = _in_tensor(side.tensor, a_place & 0xFFFFFFFF, (m, k), kind.a)
        else:
            a = _matrix(side.shared, a_place, (m, k), kind.a, kind.a_transposed)
        factors = b
        if block:
            a = a * _scales(side.tensor, words[7], m, k // block, block, kind.a_scale, kind.scales)
            factors = b * _scales(side.tensor, words[8], kind.n, k // block, block, kind.b_scale, kind.scales)
        lanes, columns = _sums(kind.m, kind.n, d_place, pair=pair)
        sums = "f32" if block else kind.sums
        with np.errstate(invalid="ignore", over="ignore"):
            total = (a @ factors.T) * kind.sign
            if adds:
                total = total + decode(side.tensor[lanes, columns].astype(np.uint64), sums)
            side.tensor[lanes, columns] = encode(total, sums).astype(np.uint32)
    return np.zeros((0, len(mask)), np.uint64)


def _sums(m: int, n: int, address: int, *, pair: bool) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return lanes and columns of the sums that a block holds, shape (its rows, n) (PTX ISA, "Layouts")."""
    row, column = np.indices((m // 2 if pair else m, n))
    if pair and m == LANES:  # 64 rows, the right half of the columns below the left
        row, column = row + 64 * (column // (n // 2)), column % (n // 2)
    elif m == LANES // 2:  # sixteen rows for each warp
        row = row // 16 * _WARP_LANES + row % 16
    return (address >> 16) + row, (address & 0xFFFF) + column


def _matrix(
    read: Callable[[int, int], bytes], word: int, shape: tuple[int, int], kind: str, transposed: bool
) -> NDArray[Any]:
    """Return a matrix in shared memory, shape (along M or N, along K); four-bit elements lie in pairs."""
    where = matrix(word)
    if BITS[kind] >= 8:
        size = BITS[kind] // 8
        return decode(placed(read, where.addresses(*shape, size, transposed=transposed), size), kind)
    pairs = placed(read, where.addresses(shape[0], shape[1] // 2, 1, transposed=False), 1)
    return decode(np.stack([pairs & np.uint64(15), pairs >> np.uint64(4)], -1).reshape(shape), kind)


def _in_tensor(tensor: NDArray[np.uint32], address: int, shape: tuple[int, int], kind: str) -> NDArray[Any]:
    """Return A from tensor memory: a lane for each row, elements side by side in its columns."""
    each = 32 // BITS[kind]
    lane, column = address >> 16, address & 0xFFFF
    words = tensor[lane : lane + shape[0], column : column + shape[1] // each].astype(np.uint64)
    shifts = np.arange(each, dtype=np.uint64) * np.uint64(BITS[kind])
    elements = words[:, :, None] >> shifts & np.uint64((1 << BITS[kind]) - 1)
    return decode(elements.reshape(shape), kind)


def _scales(
    tensor: NDArray[np.uint32], address: int, rows: int, count: int, block: int, first: int, kind: str
) -> NDArray[np.float64]:
    """Return the scale of each element, shape (rows, K): a byte for each block of K.

    Row r has its bytes in lane r mod 32, column r / 32 (PTX ISA, "Scale factor").
    """
    lane, column = address >> 16, address & 0xFFFF
    row, place = np.indices((rows, count))
    words = tensor[lane + row % _WARP_LANES, column + row // _WARP_LANES]
    bytes_ = (words >> (8 * (first + place)).astype(np.uint32)) & np.uint32(255)
    return np.repeat(scale_values(bytes_.astype(np.uint64), kind), block, axis=1)


FUNCTIONS = {
    "tensor allocate": allocate,
    "tensor load": load,
    "tensor store": store,
    "tensor copy": copy,
    "tensor multiply": multiply,
}
"""By the name that CALL gives them."""
