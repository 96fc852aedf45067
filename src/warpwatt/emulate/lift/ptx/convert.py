"""Conversions (PTX ISA 9.7.9, cvt): integers and floats of every width, with rounding and saturation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warpwatt.core.program import Instruction
from warpwatt.emulate.ir import Op, Type
from warpwatt.emulate.lift import floats
from warpwatt.emulate.lift.bits import join_halves
from warpwatt.emulate.lift.driver import UncoveredError
from warpwatt.emulate.lift.ptx.opcode import is_float, signed, type_of

if TYPE_CHECKING:
    from warpwatt.emulate.ir import Value
    from warpwatt.emulate.lift.ptx.opcode import Opcode
    from warpwatt.emulate.lift.ptx.operands import PtxBuilder
    from warpwatt.emulate.lift.ptx.patterns import Semantics

_TO_INTEGER = {"rzi": Op.FTRUNC, "rni": Op.FRINT, "rmi": Op.FFLOOR, "rpi": Op.FCEIL}
_SMALL = ("bf16", "tf32")


def _convert(b: PtxBuilder, how: Opcode, i: Instruction) -> None:
    if len(how.kinds) < 2 or how.has("rs"):
        raise UncoveredError
    to, source = how.kinds[0], how.kinds[1]
    if how.has("pack"):
        _pack_integers(b, how, i)
        return
    if to in ("f16x2", "bf16x2") and source == "f32":
        _pack_halves(b, how, i)
        return
    for kind in (to, source):
        if not (is_float(kind) or kind in _SMALL or (kind[0] in "usb" and kind[1:].isdigit())):
            raise UncoveredError
    type_, sign = type_of(source), signed(to)
    value = b.read(i.operands[1], type_)
    b.write(i.operands[0], convert(b, how, to, source, value), signed=sign)


def convert(b: PtxBuilder, how: Opcode, to: str, source: str, value: Value) -> Value:
    """Return a value of type ``source`` as ``to`` with the rounding and saturation of the opcode."""
    if is_float(source) or source == "bf16":
        if source == "bf16" and to != "bf16":
            value = floats.from_bf16(b, value)
        if is_float(to) or to in _SMALL:
            return _float_to_float(b, how, to, source, value)
        return _float_to_integer(b, how, to, value)
    if is_float(to) or to == "bf16":
        return _integer_to_float(b, how, to, source, value)
    return _integer_to_integer(b, how, to, source, value)


def _integer_to_integer(b: PtxBuilder, how: Opcode, to: str, source: str, value: Value) -> Value:
    target = type_of(to)
    if how.has("sat"):
        value = _clamped(b, value, target.bits, from_signed=signed(source), to_signed=signed(to))
    return b.fit(value, target, signed=signed(source))


def _clamped(b: PtxBuilder, value: Value, bits: int, *, from_signed: bool, to_signed: bool) -> Value:
    """Return an integer clamped to the range of the type it goes to, where that range is the smaller one."""
    width = value.type.bits
    high = (1 << (bits - to_signed)) - 1
    low = -(1 << (bits - 1)) if to_signed else 0
    if from_signed:
        if low > -(1 << (width - 1)):
            value = b.op(Op.SMAX, value, b.const(value.type, low))
        if high < (1 << (width - 1)) - 1:
            value = b.op(Op.SMIN, value, b.const(value.type, high))
    elif high < (1 << width) - 1:
        value = b.op(Op.UMIN, value, b.const(value.type, high))
    return value


def _float_to_integer(b: PtxBuilder, how: Opcode, to: str, value: Value) -> Value:
    if how.ftz:
        value = floats.flush(b, value)
    rounding = next((w for w in how.words if w in _TO_INTEGER), "rzi")
    if rounding != "rzi":
        value = b.op(_TO_INTEGER[rounding], value)
    op = Op.FPTOSI if signed(to) else Op.FPTOUI
    return b.convert(op, type_of(to), value)


def _integer_to_float(b: PtxBuilder, how: Opcode, to: str, source: str, value: Value) -> Value:
    """Return an integer as a float; to f16 by way of F64, which is exact for all that does not overflow."""
    op = Op.SITOFP if signed(source) else Op.UITOFP
    if to in ("f16", "bf16"):
        if to == "bf16":
            raise UncoveredError
        result = b.convert(Op.FPTRUNC, Type.F16, b.convert(op, Type.F64, value, "rn"), how.rounding)
    else:
        result = b.convert(op, type_of(to), value, how.rounding)
    return floats.saturate(b, result) if how.has("sat") else result


def _float_to_float(b: PtxBuilder, how: Opcode, to: str, source: str, value: Value) -> Value:
    if how.ftz and value.type is Type.F32:
        value = floats.flush(b, value)
    if to == "tf32":
        rounding = next((w for w in how.words if w in ("rna", "rn", "rz")), "rna")
        return floats.to_tf32(b, _relu(b, how, value), rounding)
    to_integer = next((w for w in how.words if w in _TO_INTEGER), None)
    if to_integer is not None:
        value = b.op(_TO_INTEGER[to_integer], value)
    value = _relu(b, how, value)
    if to == "bf16":
        if source == "bf16":
            return value
        if value.type is not Type.F32:
            raise UncoveredError
        return _bounded(b, how, floats.to_bf16(b, value, how.rounding), 0x7F7F)
    target = type_of(to)
    if target.bits > value.type.bits:
        value = b.convert(Op.FPEXT, target, value)
    elif target.bits < value.type.bits:
        value = b.convert(Op.FPTRUNC, target, value, how.rounding)
        if how.ftz and target is Type.F32:
            value = floats.flush(b, value)
        if target is Type.F16:
            value = _bounded(b, how, value, 0x7BFF)
    return floats.saturate(b, value) if how.has("sat") else value


def _relu(b: PtxBuilder, how: Opcode, value: Value) -> Value:
    """Return negative numbers as zero where the opcode says so; NaN stays."""
    return floats.relu(b, value) if how.has("relu") else value


def _bounded(b: PtxBuilder, how: Opcode, value: Value, largest: int) -> Value:
    """Return 16 bits with infinity replaced by the largest number where the opcode says ``satfinite``."""
    if not how.has("satfinite"):
        return value
    bits = b.cast_bits(value, Type.I16)
    infinite = b.op(Op.EQ, b.and_(bits, b.const(Type.I16, 0x7FFF)), b.const(Type.I16, largest + 1))
    sign = b.and_(bits, b.const(Type.I16, 0x8000))
    finite = b.or_(sign, b.const(Type.I16, largest))
    return b.cast_bits(b.select(infinite, finite, bits), value.type)


def _pack_halves(b: PtxBuilder, how: Opcode, i: Instruction) -> None:
    """Lift ``cvt`` of two F32 to a pair of halves; the first operand becomes the upper one."""
    each = how.kind.removesuffix("x2")
    high, low = (convert(b, how, each, "f32", b.read(o, Type.F32)) for o in i.operands[1:3])
    b.write(i.operands[0], join_halves(b, low, high))


def _pack_integers(b: PtxBuilder, how: Opcode, i: Instruction) -> None:
    """Lift ``cvt.pack``: a and b clamped to a narrow type side by side, c shifted above them."""
    to, source = how.kinds[:2]
    bits, type_ = type_of(to).bits, type_of(source)
    result = b.shl(b.read(i.operands[3], Type.I32), 2 * bits) if len(i.operands) > 3 else b.i32(0)
    for operand, shift in zip(i.operands[1:3], (bits, 0), strict=True):
        value = b.read(operand, type_)
        value = _clamped(b, value, bits, from_signed=signed(source), to_signed=signed(to))
        field = b.and_(b.fit(value, Type.I32), b.i32((1 << bits) - 1))
        result = b.or_(result, b.shl(field, shift))
    b.write(i.operands[0], result)


TABLE: dict[str, Semantics] = {"cvt": _convert}
