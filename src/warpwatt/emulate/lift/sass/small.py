"""Semantics of conversions between floats of 8 bits and wider ones."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from warpwatt.emulate.ir import Op, Type
from warpwatt.emulate.lift.floats import relu
from warpwatt.emulate.lift.sass.operands import is_zero, register_of, require
from warpwatt.emulate.lift.sass.table import lifts

if TYPE_CHECKING:
    from warpwatt.emulate.builder import Builder
    from warpwatt.emulate.ir import Value
    from warpwatt.emulate.lift.sass.operands import Step


@dataclass(frozen=True, slots=True)
class _Format:
    """A float of 8 bits (OCP 8-bit floating point specification 1.0): fraction bits, exponent bias."""

    fraction: int
    bias: int
    largest: int
    """Pattern of the largest finite number."""


_FORMATS = {"E4M3": _Format(3, 7, 0x7E), "E5M2": _Format(2, 15, 0x7B)}
_NAN = 0x7F


@lifts("F2FP.F16.UNPACK_B", knows="E4M3 E5M2")
def unpack(s: Step) -> None:
    """Make halves of the two bytes in the low (``.H1``: high) half of a register."""
    require(len(s.operands) == 2)
    operand = register_of(s.operands[1])
    require(not operand.negated and set(operand.modifiers) <= {"reuse", "H0", "H1"})
    word = s.value(replace(operand, modifiers=()))
    if "H1" in operand.modifiers:
        word = s.b.lshr(word, 16)
    wide = _from_e4m3 if s.one_of(_FORMATS) == "E4M3" else _from_e5m2
    low, high = (
        wide(s.b, s.b.and_(word, s.b.i32(0xFF))),
        wide(s.b, s.b.and_(s.b.lshr(word, 8), s.b.i32(0xFF))),
    )
    s.set(s.operands[0], s.b.or_(low, s.b.shl(high, 16)))


def _from_e5m2(b: Builder, byte: Value) -> Value:
    """Return the fp16 pattern of an e5m2 byte: the same exponent, more fraction."""
    return b.shl(byte, 8)


def _from_e4m3(b: Builder, byte: Value) -> Value:
    """Return the fp16 pattern of an e4m3 byte: fields moved in place, the bias made up by a factor 256."""
    magnitude = b.trunc(b.shl(b.and_(byte, b.i32(0x7F)), 7), Type.I16)
    scaled = b.op(Op.FMUL, b.cast_bits(magnitude, Type.F16), b.const(Type.F16, 256.0), data="rn")
    bits = b.zext(b.cast_bits(scaled, Type.I16), Type.I32)
    nan = b.compare("eq", b.and_(byte, b.i32(0x7F)), b.i32(0x7F))
    sign = b.shl(b.and_(byte, b.i32(0x80)), 8)
    return b.or_(b.select(nan, b.i32(0x7FFF), bits), sign)


@lifts("F2FP.SATFINITE.PACK_AB_MERGE_C", knows="E4M3 E5M2 F32 RELU")
def pack(s: Step) -> None:
    """Make two bytes of two floats, the first one high; beyond the range, the largest finite number."""
    require(len(s.operands) == 4 and is_zero(s.operands[3]) and s.has("F32"))
    form = _FORMATS[s.one_of(_FORMATS)]
    bytes_ = []
    for operand in s.operands[1:3]:
        value = s.value(operand, Type.F32)
        value = relu(s.b, value) if s.has("RELU") else value
        bytes_.append(_byte(s.b, value, form))
    s.set(s.operands[0], s.b.or_(s.b.shl(bytes_[0], 8), bytes_[1]))


def _byte(b: Builder, value: Value, form: _Format) -> Value:
    """Return the pattern of a float rounded to nearest even, I32.

    Normal numbers are rounded in their fraction bits; for denormal ones, adding a number whose last bit is
    the format's smallest unit leaves the rounded multiple of it in the low bits.
    """
    bits = b.cast_bits(value, Type.I32)
    magnitude = b.and_(bits, b.i32(0x7FFFFFFF))
    drop = 23 - form.fraction
    half = b.add(b.i32((1 << (drop - 1)) - 1), b.and_(b.lshr(magnitude, drop), b.i32(1)))
    normal = b.sub(b.lshr(b.add(magnitude, half), drop), b.i32((127 - form.bias) << form.fraction))
    magic = b.const(Type.F32, 2.0 ** (23 + 1 - form.bias - form.fraction))
    shifted = b.op(Op.FADD, b.cast_bits(magnitude, Type.F32), magic, data="rn")
    tiny = b.sub(b.cast_bits(shifted, Type.I32), b.cast_bits(magic, Type.I32))
    small = b.compare("ult", magnitude, b.i32((128 - form.bias) << 23))
    finite = b.op(Op.UMIN, b.select(small, tiny, normal), b.i32(form.largest))
    nan = b.compare("ugt", magnitude, b.i32(0x7F800000))
    sign = b.and_(b.lshr(bits, 24), b.i32(0x80))
    return b.select(nan, b.i32(_NAN), b.or_(finite, sign))
