"""Shifts, bit fields, byte permutation, counting bits."""

from __future__ import annotations

from warpwatt.core.program import Immediate, Operand
from warpwatt.emulate.ir import Op, Type, Value
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


_SELECTORS = {
    "F4E": (0x3210, 0x4321, 0x5432, 0x6543),
    "B4E": (0x5670, 0x6701, 0x7012, 0x0123),
    "RC8": (0x0000, 0x1111, 0x2222, 0x3333),
    "ECL": (0x3210, 0x3211, 0x3222, 0x3333),
    "ECR": (0x0000, 0x1110, 0x2210, 0x3210),
    "RC16": (0x1010, 0x3232, 0x1010, 0x3232),
}
"""Bytes that the modes of PRMT pick, by the low two bits of the selector (PTX ISA, ``prmt``)."""


@lifts("PRMT", "UPRMT", knows=" ".join(_SELECTORS))
def permute(step: Step) -> None:
    """Pick four of the eight bytes of {c, a}; without a mode, a selector's bit 3 spreads the byte's sign."""
    dest, a, selector, c = step.operands
    mode = step.one_of(_SELECTORS, "")
    if isinstance(selector, Immediate):
        number = int(selector.value)
        bytes_ = _SELECTORS[mode][number & 3] if mode else number
        step.set(dest, _permute_fixed(step, step.value(a), step.value(c), bytes_))
        return
    chosen = step.value(selector)
    if mode:
        chosen = _pick(step, chosen, _SELECTORS[mode])
    step.set(dest, _permute(step, step.b.pair(step.value(a), step.value(c)), chosen))


def _pick(step: Step, number: Value, choices: tuple[int, ...]) -> Value:
    """Return the choice that the low two bits of a value select."""
    first, second, third, fourth = (step.b.i32(c) for c in choices)
    odd, high = (step.b.trunc(step.b.lshr(number, i), Type.I1) for i in (0, 1))
    return step.b.select(high, step.b.select(odd, fourth, third), step.b.select(odd, second, first))


def _permute(step: Step, pair: Value, chosen: Value) -> Value:
    """Return the bytes of a 64-bit value that a selector known only at run time picks."""
    result = step.b.i32(0)
    for i in range(4):
        nibble = step.b.and_(step.b.lshr(chosen, 4 * i), step.b.i32(15))
        at = step.b.shl(step.b.and_(nibble, step.b.i32(7)), 3)
        byte = step.b.trunc(step.b.lshr(pair, step.b.zext(at, Type.I64)), Type.I8)
        plain, signs = step.b.zext(byte, Type.I32), step.b.ashr(byte, 7)
        spread = step.b.compare("uge", nibble, step.b.i32(8))
        picked = step.b.select(spread, step.b.zext(signs, Type.I32), plain)
        result = step.b.or_(result, step.b.shl(picked, 8 * i))
    return result


def _permute_fixed(step: Step, a: Value, c: Value, selector: int) -> Value:
    """Return a permutation by a known selector: bytes that move alike move together."""
    moves: dict[tuple[bool, int], int] = {}
    result = step.b.i32(0)
    for i in range(4):
        nibble = selector >> 4 * i & 15
        source, byte = (c, nibble & 3) if nibble & 4 else (a, nibble & 3)
        if nibble & 8:
            sign = step.b.ashr(step.b.shl(source, 24 - 8 * byte), 31)
            result = step.b.or_(result, step.b.and_(sign, step.b.i32(0xFF << 8 * i)))
        else:
            key = (bool(nibble & 4), i - byte)
            moves[key] = moves.get(key, 0) | 0xFF << 8 * i
    for (of_c, distance), kept in moves.items():
        source = c if of_c else a
        bits = 8 * abs(distance)
        if bits:
            source = step.b.shl(source, bits) if distance > 0 else step.b.lshr(source, bits)
        part = source if kept == 0xFFFFFFFF else step.b.and_(source, step.b.i32(kept))
        result = step.b.or_(result, part)
    return result
