"""Floating-point helpers: flushing, clamping, bf16 and the other formats that live in integers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warpwatt.emulate.ir import Op, Type

if TYPE_CHECKING:
    from warpwatt.emulate.builder import Builder
    from warpwatt.emulate.ir import Value

_INTEGERS = {16: Type.I16, 32: Type.I32, 64: Type.I64}
_SMALLEST = {Type.F16: 2.0**-14, Type.F32: 2.0**-126, Type.F64: 2.0**-1022}
_NAN = {Type.F16: 0x7FFF, Type.F32: 0x7FFFFFFF, Type.F64: 0x7FF8000000000000}


def flush(b: Builder, value: Value) -> Value:
    """Return a float with subnormal numbers replaced by zero of their sign."""
    magnitude = b.op(Op.FABS, value)
    tiny = b.op(Op.FLT, magnitude, b.const(value.type, _SMALLEST[value.type]))
    return b.select(tiny, signed_zero(b, value), value)


def signed_zero(b: Builder, value: Value) -> Value:
    """Return zero with the sign of a float."""
    whole = _INTEGERS[value.type.bits]
    bits = b.and_(b.cast_bits(value, whole), b.const(whole, 1 << (value.type.bits - 1)))
    return b.cast_bits(bits, value.type)


def saturate(b: Builder, value: Value) -> Value:
    """Return a float held to [0, 1]; NaN gives 0."""
    low = b.op(Op.FMAX, value, b.const(value.type, 0.0))
    return b.op(Op.FMIN, low, b.const(value.type, 1.0))


def nan(b: Builder, type_: Type) -> Value:
    """Return the NaN that PTX calls canonical."""
    return b.cast_bits(b.const(_INTEGERS[type_.bits], _NAN[type_]), type_)


def from_bf16(b: Builder, bits: Value) -> Value:
    """Return the F32 of a bf16 in an I16."""
    return b.cast_bits(b.shl(b.zext(bits, Type.I32), 16), Type.F32)


def to_bf16(b: Builder, value: Value, rounding: str = "rn") -> Value:
    """Return the bf16 (I16) of an F32, rounded to nearest even, or towards zero for ``rz``."""
    bits = b.cast_bits(value, Type.I32)
    rounded = bits
    if rounding != "rz":
        odd = b.and_(b.lshr(bits, 16), b.i32(1))
        rounded = b.add(b.add(bits, b.i32(0x7FFF)), odd)
    upper = b.trunc(b.lshr(rounded, 16), Type.I16)
    return b.select(b.op(Op.FUNO, value, value), b.const(Type.I16, 0x7FFF), upper)


def fused_bf16(b: Builder, x: Value, y: Value, z: Value) -> Value:
    """Return x * y + z of F32 values that hold bf16, as an F32 that rounds to bf16 as the exact result would.

    The product is exact in F32. The sum is rounded to odd (Boldo and Melquiond, *Emulation of FMA and
    correctly rounded sums*, 2008): its error, found exactly, decides the last bit, so that rounding once
    more to 8 bits is right.
    """
    product = b.op(Op.FMUL, x, y, data="rn")
    total = b.op(Op.FADD, product, z, data="rn")
    of_z = b.op(Op.FSUB, total, product, data="rn")
    of_product = b.op(Op.FSUB, total, of_z, data="rn")
    error = b.op(
        Op.FADD,
        b.op(Op.FSUB, product, of_product, data="rn"),
        b.op(Op.FSUB, z, of_z, data="rn"),
        data="rn",
    )
    zero = b.const(Type.F32, 0.0)
    inexact = b.or_(b.op(Op.FLT, error, zero), b.op(Op.FLT, zero, error))
    bits = b.cast_bits(total, Type.I32)
    away = b.op(Op.EQ, b.op(Op.FLT, error, zero), b.op(Op.SLT, bits, b.i32(0)))
    even = b.op(Op.EQ, b.and_(bits, b.i32(1)), b.i32(0))
    odd = b.add(bits, b.select(away, b.i32(1), b.i32(-1)))
    finite = b.op(Op.FLT, b.op(Op.FABS, total), b.const(Type.F32, float("inf")))
    change = b.and_(b.and_(inexact, even), finite)
    return b.cast_bits(b.select(change, odd, bits), Type.F32)


def to_tf32(b: Builder, value: Value, rounding: str = "rna") -> Value:
    """Return an F32 with 10 bits of mantissa: nearest, ties away (``rna``) or even (``rn``), or cut off."""
    bits = b.cast_bits(value, Type.I32)
    if rounding == "rna":
        rounded = b.add(bits, b.i32(0x1000))
    elif rounding == "rn":
        odd = b.and_(b.lshr(bits, 13), b.i32(1))
        rounded = b.add(b.add(bits, b.i32(0xFFF)), odd)
    else:
        rounded = bits
    kept = b.and_(rounded, b.i32(0xFFFFE000))
    return b.select(b.op(Op.FUNO, value, value), b.i32(0x7FFFFFFF), kept)
