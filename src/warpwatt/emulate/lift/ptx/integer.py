"""Integer arithmetic (PTX ISA 9.7.1) and extended precision (9.7.2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warpwatt.core.program import Instruction
from warpwatt.emulate.ir import Op, Type
from warpwatt.emulate.lift.bits import (
    add_with_carry,
    field,
    multiply_high,
    multiply_wide,
    saturating_sum,
    subtract_with_borrow,
)
from warpwatt.emulate.lift.driver import UncoveredError
from warpwatt.emulate.lift.ptx.opcode import bits_of, signed, type_of
from warpwatt.emulate.lift.ptx.operands import CARRY
from warpwatt.emulate.lift.ptx.patterns import plain

if TYPE_CHECKING:
    from warpwatt.emulate.ir import Value
    from warpwatt.emulate.lift.ptx.opcode import Opcode
    from warpwatt.emulate.lift.ptx.operands import PtxBuilder
    from warpwatt.emulate.lift.ptx.patterns import Function, Semantics

_WIDE = {8: Type.I16, 16: Type.I32, 32: Type.I64}


def _two(plain_op: Op, signed_op: Op | None = None) -> Function:
    """Return a function that is one micro-operation, by the sign of the type."""

    def function(b: PtxBuilder, how: Opcode, *values: Value) -> Value:
        op = signed_op if signed_op is not None and signed(how.kind) else plain_op
        return b.op(op, *values)

    return function


def _sum(op: Op) -> Function:
    def function(b: PtxBuilder, how: Opcode, x: Value, y: Value) -> Value:
        if how.has("sat") and how.kind == "s32":
            return saturating_sum(b, op, x, y)
        return b.op(op, x, y)

    return function


def _extreme(unsigned: Op, with_sign: Op) -> Function:
    """Minimum or maximum; ``relu`` holds the result to zero and above."""

    def function(b: PtxBuilder, how: Opcode, *values: Value) -> Value:
        op = with_sign if signed(how.kind) else unsigned
        result = values[0]
        for value in values[1:]:
            result = b.op(op, result, value)
        return b.op(Op.SMAX, result, b.const(result.type, 0)) if how.has("relu") else result

    return function


def _negate(b: PtxBuilder, _how: Opcode, x: Value) -> Value:
    return b.neg(x)


def _absolute(b: PtxBuilder, _how: Opcode, x: Value) -> Value:
    return b.op(Op.SMAX, x, b.neg(x)) if x.type.bits > 8 else x


def _absolute_difference(b: PtxBuilder, how: Opcode, x: Value, y: Value, z: Value) -> Value:
    low, high = (Op.SMIN, Op.SMAX) if signed(how.kind) else (Op.UMIN, Op.UMAX)
    return b.add(z, b.sub(b.op(high, x, y), b.op(low, x, y)))


def _multiply(b: PtxBuilder, how: Opcode, i: Instruction) -> None:
    """Lift ``mul`` and ``mad`` with their parts lo, hi and wide, with carry in or out."""
    type_, sign = type_of(how.kind), signed(how.kind)
    wide, high, saturate = how.has("wide"), how.has("hi"), how.has("sat")
    result_type = _WIDE[type_.bits] if wide else type_
    x, y = b.read(i.operands[1], type_), b.read(i.operands[2], type_)
    if wide:
        product = multiply_wide(b, x, y, signed=sign)
    else:
        product = multiply_high(b, x, y, signed=sign) if high else b.mul(x, y)
    if len(i.operands) > 3:
        addend = b.read(i.operands[3], result_type)
        if how.name == "madc" or how.has("cc"):
            carry_in = _carry(b) if how.name == "madc" else None
            product, carry = add_with_carry(b, product, addend, carry_in)
            _set_carry(b, how, carry)
        elif saturate:
            product = saturating_sum(b, Op.ADD, product, addend)
        else:
            product = b.add(product, addend)
    b.write(i.operands[0], product, signed=sign)


def _multiply_24(b: PtxBuilder, how: Opcode, i: Instruction) -> None:
    """Lift ``mul24`` and ``mad24``: of the 48-bit product the lower 32 bits, or those from bit 16 on."""
    sign = signed(how.kind)
    shift = b.ashr if sign else b.lshr
    x, y = (shift(b.shl(b.read(o, Type.I32), 8), 8) for o in i.operands[1:3])
    if how.has("hi"):
        product = b.trunc(b.lshr(multiply_wide(b, x, y, signed=sign), 16), Type.I32)
    else:
        product = b.mul(x, y)
    if len(i.operands) > 3:
        addend = b.read(i.operands[3], Type.I32)
        product = saturating_sum(b, Op.ADD, product, addend) if how.has("sat") else b.add(product, addend)
    b.write(i.operands[0], product)


def _carry(b: PtxBuilder) -> Value:
    b.declare(CARRY, Type.I1)
    return b.get(CARRY)


def _set_carry(b: PtxBuilder, how: Opcode, carry: Value) -> None:
    if how.has("cc"):
        b.declare(CARRY, Type.I1)
        b.set(CARRY, carry)


def _extended(b: PtxBuilder, how: Opcode, i: Instruction) -> None:
    """Lift ``add.cc addc sub.cc subc``."""
    type_ = type_of(how.kind)
    function = add_with_carry if how.name.startswith("add") else subtract_with_borrow
    carry_in = _carry(b) if how.name.endswith("c") else None
    x, y = b.read(i.operands[1], type_), b.read(i.operands[2], type_)
    result, carry = function(b, x, y, carry_in)
    _set_carry(b, how, carry)
    b.write(i.operands[0], result)


def _count(op: Op) -> Semantics:
    """Return ``popc`` or ``clz``, whose result has 32 bits."""

    def lift(b: PtxBuilder, how: Opcode, i: Instruction) -> None:
        b.write(i.operands[0], b.fit(b.op(op, b.read(i.operands[1], type_of(how.kind))), Type.I32))

    return lift


def _find_leading(b: PtxBuilder, how: Opcode, i: Instruction) -> None:
    """Lift ``bfind``: position of the highest bit that differs from the sign, -1 if none."""
    type_, sign = type_of(how.kind), signed(how.kind)
    x = b.read(i.operands[1], type_)
    if sign:
        x = b.xor(x, b.ashr(x, type_.bits - 1))
    zeros = b.fit(b.op(Op.CLZ, x), Type.I32)
    result = b.sub(b.i32(type_.bits - 1), zeros)
    if how.has("shiftamt"):
        found = b.op(Op.NE, x, b.const(type_, 0))
        result = b.select(found, zeros, b.i32(-1))
    b.write(i.operands[0], result)


def _find_nth(b: PtxBuilder, how: Opcode, i: Instruction) -> None:
    """Lift ``fns``: the n-th set bit from a base on, upwards for n > 0, downwards for n < 0.

    The position is found by bisection over the number of set bits below it.
    """
    del how
    mask, base, nth = (b.read(o, Type.I32) for o in i.operands[1:4])
    down = b.op(Op.SLT, nth, b.i32(0))
    mask = b.select(down, b.op(Op.BREV, mask), mask)
    base = b.select(down, b.sub(b.i32(31), base), base)
    above = b.and_(mask, b.shl(b.i32(-1), base))
    wanted = b.op(Op.UMAX, b.select(down, b.neg(nth), nth), b.i32(1))
    low = b.i32(0)
    for step in (16, 8, 4, 2, 1):
        window = b.and_(b.lshr(above, low), b.i32((1 << step) - 1))
        count = b.op(Op.POPC, window)
        later = b.op(Op.ULT, count, wanted)
        wanted = b.select(later, b.sub(wanted, count), wanted)
        low = b.select(later, b.add(low, b.i32(step)), low)
    bit = b.and_(b.lshr(above, low), b.i32(1))
    only = b.op(Op.EQ, b.and_(b.lshr(mask, base), b.i32(1)), b.i32(1))
    zero = b.op(Op.EQ, nth, b.i32(0))
    found = b.select(zero, only, b.op(Op.EQ, wanted, bit))
    low = b.select(zero, base, low)
    position = b.select(down, b.sub(b.i32(31), low), low)
    b.write(i.operands[0], b.select(found, position, b.i32(-1)))


def _extract(b: PtxBuilder, how: Opcode, i: Instruction) -> None:
    """Lift ``bfe``: c bits of a from bit b on, with zeros or the sign above."""
    type_, sign = type_of(how.kind), signed(how.kind)
    bits = type_.bits
    x = b.read(i.operands[1], type_)
    start, length = (b.fit(b.and_(b.read(o, Type.I32), b.i32(255)), type_) for o in i.operands[2:4])
    if not sign:
        mask = b.not_(b.shl(b.const(type_, -1), length))
        b.write(i.operands[0], b.and_(b.lshr(x, start), mask))
        return
    # Shift what is wanted to the top, so that its highest bit becomes the sign.
    end = b.op(Op.UMIN, b.add(start, length), b.const(type_, bits))
    field = b.ashr(b.shl(x, b.sub(b.const(type_, bits), end)), b.sub(b.const(type_, bits), b.sub(end, start)))
    beyond = b.op(Op.ULE, b.const(type_, bits), start)
    result = b.select(beyond, b.ashr(x, bits - 1), field)
    result = b.select(b.op(Op.EQ, length, b.const(type_, 0)), b.const(type_, 0), result)
    b.write(i.operands[0], result)


def _insert(b: PtxBuilder, how: Opcode, i: Instruction) -> None:
    """Lift ``bfi``: b with its d bits from bit c on replaced by those of a."""
    type_ = type_of(how.kind)
    field, into = b.read(i.operands[1], type_), b.read(i.operands[2], type_)
    start, length = (b.fit(b.and_(b.read(o, Type.I32), b.i32(255)), type_) for o in i.operands[3:5])
    mask = b.shl(b.not_(b.shl(b.const(type_, -1), length)), start)
    kept = b.and_(into, b.not_(mask))
    b.write(i.operands[0], b.or_(kept, b.and_(b.shl(field, start), mask)))


def _extend(b: PtxBuilder, how: Opcode, i: Instruction) -> None:
    """Lift ``szext``: the low b bits of a, with zeros or the sign above."""
    sign = signed(how.kind)
    x, width = b.read(i.operands[1], Type.I32), b.read(i.operands[2], Type.I32)
    width = b.and_(width, b.i32(31)) if how.has("wrap") else b.op(Op.UMIN, width, b.i32(32))
    rest = b.sub(b.i32(32), width)
    shift = b.ashr if sign else b.lshr
    result = shift(b.shl(x, rest), rest)
    b.write(i.operands[0], b.select(b.op(Op.EQ, width, b.i32(0)), b.i32(0), result))


def _mask(b: PtxBuilder, how: Opcode, i: Instruction) -> None:
    """Lift ``bmsk``: b ones from bit a on."""
    start, length = b.read(i.operands[1], Type.I32), b.read(i.operands[2], Type.I32)
    if how.has("wrap"):
        start, length = b.and_(start, b.i32(31)), b.and_(length, b.i32(31))
    ones = b.not_(b.shl(b.i32(-1), length))
    b.write(i.operands[0], b.shl(ones, start))


def _dot(b: PtxBuilder, how: Opcode, i: Instruction) -> None:
    """Lift ``dp4a`` and ``dp2a``: a sum of products of bytes, or of 16-bit and 8-bit parts."""
    a_signed, b_signed = signed(how.kinds[0]), signed(how.kinds[1])
    parts, bits = (4, 8) if how.name == "dp4a" else (2, 16)
    offset = 16 if how.has("hi") else 0
    x, y, total = (b.read(o, Type.I32) for o in i.operands[1:4])
    for k in range(parts):
        left = field(b, x, k * bits, bits, signed=a_signed)
        right = field(b, y, offset + 8 * k, 8, signed=b_signed)
        total = b.add(total, b.mul(left, right))
    b.write(i.operands[0], total)


def _add(b: PtxBuilder, how: Opcode, i: Instruction) -> None:
    lift = _extended if how.has("cc") else plain(_sum(Op.ADD if how.name == "add" else Op.SUB))
    lift(b, how, i)


def _multiply_packed(b: PtxBuilder, how: Opcode, i: Instruction) -> None:
    if how.kind.endswith("x2") or bits_of(how.kind) > 64:
        raise UncoveredError
    _multiply(b, how, i)


TABLE: dict[str, Semantics] = {
    "add": _add,
    "sub": _add,
    "addc": _extended,
    "subc": _extended,
    "mul": _multiply_packed,
    "mad": _multiply_packed,
    "madc": _multiply,
    "mul24": _multiply_24,
    "mad24": _multiply_24,
    "sad": plain(_absolute_difference),
    "div": plain(_two(Op.UDIV, Op.SDIV)),
    "rem": plain(_two(Op.UREM, Op.SREM)),
    "abs": plain(_absolute),
    "neg": plain(_negate),
    "min": plain(_extreme(Op.UMIN, Op.SMIN)),
    "max": plain(_extreme(Op.UMAX, Op.SMAX)),
    "popc": _count(Op.POPC),
    "clz": _count(Op.CLZ),
    "bfind": _find_leading,
    "fns": _find_nth,
    "brev": plain(_two(Op.BREV)),
    "bfe": _extract,
    "bfi": _insert,
    "szext": _extend,
    "bmsk": _mask,
    "dp4a": _dot,
    "dp2a": _dot,
}
