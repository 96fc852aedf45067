"""Floating-point arithmetic rounded once, in each of the four directions, on NumPy arrays.

Everything goes through float64: the nearest float64 ``value`` of the exact result, and ``error``, a number
with the sign of exact minus ``value``. Rounding to odd (Boldo and Melquiond, "Emulation of FMA and correctly
rounded sums: proved algorithms using rounding to odd", IEEE Trans. Computers 57, 2008) then keeps enough
for a narrower type; for float64 itself the sign says which neighbour is meant. Where intermediate results
would leave float64's range, elements are computed one by one with fractions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tests.emulate.reference.exact import exact

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SPLIT = 2.0**27 + 1
_SMALL, _LARGE = 2.0**-450, 2.0**450
"""Between these magnitudes products and quotients have exact errors in float64."""


def round_to(
    dtype: np.dtype[Any], mode: str, value: NDArray[np.float64], error: NDArray[np.float64] | float = 0.0
) -> NDArray[Any]:
    """Return ``value + error`` rounded to a type; ``mode`` is "rn", "rz", "rm" (down) or "rp" (up).

    >>> third = np.array([1 / 3])
    >>> [float(round_to(np.dtype(np.float32), mode, third)[0]).hex() for mode in ("rn", "rz")]
    ['0x1.5555560000000p-2', '0x1.5555540000000p-2']
    """
    if dtype == np.float64:
        return _step(value, np.asarray(error, np.float64), mode)
    odd = _to_odd(value, np.asarray(error, np.float64))
    rounded = odd.astype(dtype)
    return _step(rounded, odd - rounded.astype(np.float64), mode)


def add(dtype: np.dtype[Any], mode: str, a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    """Return a + b."""
    if mode == "rn":
        return np.asarray(a + b)
    x, y = a.astype(np.float64), b.astype(np.float64)
    total = x + y
    return _signed_zero(round_to(dtype, mode, total, _sum_error(x, y, total)), x, y, mode)


def multiply(dtype: np.dtype[Any], mode: str, a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    """Return a × b."""
    if mode == "rn":
        return np.asarray(a * b)
    if dtype == np.float64:
        return exact("mul", mode, a, b)
    return round_to(dtype, mode, a.astype(np.float64) * b.astype(np.float64))


def divide(dtype: np.dtype[Any], mode: str, a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    """Return a / b."""
    if mode == "rn" and dtype != np.float16:
        return np.asarray(a / b)
    if dtype == np.float64:
        return exact("div", mode, a, b)
    x, y = a.astype(np.float64), b.astype(np.float64)
    quotient = x / y
    high, low = _product(quotient, y)
    return round_to(dtype, mode, quotient, _finite((x - high) - low) * np.sign(y))


def square_root(dtype: np.dtype[Any], mode: str, a: NDArray[Any]) -> NDArray[Any]:
    """Return the square root."""
    if mode == "rn" and dtype != np.float16:
        return np.asarray(np.sqrt(a))
    if dtype == np.float64:
        return exact("sqrt", mode, a)
    x = a.astype(np.float64)
    root = np.sqrt(x)
    high, low = _product(root, root)
    return round_to(dtype, mode, root, _finite((x - high) - low))


def multiply_add(
    dtype: np.dtype[Any], mode: str, a: NDArray[Any], b: NDArray[Any], c: NDArray[Any]
) -> NDArray[Any]:
    """Return a × b + c, rounded once.

    >>> x = np.array([1 + 2.0**-23], np.float32)
    >>> multiply_add(x.dtype, "rn", x, x, -np.array([1 + 2.0**-22], np.float32))[0] == 2.0**-46
    np.True_
    """
    x, y, z = (part.astype(np.float64) for part in np.broadcast_arrays(a, b, c))
    if dtype == np.float64:
        return _wide_multiply_add(mode, x, y, z)
    product = x * y
    total = product + z
    return _signed_zero(round_to(dtype, mode, total, _sum_error(product, z, total)), product, z, mode)


def _wide_multiply_add(
    mode: str, x: NDArray[np.float64], y: NDArray[np.float64], z: NDArray[np.float64]
) -> NDArray[Any]:
    """Return x × y + z in float64: Boldo and Melquiond's algorithm, or fractions where it does not hold."""
    if mode != "rn":
        return exact("fma", mode, x, y, z)
    high, low = _product(x, y)
    other = z + low
    other_error = _sum_error(z, low, other)
    total = high + other
    total_error = _sum_error(high, other, total)
    tail = total_error + other_error
    result = np.asarray(total + _to_odd(tail, _sum_error(total_error, other_error, tail)))
    special = (x == 0) | (y == 0) | ~np.isfinite(x) | ~np.isfinite(y) | ~np.isfinite(z)
    tame = _tame(x) & _tame(y) & (_tame(z) | (z == 0))
    result = np.where(special, x * y + z, result)
    result = np.where(~special & (result == 0), 0.0, result)
    rest = ~special & ~tame
    if rest.any():
        result[rest] = exact("fma", mode, x[rest], y[rest], z[rest])
    return result


def _tame(x: NDArray[np.float64]) -> NDArray[np.bool_]:
    magnitude = np.abs(x)
    return (magnitude > _SMALL) & (magnitude < _LARGE)


def _sum_error(
    a: NDArray[np.float64], b: NDArray[np.float64], total: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return a + b - total exactly (Knuth's two-sum); of an overflow, its sign."""
    part = total - a
    error = (a - (total - part)) + (b - part)
    overflow = np.isinf(total) & np.isfinite(a) & np.isfinite(b)
    return np.where(overflow, -np.sign(total), _finite(error))


def _product(
    a: NDArray[np.float64], b: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return a × b as an exact sum of two numbers (Dekker)."""
    product = a * b
    a_high, a_low = _split(a)
    b_high, b_low = _split(b)
    low = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low
    return product, low


def _split(a: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    scaled = a * _SPLIT
    high = scaled - (scaled - a)
    return high, a - high


def _finite(error: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.where(np.isfinite(error), error, 0.0)


def _to_odd(value: NDArray[np.float64], error: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return value + error rounded to odd: of the two neighbours of an inexact sum, the one with odd bits."""
    even = (np.asarray(value, np.float64).view(np.int64) & 1) == 0
    towards = np.copysign(np.inf, error)
    return np.where((error != 0) & even & np.isfinite(value), np.nextafter(value, towards), value)


def _step(rounded: NDArray[Any], error: NDArray[np.float64], mode: str) -> NDArray[Any]:
    """Return the neighbour that a direction asks for, given the sign of exact minus ``rounded``."""
    if mode == "rn":
        return np.asarray(rounded)
    below, above = rounded.dtype.type(-np.inf), rounded.dtype.type(np.inf)
    down, up = np.nextafter(rounded, below), np.nextafter(rounded, above)
    if mode == "rz":
        sign = np.signbit(rounded)
        return np.where((error < 0) & ~sign, down, np.where((error > 0) & sign, up, rounded))
    return np.where(error < 0, down, rounded) if mode == "rm" else np.where(error > 0, up, rounded)


def _signed_zero(
    result: NDArray[Any], a: NDArray[np.float64], b: NDArray[np.float64], mode: str
) -> NDArray[Any]:
    """Return a sum whose exact zeros are negative when rounding down, unless both parts are +0."""
    if mode != "rm":
        return result
    positive = (a == 0) & (b == 0) & ~np.signbit(a) & ~np.signbit(b)
    return np.where((result == 0) & (a == -b) & ~positive, result.dtype.type(-0.0), result)
