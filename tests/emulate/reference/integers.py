"""Integer micro-operations on unsigned NumPy arrays (I1: booleans); wrap-around, no traps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from warpwatt.emulate.ir import Op

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Array = NDArray[Any]


def signed(a: Array) -> Array:
    """Return the bits as signed integers; a boolean is 0 or -1."""
    if a.dtype == np.bool_:
        return -a.astype(np.int8)
    return np.asarray(a).view(f"i{a.dtype.itemsize}")


def unsigned(a: Array) -> Array:
    """Return the bits as unsigned integers."""
    return np.asarray(a).view(f"u{a.dtype.itemsize}")


def bits(a: Array) -> int:
    """Return the width."""
    return 1 if a.dtype == np.bool_ else 8 * a.dtype.itemsize


def shift_left(a: Array, by: Array) -> Array:
    """Return a << by; 0 from the width on."""
    return np.asarray(np.where(by < bits(a), a << np.minimum(by, _last(a)), a.dtype.type(0)))


def shift_right(a: Array, by: Array) -> Array:
    """Return a >> by with zeros from above; 0 from the width on."""
    return np.asarray(np.where(by < bits(a), a >> np.minimum(by, _last(a)), a.dtype.type(0)))


def shift_right_signed(a: Array, by: Array) -> Array:
    """Return a >> by with the sign from above."""
    return unsigned(signed(a) >> signed(np.minimum(by, _last(a))))


def _last(a: Array) -> Any:
    return a.dtype.type(bits(a) - 1)


def divide(a: Array, b: Array) -> Array:
    """Return the unsigned quotient; all ones for a zero divisor."""
    zero = b == 0
    return np.where(zero, ~a.dtype.type(0), a // np.where(zero, a.dtype.type(1), b))


def remainder(a: Array, b: Array) -> Array:
    """Return the unsigned remainder; the dividend for a zero divisor."""
    zero = b == 0
    return np.where(zero, a, a % np.where(zero, a.dtype.type(1), b))


def _magnitude(a: Array) -> Array:
    return np.where(signed(a) < 0, ~a + a.dtype.type(1), a)


def divide_signed(a: Array, b: Array) -> Array:
    """Return the quotient towards zero; all ones for a zero divisor, the minimum for minimum / -1."""
    quotient = divide(_magnitude(a), _magnitude(b))
    negative = (signed(a) < 0) != (signed(b) < 0)
    quotient = np.where(negative, ~quotient + a.dtype.type(1), quotient)
    return np.where(b == 0, ~a.dtype.type(0), quotient)


def remainder_signed(a: Array, b: Array) -> Array:
    """Return the remainder, with the dividend's sign."""
    rest = remainder(_magnitude(a), _magnitude(b))
    return np.where(b == 0, a, np.where(signed(a) < 0, ~rest + a.dtype.type(1), rest))


def leading_zeros(a: Array) -> Array:
    """Return the zero bits in front of the highest one; the width for 0."""
    count = np.full(a.shape, bits(a), a.dtype)
    rest = a.copy()
    for _ in range(bits(a)):
        count -= (rest != 0).astype(a.dtype)
        rest >>= a.dtype.type(1)
    return count


def reverse(a: Array) -> Array:
    """Return the bits in opposite order."""
    octets = np.ascontiguousarray(a)[..., None].view(np.uint8)
    turned = np.packbits(np.unpackbits(octets, axis=-1, bitorder="little"), axis=-1, bitorder="big")
    return np.ascontiguousarray(turned[..., ::-1]).view(a.dtype)[..., 0]


OPERATIONS: dict[Op, Callable[..., Array]] = {
    Op.ADD: lambda a, b: a ^ b if a.dtype == np.bool_ else a + b,
    Op.SUB: lambda a, b: a ^ b if a.dtype == np.bool_ else a - b,
    Op.MUL: lambda a, b: a * b,
    Op.AND: lambda a, b: a & b,
    Op.OR: lambda a, b: a | b,
    Op.XOR: lambda a, b: a ^ b,
    Op.SHL: shift_left,
    Op.LSHR: shift_right,
    Op.ASHR: shift_right_signed,
    Op.UDIV: divide,
    Op.SDIV: divide_signed,
    Op.UREM: remainder,
    Op.SREM: remainder_signed,
    Op.UMIN: np.minimum,
    Op.UMAX: np.maximum,
    Op.SMIN: lambda a, b: np.asarray(np.where(signed(a) < signed(b), a, b)),
    Op.SMAX: lambda a, b: np.asarray(np.where(signed(a) > signed(b), a, b)),
    Op.POPC: lambda a: np.bitwise_count(a).astype(a.dtype),
    Op.CLZ: leading_zeros,
    Op.BREV: reverse,
    Op.EQ: lambda a, b: a == b,
    Op.NE: lambda a, b: a != b,
    Op.SLT: lambda a, b: signed(a) < signed(b),
    Op.SLE: lambda a, b: signed(a) <= signed(b),
    Op.ULT: lambda a, b: a < b,
    Op.ULE: lambda a, b: a <= b,
}
"""Functions of arrays of one type."""
