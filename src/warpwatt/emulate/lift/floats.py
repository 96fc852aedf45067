"""Floating-point helpers: flushing, clamping, NaN, and the formats that live in integers (bf16, tf32)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warpwatt.emulate.ir import Op, Type

if TYPE_CHECKING:
    from warpwatt.emulate.builder import Builder
    from warpwatt.emulate.ir import Value

INTEGER = {Type.F16: Type.I16, Type.F32: Type.I32, Type.F64: Type.I64}
"""The integer type of the same width."""
_QUIET_NAN = {Type.F16: 0x7FFF, Type.F32: 0x7FFFFFFF, Type.F64: 0xFFF8000000000000}
_SMALLEST = {Type.F16: 2.0**-14, Type.F32: 2.0**-126, Type.F64: 2.0**-1022}
"""The smallest normal number."""


def flush(b: Builder, value: Value) -> Value:
    """Return a float with denormals replaced by zeros of their sign (``.FTZ``)."""
    integer = INTEGER[value.type]
    tiny = b.op(Op.FLT, b.op(Op.FABS, value), b.const(value.type, _SMALLEST[value.type]))
    sign = b.and_(b.cast_bits(value, integer), b.const(integer, 1 << (integer.bits - 1)))
    return b.select(tiny, b.cast_bits(sign, value.type), value)


def saturate(b: Builder, value: Value) -> Value:
    """Return a float clamped to 0 ... 1; NaN becomes 0 (``.SAT``)."""
    zero, one = b.const(value.type, 0.0), b.const(value.type, 1.0)
    above = b.select(b.compare("fgt", value, zero), value, zero)
    return b.select(b.compare("fgt", above, one), one, above)


def relu(b: Builder, value: Value) -> Value:
    """Return a float clamped to 0 and more; NaN becomes the canonical one (``.RELU``)."""
    zero = b.const(value.type, 0.0)
    positive = b.select(b.compare("fgt", value, zero), value, zero)
    return b.select(b.compare("fnan", value, value), canonical(b, value.type), positive)


def canonical(b: Builder, type_: Type) -> Value:
    """Return the NaN that arithmetic makes (PTX ISA, floating-point instructions)."""
    return b.cast_bits(b.const(INTEGER[type_], _QUIET_NAN[type_]), type_)


def least(b: Builder, x: Value, y: Value, minimum: Value, *, nan: bool = False) -> Value:
    """Return the minimum where ``minimum`` (I1) holds, else the maximum.

    The number where one is NaN; the canonical NaN where both are or, with ``nan``, where one is.
    """
    if minimum == b.const(Type.I1, 1):
        result = b.op(Op.FMIN, x, y)
    elif minimum == b.const(Type.I1, 0):
        result = b.op(Op.FMAX, x, y)
    else:
        result = b.select(minimum, b.op(Op.FMIN, x, y), b.op(Op.FMAX, x, y))
    x_nan, y_nan = b.compare("fnan", x, x), b.compare("fnan", y, y)
    lost = b.or_(x_nan, y_nan) if nan else b.and_(x_nan, y_nan)
    return b.select(lost, canonical(b, x.type), result)


def from_bf16(b: Builder, bits: Value) -> Value:
    """Return the F32 that an I16 bfloat16 pattern stands for."""
    return b.cast_bits(b.shl(b.zext(bits, Type.I32), 16), Type.F32)


def to_bf16(b: Builder, value: Value, rounding: str = "rn") -> Value:
    """Return an F32 or F64 as an I16 bfloat16 pattern; NaN becomes canonical.

    Rounded to nearest even, or an F32 towards zero for ``rz``.
    """
    if value.type is Type.F64:
        value = _odd_single(b, value)
    bits = b.cast_bits(value, Type.I32)
    if rounding != "rz":
        lowest = b.and_(b.lshr(bits, 16), b.i32(1))
        bits = b.add(bits, b.add(b.i32(0x7FFF), lowest))
    chosen = b.select(b.compare("fnan", value, value), b.i32(0x7FFF), b.lshr(bits, 16))
    return b.trunc(chosen, Type.I16)


def to_tf32(b: Builder, value: Value, rounding: str = "rna") -> Value:
    """Return an F32 with 10 bits of mantissa: nearest, ties away (``rna``) or even (``rn``), or cut off."""
    bits = b.cast_bits(value, Type.I32)
    if rounding == "rna":
        bits = b.add(bits, b.i32(0x1000))
    elif rounding == "rn":
        odd = b.and_(b.lshr(bits, 13), b.i32(1))
        bits = b.add(b.add(bits, b.i32(0xFFF)), odd)
    kept = b.and_(bits, b.i32(0xFFFFE000))
    return b.select(b.compare("fnan", value, value), b.i32(0x7FFFFFFF), kept)


def _odd_single(b: Builder, value: Value) -> Value:
    """Return an F64 as F32 rounded to odd: towards zero, the last bit set where that was not exact.

    A later rounding to fewer bits is then as if made at once (Boldo and Melquiond, 2008).
    """
    cut = b.convert(Op.FPTRUNC, Type.F32, value, "rz")
    exact = b.compare("feq", b.convert(Op.FPEXT, Type.F64, cut), value)
    odd = b.or_(b.cast_bits(cut, Type.I32), b.i32(1))
    keep = b.or_(exact, b.compare("fnan", value, value))
    return b.cast_bits(b.select(keep, b.cast_bits(cut, Type.I32), odd), Type.F32)


def odd_sum(b: Builder, x: Value, y: Value) -> Value:
    """Return x + y (F64) rounded to odd, by the exact error of the sum (Knuth's TwoSum)."""
    total = b.op(Op.FADD, x, y, data="rn")
    part = b.op(Op.FSUB, total, x, data="rn")
    lost_x = b.op(Op.FSUB, x, b.op(Op.FSUB, total, part, data="rn"), data="rn")
    error = b.op(Op.FADD, lost_x, b.op(Op.FSUB, y, part, data="rn"), data="rn")
    zero = b.const(Type.F64, 0.0)
    bits = b.cast_bits(total, Type.I64)
    even = b.compare("eq", b.and_(bits, b.const(Type.I64, 1)), b.const(Type.I64, 0))
    inexact = b.or_(b.compare("fgt", error, zero), b.compare("flt", error, zero))
    outward = b.compare("eq", b.compare("fgt", error, zero), b.compare("fgt", total, zero))
    step = b.select(outward, b.const(Type.I64, 1), b.const(Type.I64, -1))
    return b.cast_bits(b.select(b.and_(inexact, even), b.add(bits, step), bits), Type.F64)


def fused_bf16(b: Builder, x: Value, y: Value, z: Value) -> Value:
    """Return x * y + z of F32 values that hold bf16, as an F64 that rounds to bf16 as the exact sum would."""
    x, y, z = (b.convert(Op.FPEXT, Type.F64, v) for v in (x, y, z))
    return odd_sum(b, b.op(Op.FMUL, x, y, data="rn"), z)
