"""What buffers hold before a launch, element by element: any page can be made without those before it.

Element ``i`` of a random buffer comes from :func:`mix` of ``i`` and the buffer's key, in plain 64-bit
arithmetic that a native engine repeats in three lines:

- floats are uniform in [0, 1): the upper 53 (f64), 24 (f32), 11 (f16), 8 (bf16), 4 (e4m3) or 3 (e5m2) bits
  as a fraction, which each type represents exactly;
- integers are the upper 7 bits: 0..127;
- indices are the upper 32 bits as a fraction of their limit;
- offsets lie somewhere in their own share of the limit: rows between them are nothing to two shares long.

The distribution is that of :mod:`warpwatt.lab.measure.inputs`, the bits are not: its generator cannot start
in the middle.
"""

from __future__ import annotations

import zlib
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from warpwatt.core.arguments import Buffer, DType

if TYPE_CHECKING:
    from numpy.typing import NDArray

NUMPY: dict[DType, type[np.generic]] = {
    DType.F16: np.float16,
    DType.BF16: np.uint16,
    DType.F32: np.float32,
    DType.F64: np.float64,
    DType.I8: np.int8,
    DType.U8: np.uint8,
    DType.I16: np.int16,
    DType.U16: np.uint16,
    DType.I32: np.int32,
    DType.U32: np.uint32,
    DType.I64: np.int64,
    DType.U64: np.uint64,
    DType.E4M3: np.uint8,
    DType.E5M2: np.uint8,
}
"""The NumPy type that holds each element type; what NumPy lacks is held as bit patterns."""
FRACTION_BITS = {
    DType.F16: 11, DType.BF16: 8, DType.F32: 24, DType.F64: 53, DType.E4M3: 4, DType.E5M2: 3,
}  # fmt: skip
"""Random bits of each floating-point type."""
INTEGER_BITS = 7
STEP, FIRST, SECOND = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
_WIDE = 2**64 - 1


def key(buffer: Buffer, before: int) -> int:
    """Return the key of a random buffer, the seed in the upper half.

    ``before`` is how many buffers of its type and fill come first. Names make no difference: machine code
    has none.
    """
    kind = f"{buffer.dtype}:{buffer.fill}:{before}"
    return (zlib.crc32(kind.encode()) + (buffer.seed << 32)) & _WIDE


def factor(buffer: Buffer) -> float:
    """Return what fractions are multiplied by: the limit of indices, of offsets the elements of a row."""
    if buffer.fill == "offsets":
        return buffer.limit / max(1, buffer.elements)
    return float(buffer.limit) if buffer.fill == "indices" else 0.0


def mix(key: int, indices: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return 64 random bits per element: SplitMix64's output number ``index`` from state ``key``.

    Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators" (OOPSLA 2014).

    >>> hex(int(mix(0, np.zeros(1, np.uint64))[0]))
    '0xe220a8397b1dcdaf'
    """
    z = (indices + np.uint64(1)) * np.uint64(STEP) + np.uint64(key)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(FIRST)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(SECOND)
    return z ^ (z >> np.uint64(31))


def random(key: int, dtype: DType, first: int, count: int) -> NDArray[Any]:
    """Return ``count`` random elements from number ``first`` on.

    >>> values = random(1, DType.F32, 0, 100_000)
    >>> bool(0 <= values.min() and values.max() < 1), round(float(values.mean()), 2)
    (True, 0.5)
    """
    bits = mix(key, np.arange(first, first + count, dtype=np.uint64))
    if dtype not in FRACTION_BITS:
        return (bits >> np.uint64(64 - INTEGER_BITS)).astype(NUMPY[dtype])
    width = FRACTION_BITS[dtype]
    fractions = (bits >> np.uint64(64 - width)).astype(np.float64) * 2.0**-width
    return convert(fractions, dtype)


def indices(key: int, limit: int, first: int, count: int) -> NDArray[np.int64]:
    """Return ``count`` whole numbers below ``limit``, from number ``first`` on.

    >>> values = indices(1, 1000, 0, 100_000)
    >>> int(values.min()), int(values.max()), round(float(values.mean()))
    (0, 999, 500)
    """
    fractions = (mix(key, np.arange(first, first + count, dtype=np.uint64)) >> np.uint64(32)) * 2.0**-32
    return (fractions * limit).astype(np.int64)


def offsets(key: int, limit: int, first: int, count: int, *, rows: int) -> NDArray[np.int64]:
    """Return where ``count`` of ``rows`` rows begin, from row ``first`` on: they share ``limit`` elements.

    >>> begins = offsets(1, 16_000, 0, 1000, rows=1000)
    >>> lengths = np.diff(begins)
    >>> bool((lengths >= 0).all()), bool(lengths.max() <= 32), round(float(lengths.mean()))
    (True, True, 16)
    """
    places = np.arange(first, first + count)
    fractions = (mix(key, places.astype(np.uint64)) >> np.uint64(32)) * 2.0**-32
    return ((places + fractions) * (limit / rows)).astype(np.int64)


def ones(dtype: DType, count: int) -> NDArray[Any]:
    """Return ``count`` ones."""
    return convert(np.ones(count), dtype)


def arange(dtype: DType, first: int, count: int) -> NDArray[Any]:
    """Return ``first``, ``first + 1``, ... in a type; integers wrap, f16 ends in infinity.

    >>> arange(DType.I8, 126, 3).tolist()
    [126, 127, -128]
    """
    return convert(np.arange(first, first + count), dtype)


def convert(values: NDArray[Any], dtype: DType) -> NDArray[Any]:
    """Return numbers in an element type, bf16 as bit patterns rounded to nearest even, eight bits to nearest.

    >>> [hex(x) for x in convert(np.array([1.0, -0.5, 1000.0]), DType.E4M3)]
    ['0x38', '0xb0', '0x7e']
    """
    if dtype in (DType.E4M3, DType.E5M2):
        return _in_a_byte(values, dtype)
    with np.errstate(over="ignore"):
        if dtype is not DType.BF16:
            return values.astype(NUMPY[dtype])
        bits = values.astype(np.float32).view(np.uint32).astype(np.uint64)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)


def _in_a_byte(values: NDArray[Any], dtype: DType) -> NDArray[np.uint8]:
    """Return the patterns nearest to some numbers; the largest finite one for what is larger."""
    from warpwatt.emulate.formats import decode

    known = decode(np.arange(128, dtype=np.uint64), str(dtype))
    known = known[: np.isfinite(known).sum()]
    above = np.clip(np.searchsorted(known, size := np.abs(values)), 1, len(known) - 1)
    nearest = np.where(size - known[above - 1] < known[above] - size, above - 1, above)
    patterns: NDArray[np.uint8] = (nearest | np.signbit(values) << 7).astype(np.uint8)
    return patterns


def elements(buffer: Buffer, key: int, first: int, count: int) -> NDArray[Any]:
    """Return elements of a described buffer that is not a file."""
    if buffer.fill == "random":
        return random(key, buffer.dtype, first, count)
    if buffer.fill in ("indices", "offsets"):
        made = indices if buffer.fill == "indices" else partial(offsets, rows=buffer.elements)
        return made(key, buffer.limit, first, count).astype(NUMPY[buffer.dtype])
    if buffer.fill == "ones":
        return ones(buffer.dtype, count)
    if buffer.fill == "arange":
        return arange(buffer.dtype, first, count)
    return np.zeros(count, NUMPY[buffer.dtype])
