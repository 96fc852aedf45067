"""Number formats of matrix units as NumPy arrays: bits to exact values and back, rounded to nearest even."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

Array = "NDArray[Any]"

BITS = {
    "b1": 1, "u4": 4, "s4": 4, "u8": 8, "s8": 8, "s32": 32, "f16": 16, "bf16": 16, "tf32": 32, "f32": 32,
    "f64": 64, "e4m3": 8, "e5m2": 8, "e2m1": 4, "e3m2": 8, "e2m3": 8,
}  # fmt: skip
"""Width of an element by its PTX type; the 6-bit floats of mma lie in bytes."""
_INTEGERS = frozenset({"b1", "u4", "s4", "u8", "s8", "s32"})
_TINY = {"e4m3": (4, 3), "e5m2": (5, 2), "e2m1": (2, 1), "e3m2": (3, 2), "e2m3": (2, 3)}


def is_integer(kind: str) -> bool:
    """Whether a PTX type is an integer."""
    return kind in _INTEGERS


def decode(bits: NDArray[np.uint64], kind: str) -> NDArray[Any]:
    """Return the values of bit patterns: ``int64`` for integers, ``float64`` for floats.

    >>> decode(np.array([0x3F80, 0xC000], np.uint64), "bf16")
    array([ 1., -2.])
    """
    if kind in _INTEGERS:
        values = bits.astype(np.int64)
        if kind[0] == "s":
            width = BITS[kind]
            values = values - (values >> (width - 1) << width)
        return values
    if kind in _TINY:
        return _table(kind)[bits.astype(np.int64)]
    if kind == "f64":
        return bits.view(np.float64) if bits.flags.c_contiguous else bits.copy().view(np.float64)
    if kind == "f16":
        return bits.astype(np.uint16).view(np.float16).astype(np.float64)
    if kind == "bf16":
        bits = bits << np.uint64(16)
    elif kind == "tf32":
        bits = bits & np.uint64(0xFFFFE000)
    return bits.astype(np.uint32).view(np.float32).astype(np.float64)


def encode(values: NDArray[Any], kind: str) -> NDArray[np.uint64]:
    """Return the bits of ``float64`` values rounded to f16, f32 or f64, or of ``int64`` ones as s32."""
    if kind == "s32":
        return values.astype(np.int64).view(np.uint64) & np.uint64(0xFFFFFFFF)
    if kind == "f64":
        return np.ascontiguousarray(values, np.float64).view(np.uint64)
    with np.errstate(over="ignore"):
        if kind == "f16":
            return values.astype(np.float16).view(np.uint16).astype(np.uint64)
        return values.astype(np.float32).view(np.uint32).astype(np.uint64)


def scale_values(bits: NDArray[np.uint64], kind: str) -> NDArray[np.float64]:
    """Return the values of scales: powers of two (ue8m0), or eight-bit floats without a sign (ue4m3).

    >>> scale_values(np.array([127, 130], np.uint64), "ue8m0")
    array([1., 8.])
    """
    if kind == "ue4m3":
        found: NDArray[np.float64] = decode(bits & np.uint64(127), "e4m3")
        return found
    return np.ldexp(1.0, bits.astype(np.int64) - 127)


@lru_cache(maxsize=8)
def _table(kind: str) -> NDArray[np.float64]:
    """Return the value of every pattern of a small float (OCP 8-bit floating point specification, 2023)."""
    exponent_bits, mantissa_bits = _TINY[kind]
    bias = (1 << (exponent_bits - 1)) - 1
    values = np.empty(1 << (1 + exponent_bits + mantissa_bits))
    for pattern in range(len(values)):
        mantissa = pattern & ((1 << mantissa_bits) - 1)
        exponent = pattern >> mantissa_bits & ((1 << exponent_bits) - 1)
        sign = -1.0 if pattern >> (exponent_bits + mantissa_bits) else 1.0
        fraction = mantissa / (1 << mantissa_bits)
        scale = max(exponent, 1) - bias
        values[pattern] = sign * (fraction + (exponent > 0)) * 2.0**scale
        if kind == "e4m3" and exponent == 15 and mantissa == 7:
            values[pattern] = np.nan
        elif kind == "e5m2" and exponent == 31:
            values[pattern] = np.nan if mantissa else sign * np.inf
    if len(values) < 256:
        values = np.resize(values, 256)  # what lies above the format's bits is not looked at
    return values
