"""Semantics of conversions of floats of 8, 6 or 4 bits, and of scales that are powers of two."""

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
    """A float of 4, 6 or 8 bits (OCP 8-bit floating point 1.0, microscaling formats 1.0)."""

    bits: int
    fraction: int
    bias: int
    largest: int
    """Pattern of the largest finite number."""
    nan: int
    """Pattern that not-a-number becomes; formats without it take the largest number (PTX ISA, ``cvt``)."""

    @property
    def width(self) -> int:
        """Bits that it takes in a register."""
        return 4 if self.bits == 4 else 8


_FORMATS = {
    "E4M3": _Format(8, 3, 7, 0x7E, 0x7F),
    "E5M2": _Format(8, 2, 15, 0x7B, 0x7F),
    "E3M2": _Format(6, 2, 3, 0x1F, 0x1F),
    "E2M3": _Format(6, 3, 1, 0x1F, 0x1F),
    "E2M1": _Format(4, 1, 1, 0x7, 0x7),
}
_NAMES = " ".join(_FORMATS)


@lifts("F2FP.F16.UNPACK_B", knows=_NAMES)
def unpack(s: Step) -> None:
    """Make halves of two floats in the low (``.H1``: high) half of a register."""
    form = _FORMATS[s.one_of(_FORMATS)]
    low, high = (_half(s.b, bits, form) for bits in _pair(s, form.width))
    s.set(s.operands[0], s.b.or_(low, s.b.shl(high, 16)))


@lifts("F2FP.BF16.E8.UNPACK_B")
def unpack_scales(s: Step) -> None:
    """Make bfloat16 of two scales: powers of two by their exponents, 255 not a number."""
    low, high = (_scale(s.b, bits) for bits in _pair(s, 8))
    s.set(s.operands[0], s.b.or_(low, s.b.shl(high, 16)))


def _pair(s: Step, width: int) -> tuple[Value, Value]:
    """Return the two lowest patterns of so many bits of the half that an operand names."""
    require(len(s.operands) == 2)
    operand = register_of(s.operands[1])
    require(not operand.negated and set(operand.modifiers) <= {"reuse", "H0", "H1"})
    word = s.value(replace(operand, modifiers=()))
    if "H1" in operand.modifiers:
        word = s.b.lshr(word, 16)
    mask = s.b.i32((1 << width) - 1)
    return s.b.and_(word, mask), s.b.and_(s.b.lshr(word, width), mask)


def _half(b: Builder, bits: Value, form: _Format) -> Value:
    """Return the fp16 pattern of a float: fields moved in place, the bias made up by a factor."""
    magnitude = b.and_(bits, b.i32((1 << (form.bits - 1)) - 1))
    moved = b.cast_bits(b.trunc(b.shl(magnitude, 10 - form.fraction), Type.I16), Type.F16)
    scaled = b.op(Op.FMUL, moved, b.const(Type.F16, 2.0 ** (15 - form.bias)), data="rn")
    found = b.zext(b.cast_bits(scaled, Type.I16), Type.I32)
    if form is _FORMATS["E4M3"]:
        found = b.select(b.compare("eq", magnitude, b.i32(form.nan)), b.i32(0x7FFF), found)
    sign = b.and_(bits, b.i32(1 << (form.bits - 1)))
    return b.or_(found, b.shl(sign, 16 - form.bits))


def _scale(b: Builder, exponent: Value) -> Value:
    """Return the bfloat16 pattern of 2 to an exponent, which counts from -127."""
    bits = b.select(b.compare("eq", exponent, b.i32(0)), b.i32(0x40), b.shl(exponent, 7))
    return b.select(b.compare("eq", exponent, b.i32(0xFF)), b.i32(0x7FFF), bits)


@lifts("F2FP.SATFINITE.PACK_AB_MERGE_C", knows=f"{_NAMES} F32 RELU")
def pack(s: Step) -> None:
    """Pack two floats, the first one high; beyond the range, the largest finite number."""
    form = _FORMATS[s.one_of(_FORMATS)]
    values = (s.value(operand, Type.F32) for operand in s.operands[1:3])
    _merge(s, [_rounded(s.b, relu(s.b, v) if s.has("RELU") else v, form) for v in values], form.width)


@lifts("F2FP.SATFINITE.E8.F32.PACK_AB_MERGE_C.RP", "F2FP.SATFINITE.E8.F32.PACK_AB_MERGE_C.RZ")
def pack_scales(s: Step) -> None:
    """Pack the exponents of two floats, rounded to powers of two; their signs do not matter."""
    values = (s.value(operand, Type.I32) for operand in s.operands[1:3])
    _merge(s, [_exponent(s.b, value, up=s.has("RP")) for value in values], 8)


def _merge(s: Step, patterns: list[Value], width: int) -> None:
    """Write two patterns, the first one high, and what was packed before above them."""
    require(len(s.operands) == 4 and s.has("F32"))
    packed = s.b.or_(s.b.shl(patterns[0], width), patterns[1])
    before = s.operands[3]
    s.set(s.operands[0], packed if is_zero(before) else s.b.or_(packed, s.b.shl(s.value(before), 2 * width)))


def _rounded(b: Builder, value: Value, form: _Format) -> Value:
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
    sign = b.and_(b.lshr(bits, 32 - form.bits), b.i32(1 << (form.bits - 1)))
    return b.select(nan, b.i32(form.nan), b.or_(finite, sign))


def _exponent(b: Builder, bits: Value, *, up: bool) -> Value:
    """Return the exponent of the power of two at (``up``: at or above) a float; 2**-127 is the least."""
    magnitude = b.and_(bits, b.i32(0x7FFFFFFF))
    exponent = b.lshr(magnitude, 23)
    if up:
        least = b.select(b.compare("ult", magnitude, b.i32(1 << 23)), b.i32(1 << 22), b.i32(0))
        above = b.compare("ugt", b.and_(magnitude, b.i32((1 << 23) - 1)), least)
        exponent = b.add(exponent, b.zext(above, Type.I32))
    nan = b.compare("ugt", magnitude, b.i32(0x7F800000))
    return b.select(nan, b.i32(0xFF), b.op(Op.UMIN, exponent, b.i32(0xFE)))
