"""Logic of three operands, on registers and on predicates."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warpwatt.core.program import Immediate, Operand, Register
from warpwatt.emulate.ir import Op, Type, Value
from warpwatt.emulate.lift.sass.operands import Step, is_predicate, is_zero, require
from warpwatt.emulate.lift.sass.table import lifts

if TYPE_CHECKING:
    from warpwatt.emulate.builder import Builder


def lookup_table(b: Builder, table: int, *values: Value) -> Value:
    """Return a bitwise function of some values; bit ``a·4 + b·2 + c`` of the table is f(a, b, c)."""
    half = 1 << (len(values) - 1)
    ones = (1 << half) - 1
    low, high = table & ones, table >> half
    first, *rest = values
    if not rest:
        return (b.const(first.type, 0), b.not_(first), first, b.const(first.type, -1))[table & 3]
    if low == high:
        return lookup_table(b, low, *rest)
    if low ^ high == ones:  # the other operands' function, turned round where the first is set
        if low in (0, ones):
            return first if low == 0 else b.not_(first)
        return b.xor(first, lookup_table(b, low, *rest))
    return _mixed(b, low, high, ones, first, rest)


def _mixed(b: Builder, low: int, high: int, ones: int, first: Value, rest: list[Value]) -> Value:
    """Return the function that is ``low`` of the rest where ``first`` is clear, else ``high``."""
    if low in (0, ones):
        with_rest = lookup_table(b, high, *rest)
        return b.and_(first, with_rest) if low == 0 else b.or_(b.not_(first), with_rest)
    where_clear = lookup_table(b, low, *rest)
    if high == 0:
        return b.and_(b.not_(first), where_clear)
    if high == ones:
        return b.or_(first, where_clear)
    return b.xor(where_clear, b.and_(first, lookup_table(b, low ^ high, *rest)))


def _table(operand: Operand) -> int:
    require(isinstance(operand, Immediate), "table of a logic operation")
    assert isinstance(operand, Immediate)
    return int(operand.value) & 0xFF


@lifts("LOP3", "ULOP3", knows="LUT PAND")
def logic(step: Step) -> None:
    """Combine three bit by bit; a predicate in front says "not zero", or'ed (.PAND: and'ed) with the last."""
    form = step.form()
    require(len(form.sources) == 4 and len(form.before) <= 1 and len(form.ins) <= 1 and not form.outs)
    values = [step.value(o) for o in form.sources[:3]]
    result = lookup_table(step.b, _table(form.sources[3]), *values)
    step.set(form.dest, result)
    if form.before:
        outcome = step.b.op(Op.NE, result, step.b.i32(0))
        for predicate in form.ins:
            op = Op.AND if step.has("PAND") else Op.OR
            outcome = step.b.op(op, outcome, step.predicate(predicate))
        step.set(form.before[0], outcome)


@lifts("PLOP3", "UPLOP3", knows="LUT")
def predicate_logic(step: Step) -> None:
    """Form two functions of three predicates."""
    require(len(step.operands) == 7)
    require(all(is_predicate(o) for o in step.operands[:2]))
    results = [_of_predicates(step, _table(o)) for o in step.operands[5:]]
    step.set(step.operands[0], results[0])
    step.set(step.operands[1], results[1])


def _of_predicates(step: Step, table: int) -> Value:
    """Return a function of the three predicates read; the constant ones select rows of the table."""
    varying, fixed = [], 0
    for weight, operand in zip((4, 2, 1), step.operands[2:5], strict=True):
        require(isinstance(operand, Register), f"predicate {operand}")
        assert isinstance(operand, Register)
        if operand.name not in ("PT", "UPT"):
            varying.append((weight, _truth(step, operand)))
        elif not operand.negated:
            fixed += weight
    if not varying:
        return step.b.const(Type.I1, table >> fixed & 1)
    rows = 0
    for row in range(1 << len(varying)):
        index = fixed + sum(w for bit, (w, _) in enumerate(reversed(varying)) if row >> bit & 1)
        rows |= (table >> index & 1) << row
    return lookup_table(step.b, rows, *(value for _, value in varying))


def _truth(step: Step, operand: Register) -> Value:
    """Return a predicate, or the sign of a register (``R4.SIGN``)."""
    if is_predicate(operand):
        return step.predicate(operand)
    require(set(operand.modifiers) <= {"SIGN", "reuse"} and "SIGN" in operand.modifiers)
    return step.b.compare("slt", step.raw(operand), step.b.i32(0))


@lifts("P2R", "UP2UR")
def predicates_to_register(step: Step) -> None:
    """Gather bits: those of the mask come from the predicates, the others from the register."""
    dest, source, mask = (o for o in step.operands if not _all_predicates(o))
    bits = _mask(mask)
    result = step.b.and_(step.value(source), step.b.i32(~bits))
    kind = "UP" if step.opcode.startswith("U") else "P"
    for i in range(7):
        if bits >> i & 1:
            bit = step.b.zext(step.get(f"{kind}{i}"), result.type)
            result = step.b.or_(result, step.b.shl(bit, i))
    step.set(dest, result)


@lifts("R2P", "UR2UP")
def register_to_predicates(step: Step) -> None:
    """Write the predicates that the mask selects, from the lowest byte or that of ``R2.B1`` to ``R2.B3``."""
    source, mask = (o for o in step.operands if not _all_predicates(o))
    value = _byte(step, source)
    bits = _mask(mask)
    kind = "UP" if step.opcode.startswith("U") else "P"
    for i in range(7):
        if bits >> i & 1:
            bit = step.b.and_(value, step.b.i32(1 << i))
            step.set(f"{kind}{i}", step.b.op(Op.NE, bit, step.b.i32(0)))


def _byte(step: Step, operand: Operand) -> Value:
    """Return a value moved right so that the byte it names is the lowest."""
    modifiers = operand.modifiers if isinstance(operand, Register) else ()
    named = [int(m[1]) for m in modifiers if m in ("B1", "B2", "B3")]
    if not named:
        return step.value(operand)
    assert isinstance(operand, Register)
    require(set(modifiers) <= {f"B{named[0]}", "reuse"} and not operand.negated, f"operand {operand}")
    return step.b.lshr(step.raw(operand), 8 * named[0])


def _all_predicates(operand: Operand) -> bool:
    return getattr(operand, "name", "") in ("PR", "UPR")


def _mask(operand: Operand) -> int:
    """Return which predicates a mask selects."""
    if is_zero(operand):
        return 0
    require(isinstance(operand, Immediate), "mask of predicates")
    assert isinstance(operand, Immediate)
    require(int(operand.value) & ~0x7F == 0, "mask beyond the predicates")
    return int(operand.value)
