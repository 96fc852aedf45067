"""Semantics of conversions between numbers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from warpwatt.core.program import Register
from warpwatt.emulate.ir import Op, Type
from warpwatt.emulate.lift.bits import clamp, field, join_halves
from warpwatt.emulate.lift.floats import flush, from_bf16, relu, saturate, to_bf16
from warpwatt.emulate.lift.sass.floats import ROUNDINGS
from warpwatt.emulate.lift.sass.floats import rounding as rounding_of
from warpwatt.emulate.lift.sass.mufu import half_word
from warpwatt.emulate.lift.sass.operands import is_zero, require
from warpwatt.emulate.lift.sass.table import lifts

if TYPE_CHECKING:
    from warpwatt.emulate.builder import Builder
    from warpwatt.emulate.ir import Value
    from warpwatt.emulate.lift.sass.operands import Step

_FLOATS = {"F16": Type.F16, "F32": Type.F32, "F64": Type.F64, "BF16": Type.I16}
_INTEGERS = ("S8", "U8", "S16", "U16", "S32", "U32", "S64", "U64")
_WHOLE = {"TRUNC": Op.FTRUNC, "FLOOR": Op.FFLOOR, "CEIL": Op.FCEIL, "RN": Op.FRINT}
"""Rounding to whole numbers; to nearest, ties to even, by default."""
_PARTS = {"B0": 0, "B1": 8, "B2": 16, "B3": 24, "H0": 0, "H1": 16}
"""Suffix of a part of a register -> its lowest bit."""
_ROUNDING = " ".join(ROUNDINGS)
_WHOLES = " ".join(_WHOLE)


def _float_source(s: Step, type_: str) -> Value:
    """Return the second operand as a float of a type; a bfloat16 as F32."""
    if type_ == "BF16":
        return from_bf16(s.b, half_word(s))
    if type_ == "F16" and isinstance(s.operands[1], Register):
        return s.b.cast_bits(half_word(s), Type.F16)
    value = s.value(s.operands[1], _FLOATS[type_])
    return flush(s.b, value) if s.has("FTZ") and type_ == "F32" else value


def _resized(b: Builder, value: Value, type_: Type, rounding: str = "rn") -> Value:
    """Return a float as another type of float."""
    if type_ is Type.I16:
        require(rounding == "rn" or (rounding == "rz" and value.type is Type.F32))
        return to_bf16(b, value, rounding)
    if value.type.bits < type_.bits:
        return b.convert(Op.FPEXT, type_, value)
    return b.convert(Op.FPTRUNC, type_, value, rounding)


@lifts("F2F", knows=f"F16 F32 F64 BF16 FTZ SAT {_ROUNDING}")
def resize(s: Step) -> None:
    """Make a float another type of float: ``F2F.F32.F64`` a single of a double."""
    require(len(s.operands) == 2)
    to, source = _two_types(s, _FLOATS)
    value = _float_source(s, source)
    result = value if to == source else _resized(s.b, value, _FLOATS[to], rounding_of(s))
    if s.has("FTZ") and result.type is Type.F32:
        result = flush(s.b, result)
    if s.has("SAT"):
        require(result.type.is_float)
        result = saturate(s.b, result)
    s.set(s.operands[0], result)


def _two_types(s: Step, names: dict[str, Type]) -> tuple[str, str]:
    """Return destination and source type, which stand in this order."""
    found = [m for m in s.modifiers if m in names]
    require(len(found) == 2)
    return found[0], found[1]


@lifts("F2FP.PACK_AB", knows=f"F16 BF16 F32 RELU {_ROUNDING}")
def pack(s: Step) -> None:
    """Pack two floats as halves of a register, the first one high."""
    require(len(s.operands) == 3)
    type_ = Type.I16 if s.has("BF16") else Type.F16
    values = [s.value(o, Type.F32) for o in s.operands[1:]]
    values = [relu(s.b, v) for v in values] if s.has("RELU") else values
    high, low = (_resized(s.b, v, type_, rounding_of(s)) for v in values)
    s.set(s.operands[0], join_halves(s.b, low, high))


@lifts("FRND", "UFRND", knows=f"F16 F32 F64 BF16 FTZ {_WHOLES}")
def whole(s: Step) -> None:
    """Round a float to a whole number."""
    require(len(s.operands) == 2)
    type_ = s.one_of(_FLOATS, "F32")
    result = s.b.op(_WHOLE[s.one_of(_WHOLE, "RN")], _float_source(s, type_))
    s.set(s.operands[0], to_bf16(s.b, result) if type_ == "BF16" else result)


@lifts("F2I", "UF2I", knows=f"F16 F32 F64 BF16 FTZ NTZ {' '.join(_INTEGERS)} {_WHOLES}")
def to_integer(s: Step) -> None:
    """Make a float an integer, saturated; NaN gives 0 with ``.NTZ``, else the highest bit alone."""
    require(len(s.operands) == 2)
    to, source = s.one_of(_INTEGERS, "S32"), s.one_of(_FLOATS, "F32")
    value = s.b.op(_WHOLE[s.one_of(_WHOLE, "RN")], _float_source(s, source))
    bits = int(to[1:])
    result = _clamped_integer(s.b, value, signed=to[0] == "S", bits=bits)
    if not s.has("NTZ"):
        lowest = s.b.const(result.type, 1 << (bits - 1))
        result = s.b.select(s.b.compare("fnan", value, value), lowest, result)
    s.set(s.operands[0], result)


def _clamped_integer(b: Builder, value: Value, *, signed: bool, bits: int) -> Value:
    """Return a whole float as an integer of so many bits, in at least 32, saturated."""
    type_ = Type.I64 if bits == 64 else Type.I32
    wide = b.convert(Op.FPTOSI if signed else Op.FPTOUI, type_, value)
    if bits >= 32:
        return wide
    if not signed:
        return b.op(Op.UMIN, wide, b.i32((1 << bits) - 1))
    return clamp(b, wide, bits, signed=True)


@lifts("F2IP.U8", "F2IP.S8", knows=f"F32 NTZ {_WHOLES}")
def pack_bytes(s: Step) -> None:
    """Make one float a byte (the packing of several is not known to us)."""
    require(len(s.operands) == 4 and is_zero(s.operands[1]) and is_zero(s.operands[3]) and s.has("NTZ"))
    value = s.b.op(_WHOLE[s.one_of(_WHOLE, "RN")], s.value(s.operands[2], Type.F32))
    result = _clamped_integer(s.b, value, signed=s.has("S8"), bits=8)
    s.set(s.operands[0], s.b.and_(result, s.b.i32(0xFF)))


@lifts("I2F", "I2FP", "UI2F", "UI2FP", knows=f"F16 F32 F64 BF16 {' '.join(_INTEGERS)} {_ROUNDING}")
def from_integer(s: Step) -> None:
    """Make an integer a float, rounded once."""
    require(len(s.operands) == 2)
    source, to = s.one_of(_INTEGERS, "S32"), s.one_of(_FLOATS, "F32")
    rounding = rounding_of(s)
    value = _integer_source(s, source)
    op = Op.SITOFP if source[0] == "S" else Op.UITOFP
    if to in ("F16", "BF16"):
        # Exact in double precision where the result is finite or bfloat16 takes 32 bits.
        require(rounding == "rn" and (to == "F16" or value.type is Type.I32))
        double = s.b.convert(op, Type.F64, value, "rn")
        s.set(s.operands[0], _resized(s.b, double, _FLOATS[to]))
    else:
        s.set(s.operands[0], s.b.convert(op, _FLOATS[to], value, rounding))


def _integer_source(s: Step, type_: str) -> Value:
    """Return the second operand as a signed or unsigned integer in 32 or 64 bits."""
    bits = int(type_[1:])
    operand = s.operands[1]
    if bits == 64:
        return s.value(operand, Type.I64)
    shift = 0
    if isinstance(operand, Register):
        shift = sum(_PARTS.get(m, 0) for m in operand.modifiers)
        operand = replace(operand, modifiers=tuple(m for m in operand.modifiers if m not in _PARTS))
    value = s.value(operand)
    if bits == 32:
        require(not shift)
        return value
    return field(s.b, value, shift, bits, signed=type_[0] == "S")


@lifts("I2I", knows=f"SAT {' '.join(_INTEGERS)}")
def narrow(s: Step) -> None:
    """Saturate a signed 32-bit integer to a narrower type."""
    names = [m for m in s.modifiers if m in _INTEGERS]
    require(len(s.operands) == 2 and s.has("SAT") and len(names) == 2 and names[1] == "S32")
    bits, value = int(names[0][1:]), s.value(s.operands[1])
    require(bits < 32)
    s.set(s.operands[0], clamp(s.b, value, bits, signed=names[0][0] == "S"))
