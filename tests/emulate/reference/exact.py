"""Correctly rounded float64 operations by whole-number arithmetic, element by element: slow and certain."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

PRECISION, LEAST_EXPONENT, LARGEST = 53, -1074, float.fromhex("0x1.fffffffffffffp1023")


def exact(name: str, mode: str, *arguments: NDArray[Any]) -> NDArray[np.float64]:
    """Return ``add``, ``mul``, ``div``, ``sqrt`` or ``fma`` of float64 arrays, rounded by ``mode``."""
    arrays = np.broadcast_arrays(*arguments)
    result = np.empty(arrays[0].shape, np.float64)
    for index in np.ndindex(result.shape):
        result[index] = _one(name, mode, *(float(array[index]) for array in arrays))
    return result


def _one(name: str, mode: str, a: float, b: float = 1.0, c: float = 0.0) -> float:
    """Return one result; NaN, infinities and zeros are left to the hardware."""
    plain = _plain(name, a, b, c)
    if not all(map(math.isfinite, (a, b, c))) or math.isnan(plain) or (name == "div" and b == 0):
        return plain
    if name == "sqrt":
        return _root(a, mode) if a else a
    x, y, z = Fraction(a), Fraction(b), Fraction(c)
    value = {"add": lambda: x + y, "mul": lambda: x * y, "div": lambda: x / y, "fma": lambda: x * y + z}[
        name
    ]()
    if value == 0:
        if name in ("add", "fma"):
            first = a if name == "add" else math.copysign(1, a) * math.copysign(1, b) * abs(a * b)
            return _zero(mode, first, b if name == "add" else c)
        return plain
    return rounded(value, mode)


def _plain(name: str, a: float, b: float, c: float) -> float:
    with np.errstate(all="ignore"):
        x, y, z = np.float64(a), np.float64(b), np.float64(c)
        if name == "sqrt":
            return float(np.sqrt(x))
        return float({"add": x + y, "mul": x * y, "div": x / y, "fma": x * y + z}[name])


def _zero(mode: str, a: float, b: float) -> float:
    """Return the zero that an exact sum of 0 is: both signs alike, or what the direction says."""
    if a == 0 and b == 0 and math.copysign(1, a) == math.copysign(1, b):
        return math.copysign(0.0, a)
    return -0.0 if mode == "rm" else 0.0


def _root(a: float, mode: str) -> float:
    root = math.sqrt(a)
    error = Fraction(a) - Fraction(root) ** 2
    if mode in ("rz", "rm") and error < 0:
        return math.nextafter(root, 0.0)
    return math.nextafter(root, math.inf) if mode == "rp" and error > 0 else root


def rounded(value: Fraction, mode: str) -> float:
    """Return the float64 that a number other than 0 rounds to.

    >>> rounded(Fraction(1, 3), "rp") - rounded(Fraction(1, 3), "rm")
    5.551115123125783e-17
    """
    negative = value < 0
    direction = {"rm": "rp", "rp": "rm"}.get(mode, mode) if negative else mode
    magnitude = abs(value)
    exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length() - PRECISION
    exponent = max(exponent, LEAST_EXPONENT)
    while magnitude >= Fraction(2) ** (exponent + PRECISION):
        exponent += 1
    scaled = magnitude / Fraction(2) ** exponent
    whole, rest = divmod(scaled.numerator, scaled.denominator)
    half = Fraction(rest, scaled.denominator)
    up = (
        half > 0
        if direction == "rp"
        else direction == "rn" and (half > Fraction(1, 2) or (half == Fraction(1, 2) and whole & 1))
    )
    try:
        result = math.ldexp(whole + bool(up), exponent)
    except OverflowError:
        result = math.inf
    if math.isinf(result) and direction in ("rz", "rm"):
        result = LARGEST
    return -result if negative else result
