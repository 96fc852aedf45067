"""Floating-point micro-operations and conversions on NumPy arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tests.emulate.reference import rounding
from tests.emulate.reference.integers import signed, unsigned
from warpwatt.emulate.ir import Op, Type

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Array = NDArray[Any]

DTYPES: dict[Type, np.dtype[Any]] = {
    Type.I1: np.dtype(np.bool_),
    Type.I8: np.dtype(np.uint8),
    Type.I16: np.dtype(np.uint16),
    Type.I32: np.dtype(np.uint32),
    Type.I64: np.dtype(np.uint64),
    Type.F16: np.dtype(np.float16),
    Type.F32: np.dtype(np.float32),
    Type.F64: np.dtype(np.float64),
}
"""How values of each type are held."""


def _sign_bits(a: Array) -> tuple[Array, Any]:
    bits = unsigned(a)
    return bits, bits.dtype.type(1 << (8 * bits.dtype.itemsize - 1))


def negate(a: Array) -> Array:
    """Flip the sign bit."""
    bits, sign = _sign_bits(a)
    return np.asarray(bits ^ sign).view(a.dtype)


def absolute(a: Array) -> Array:
    """Clear the sign bit."""
    bits, sign = _sign_bits(a)
    return np.asarray(bits & ~sign).view(a.dtype)


def minimum(a: Array, b: Array) -> Array:
    """Return the smaller number; the other where one is NaN; -0 < +0."""
    a, b = np.broadcast_arrays(a, b)
    smaller = (a < b) | ((a == b) & np.signbit(a)) | np.isnan(b)
    return np.where(smaller, a, b)


def maximum(a: Array, b: Array) -> Array:
    """Return the larger number; the other where one is NaN; -0 < +0."""
    a, b = np.broadcast_arrays(a, b)
    larger = (a > b) | ((a == b) & ~np.signbit(a)) | np.isnan(b)
    return np.where(larger, a, b)


ROUNDED: dict[Op, Callable[..., Array]] = {
    Op.FADD: rounding.add,
    Op.FSUB: lambda dtype, mode, a, b: rounding.add(dtype, mode, a, negate(b)),
    Op.FMUL: rounding.multiply,
    Op.FDIV: rounding.divide,
    Op.FMA: rounding.multiply_add,
    Op.FSQRT: rounding.square_root,
}
"""Functions of (type, rounding, arrays)."""

OPERATIONS: dict[Op, Callable[..., Array]] = {
    Op.FNEG: negate,
    Op.FABS: absolute,
    Op.FMIN: minimum,
    Op.FMAX: maximum,
    Op.FFLOOR: np.floor,
    Op.FCEIL: np.ceil,
    Op.FTRUNC: np.trunc,
    Op.FRINT: np.rint,
    Op.FEQ: lambda a, b: a == b,
    Op.FLT: lambda a, b: a < b,
    Op.FLE: lambda a, b: a <= b,
    Op.FUNO: lambda a, b: np.isnan(a) | np.isnan(b),
}
"""Functions of arrays of one type."""

_MATH: dict[str, Callable[[Array], Array]] = {
    "rcp": lambda x: 1.0 / x,
    "rsqrt": lambda x: 1.0 / np.sqrt(x),
    "sqrt": np.sqrt,
    "ex2": np.exp2,
    "lg2": np.log2,
    "sin": np.sin,
    "cos": np.cos,
    "tanh": np.tanh,
}


def math(name: str, a: Array) -> Array:
    """Return a function of a float, computed in float64 and rounded to nearest."""
    result: Array = _MATH[name](a.astype(np.float64))
    return result.astype(a.dtype)


def from_integer(dtype: np.dtype[Any], mode: str, a: Array) -> Array:
    """Return integers (signed or unsigned arrays) as floats, rounded once."""
    if a.dtype.itemsize < 8:
        return rounding.round_to(dtype, mode, a.astype(np.float64))
    low = (a & a.dtype.type(0xFFFFFFFF)).astype(np.float64)
    high = (a >> a.dtype.type(32)).astype(np.float64) * 2.0**32
    total = high + low
    return rounding.round_to(dtype, mode, total, low - (total - high))


def to_integer(dtype: np.dtype[Any], a: Array, *, is_signed: bool) -> Array:
    """Return floats as integers, towards zero, saturating; NaN gives 0."""
    x, width = np.trunc(a.astype(np.float64)), 8 * dtype.itemsize
    wanted = np.dtype(f"{'i' if is_signed else 'u'}{dtype.itemsize}")
    low, high = (-(2.0 ** (width - 1)), 2.0 ** (width - 1)) if is_signed else (0.0, 2.0**width)
    inside = (x >= low) & (x < high)
    result = np.where(inside, x, 0.0).astype(wanted)
    limits = np.iinfo(wanted)
    result = np.where(x >= high, wanted.type(limits.max), result)
    return unsigned(np.where(x < low, wanted.type(limits.min), result))


def _truncate(dtype: np.dtype[Any], _mode: str, a: Array) -> Array:
    return (a & a.dtype.type(1)).astype(dtype) if dtype == np.bool_ else a.astype(dtype)


def _extend(dtype: np.dtype[Any], _mode: str, a: Array) -> Array:
    return unsigned(signed(a).astype(f"i{dtype.itemsize}"))


def _unsigned_to_float(dtype: np.dtype[Any], mode: str, a: Array) -> Array:
    return from_integer(dtype, mode, a.astype(np.uint8) if a.dtype == np.bool_ else a)


CONVERSIONS: dict[Op, Callable[[np.dtype[Any], str, Array], Array]] = {
    Op.ZEXT: lambda dtype, _mode, a: a.astype(dtype),
    Op.SEXT: _extend,
    Op.TRUNC: _truncate,
    Op.BITCAST: lambda dtype, _mode, a: np.ascontiguousarray(a).view(dtype),
    Op.SITOFP: lambda dtype, mode, a: from_integer(dtype, mode, signed(a)),
    Op.UITOFP: _unsigned_to_float,
    Op.FPTOSI: lambda dtype, _mode, a: to_integer(dtype, a, is_signed=True),
    Op.FPTOUI: lambda dtype, _mode, a: to_integer(dtype, a, is_signed=False),
    Op.FPEXT: lambda dtype, _mode, a: a.astype(dtype),
    Op.FPTRUNC: lambda dtype, mode, a: rounding.round_to(dtype, mode, a.astype(np.float64)),
}
"""Functions of (type, rounding, array)."""
