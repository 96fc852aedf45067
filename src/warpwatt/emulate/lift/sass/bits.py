"""Shifts, bit fields, byte permutation, counting bits."""

from __future__ import annotations

from warpwatt.core.program import Immediate, Operand
from warpwatt.emulate.ir import Op, Type, Value
from warpwatt.emulate.lift.bits import SELECTORS
from warpwatt.emulate.lift.bits import permute as permute_bytes
from warpwatt.emulate.lift.sass.operands import Step, is_zero, require
from warpwatt.emulate.lift.sass.table import lifts

_SHIFT_TYPES = ("U32", "S32", "U64", "S64")


@lifts("SHF.L", "USHF.L", knows="U32 S32 U64 S64 HI W")
def shift_left(step: Step) -> None:
    """Shift ``{c, a} << s``: its low word or, with .HI, its high one; .W takes s modulo the width."""
    dest, low, amount, high = step.operands
    if not step.has("HI"):
        step.set(dest, step.b.shl(step.value(low), _amount(step, amount, clamp=False)))
    elif is_zero(low):
        step.set(dest, step.b.shl(step.value(high), _amount(step, amount, clamp=False)))
    else:
        pair = step.b.pair(step.value(low), step.value(high))
        wide = step.b.shl(pair, step.b.zext(_amount(step, amount), Type.I64))
        step.set(dest, step.b.trunc(step.b.lshr(wide, 32), Type.I32))


@lifts("SHF.R", "USHF.R", knows="U32 S32 U64 S64 HI W")
def shift_right(step: Step) -> None:
    """Shift ``{c, a} >> s``: its low word or, with .HI, its high one; .W takes s modulo the width."""
    dest, low, amount, high = step.operands
    shift = step.b.ashr if step.has("S32", "S64") else step.b.lshr
    if step.has("HI"):
        step.set(dest, shift(step.value(high), _amount(step, amount, clamp=False)))
    else:
        pair = step.b.pair(step.value(low), step.value(high))
        wide = shift(pair, step.b.zext(_amount(step, amount), Type.I64))
        step.set(dest, step.b.trunc(wide, Type.I32))


def _amount(step: Step, operand: Operand, *, clamp: bool = True) -> Value:
    """Return a shift's amount: modulo the width (.W), else at most the width where ``clamp`` says so."""
    width = 64 if step.one_of(_SHIFT_TYPES)[1:] == "64" else 32
    if isinstance(operand, Immediate):
        fixed = int(operand.value) & 0xFFFFFFFF
        return step.b.i32(fixed % width if step.has("W") else min(fixed, width))
    amount = step.value(operand)
    if step.has("W"):
        return step.b.and_(amount, step.b.i32(width - 1))
    return step.b.op(Op.UMIN, amount, step.b.i32(width)) if clamp else amount


@lifts("USHL", "SHL", knows="U32 W")
def plain_shift_left(step: Step) -> None:
    """Form ``a << s``."""
    dest, value, amount = step.operands
    step.set(dest, step.b.shl(step.value(value), _plain_amount(step, amount)))


@lifts("USHR", "SHR", knows="U32 S32 W")
def plain_shift_right(step: Step) -> None:
    """Form ``a >> s``, arithmetic unless .U32."""
    dest, value, amount = step.operands
    shift = step.b.lshr if step.has("U32") else step.b.ashr
    step.set(dest, shift(step.value(value), _plain_amount(step, amount)))


def _plain_amount(step: Step, operand: Operand) -> Value:
    amount = step.value(operand)
    return step.b.and_(amount, step.b.i32(31)) if step.has("W") else amount


@lifts("SGXT", "USGXT", knows="U32 W")
def extend(step: Step) -> None:
    """Extend the low ``n`` bits by their sign (.U32: by zeros); .W takes n modulo 32."""
    dest, source, width = step.operands
    value, bits = step.value(source), step.value(width)
    if step.has("W"):
        bits = step.b.and_(bits, step.b.i32(31))
    unused = step.b.sub(step.b.i32(32), step.b.op(Op.UMIN, bits, step.b.i32(32)))
    shift = step.b.lshr if step.has("U32") else step.b.ashr
    step.set(dest, shift(step.b.shl(value, unused), unused))


@lifts("BMSK", "UBMSK", knows="W")
def mask(step: Step) -> None:
    """Form ``n`` ones from a bit on; .W takes both modulo 32."""
    dest, start, count = step.operands
    at, bits = step.value(start), step.value(count)
    if step.has("W"):
        at, bits = (step.b.and_(v, step.b.i32(31)) for v in (at, bits))
    ones = step.b.not_(step.b.shl(step.b.i32(-1), bits))
    step.set(dest, step.b.shl(ones, at))


@lifts("POPC", "UPOPC")
def population_count(step: Step) -> None:
    """Count the ones."""
    dest, source = step.operands
    step.set(dest, step.b.op(Op.POPC, step.value(source)))


@lifts("BREV", "UBREV")
def reverse(step: Step) -> None:
    """Reverse the order of bits."""
    dest, source = step.operands
    step.set(dest, step.b.op(Op.BREV, step.value(source)))


@lifts("FLO", "UFLO", knows="U32 SH")
def find_leading_one(step: Step) -> None:
    """Find the highest one (the highest bit unlike the sign, if signed); .SH: its distance from the top.

    All ones where there is none. A predicate behind the destination says whether there is one.
    """
    form = step.form()
    require(len(form.sources) == 1 and len(form.outs) <= 1 and not form.ins and not form.before)
    value = step.value(form.sources[0])
    if not step.has("U32"):
        value = step.b.xor(value, step.b.ashr(value, 31))
    zeros = step.b.op(Op.CLZ, value)
    found = step.b.op(Op.NE, value, step.b.i32(0))
    place = zeros if step.has("SH") else step.b.sub(step.b.i32(31), zeros)
    step.set(form.dest, step.b.select(found, place, step.b.i32(-1)))
    for out in form.outs:
        step.set(out, found)


@lifts("PRMT", "UPRMT", knows=" ".join(SELECTORS).upper())
def permute(step: Step) -> None:
    """Pick four of the eight bytes of {c, a}; without a mode, a selector's bit 3 spreads the byte's sign."""
    dest, a, selector, c = step.operands
    mode = step.one_of((name.upper() for name in SELECTORS), "").lower()
    number = int(selector.value) if isinstance(selector, Immediate) else step.value(selector)
    step.set(dest, permute_bytes(step.b, step.value(a), step.value(c), number, mode))
