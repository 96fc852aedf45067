"""Floating-point arithmetic (PTX ISA 9.7.3 to 9.7.5): f16, bf16, f32, f64, one at a time or in pairs.

bf16 is computed in F32 and rounded; sums and products of two need no more, ``fma`` rounds to odd first.
Approximations (``.approx``, ``.full``) are computed precisely: they lie within the documented error.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from warpwatt.core.program import Instruction
from warpwatt.emulate.ir import Op, Type
from warpwatt.emulate.lift import floats
from warpwatt.emulate.lift.driver import UncoveredError
from warpwatt.emulate.lift.ptx.opcode import type_of
from warpwatt.emulate.lift.ptx.patterns import plain

if TYPE_CHECKING:
    from warpwatt.emulate.ir import Value
    from warpwatt.emulate.lift.ptx.opcode import Opcode
    from warpwatt.emulate.lift.ptx.operands import PtxBuilder
    from warpwatt.emulate.lift.ptx.patterns import Function, Semantics


def _real(function: Function) -> Function:
    """Return ``function`` of floats: bf16 as F32, subnormals flushed, results clamped as the opcode says."""

    def whole(b: PtxBuilder, how: Opcode, *values: Value) -> Value:
        brain = how.kind == "bf16"
        if brain:
            values = tuple(floats.from_bf16(b, v) for v in values)
        if how.ftz:
            values = tuple(floats.flush(b, v) for v in values)
        result = function(b, how, *values)
        if how.ftz:
            result = floats.flush(b, result)
        if how.has("sat"):
            result = floats.saturate(b, result)
        if how.has("relu"):
            result = floats.relu(b, result)
        return floats.to_bf16(b, result) if brain else result

    return whole


def _one(op: Op) -> Function:
    return lambda b, how, *values: b.op(op, *values, data=how.rounding)


def _fused(b: PtxBuilder, how: Opcode, x: Value, y: Value, z: Value) -> Value:
    if how.kind == "bf16":
        return floats.fused_bf16(b, x, y, z)
    return b.op(Op.FMA, x, y, z, data=how.rounding)


def _reciprocal(b: PtxBuilder, how: Opcode, x: Value) -> Value:
    if how.has("approx"):
        return b.math("rcp", x)
    return b.op(Op.FDIV, b.const(x.type, 1.0), x, data=how.rounding)


def _root(b: PtxBuilder, how: Opcode, x: Value) -> Value:
    return b.op(Op.FSQRT, x, data=how.rounding)


def _function(name: str) -> Function:
    """Return a function of MATH; halves are computed in F32."""

    def function(b: PtxBuilder, _how: Opcode, x: Value) -> Value:
        if x.type is Type.F16:
            wide = b.math(name, b.convert(Op.FPEXT, Type.F32, x))
            return b.convert(Op.FPTRUNC, Type.F16, wide, "rn")
        return b.math(name, x)

    return function


def _extreme(op: Op) -> Function:
    """Minimum or maximum: the number beside a NaN, unless ``.NaN``; ``.xorsign.abs`` of magnitudes."""

    def function(b: PtxBuilder, how: Opcode, *values: Value) -> Value:
        numbers = [b.op(Op.FABS, v) for v in values] if how.has("abs") else list(values)
        result = numbers[0]
        for number in numbers[1:]:
            result = b.op(op, result, number)
        if how.has("NaN"):
            for number in numbers:
                result = b.select(b.op(Op.FUNO, number, number), floats.canonical(b, result.type), result)
        if how.has("xorsign"):
            whole = floats.INTEGER[result.type]
            bits = b.const(whole, 0)
            for value in values:
                bits = b.xor(bits, b.cast_bits(value, whole))
            sign = b.and_(bits, b.const(whole, 1 << (whole.bits - 1)))
            result = b.cast_bits(b.or_(b.cast_bits(result, whole), sign), result.type)
        return result

    return function


def _copy_sign(b: PtxBuilder, how: Opcode, i: Instruction) -> None:
    """Lift ``copysign``: magnitude of b, sign of a."""
    type_ = Type(f"i{type_of(how.kind).bits}")
    sign_of, magnitude_of = b.read(i.operands[1], type_), b.read(i.operands[2], type_)
    mask = b.const(type_, 1 << (type_.bits - 1))
    b.write(i.operands[0], b.or_(b.and_(sign_of, mask), b.and_(magnitude_of, b.not_(mask))))


def _test(b: PtxBuilder, how: Opcode, i: Instruction) -> None:
    """Lift ``testp``: a property of a number as a predicate."""
    type_ = type_of(how.kind)
    x = b.read(i.operands[1], type_)
    b.write(i.operands[0], _PROPERTIES[how.words[0]](b, x))


def _finite(b: PtxBuilder, x: Value) -> Value:
    return b.op(Op.FLT, b.op(Op.FABS, x), b.const(x.type, float("inf")))


def _infinite(b: PtxBuilder, x: Value) -> Value:
    return b.op(Op.FEQ, b.op(Op.FABS, x), b.const(x.type, float("inf")))


def _subnormal(b: PtxBuilder, x: Value) -> Value:
    flushed = floats.flush(b, x)
    return b.and_(b.op(Op.FEQ, flushed, b.const(x.type, 0.0)), b.not_(b.op(Op.FEQ, x, b.const(x.type, 0.0))))


def _normal(b: PtxBuilder, x: Value) -> Value:
    zero = b.op(Op.FEQ, floats.flush(b, x), b.const(x.type, 0.0))
    return b.and_(_finite(b, x), b.not_(zero))


_PROPERTIES = {
    "finite": _finite,
    "infinite": _infinite,
    "number": lambda b, x: b.compare("fnum", x, x),
    "notanumber": lambda b, x: b.op(Op.FUNO, x, x),
    "normal": _normal,
    "subnormal": _subnormal,
}


def _sign_only(op: Op) -> Function:
    """Negation or magnitude, which touch the sign alone (after flushing)."""

    def function(b: PtxBuilder, how: Opcode, x: Value) -> Value:
        if how.kind == "bf16":
            bits = b.const(Type.I16, 0x8000 if op is Op.FNEG else 0x7FFF)
            return b.op(Op.XOR if op is Op.FNEG else Op.AND, x, bits)
        return b.op(op, floats.flush(b, x) if how.ftz else x)

    return function


def _mixed(function: Function) -> Semantics:
    """Return arithmetic whose last type may be narrower (``fma.rn.f32.f16``: sm_100)."""

    def lift(b: PtxBuilder, how: Opcode, i: Instruction) -> None:
        if len(how.kinds) > 1:
            raise UncoveredError
        if how.kind == "f32x2":
            _two_floats(function, b, how, i)
        else:
            plain(_real(function))(b, how, i)

    return lift


def _two_floats(function: Function, b: PtxBuilder, how: Opcode, i: Instruction) -> None:
    """Lift arithmetic on two F32 in a 64-bit register (sm_100)."""
    pairs = [b.halves(b.read(o, Type.I64)) for o in i.operands[1:]]
    low, high = (
        b.cast_bits(_real(function)(b, how, *(b.cast_bits(pair[k], Type.F32) for pair in pairs)), Type.I32)
        for k in (0, 1)
    )
    b.write(i.operands[0], b.pair(low, high))


TABLE: dict[str, Semantics] = {
    "add": _mixed(_one(Op.FADD)),
    "sub": _mixed(_one(Op.FSUB)),
    "mul": _mixed(_one(Op.FMUL)),
    "fma": _mixed(_fused),
    "mad": _mixed(_fused),
    "div": plain(_real(_one(Op.FDIV))),
    "rcp": plain(_real(_reciprocal)),
    "sqrt": plain(_real(_root)),
    "rsqrt": plain(_real(_function("rsqrt"))),
    "sin": plain(_real(_function("sin"))),
    "cos": plain(_real(_function("cos"))),
    "lg2": plain(_real(_function("lg2"))),
    "ex2": plain(_real(_function("ex2"))),
    "tanh": plain(_real(_function("tanh"))),
    "min": plain(_real(_extreme(Op.FMIN))),
    "max": plain(_real(_extreme(Op.FMAX))),
    "neg": plain(_sign_only(Op.FNEG)),
    "abs": plain(_sign_only(Op.FABS)),
    "copysign": _copy_sign,
    "testp": _test,
}
