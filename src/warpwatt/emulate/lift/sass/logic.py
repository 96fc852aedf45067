"""Logic of three operands, on registers and on predicates."""

from __future__ import annotations

from warpwatt.core.program import Operand, Register
from warpwatt.emulate.ir import Op, Type, Value
from warpwatt.emulate.lift.bits import lookup
from warpwatt.emulate.lift.sass.operands import Step, is_predicate, is_zero, literal_of, register_of, require
from warpwatt.emulate.lift.sass.table import lifts


def _table(operand: Operand) -> int:
    return literal_of(operand) & 0xFF


@lifts("LOP3", "ULOP3", knows="LUT PAND")
def logic(step: Step) -> None:
    """Combine three bit by bit; a predicate in front says "not zero", or'ed (.PAND: and'ed) with the last."""
    form = step.form()
    require(len(form.sources) == 4 and len(form.before) <= 1 and len(form.ins) <= 1 and not form.outs)
    values = [step.value(o) for o in form.sources[:3]]
    result = lookup(step.b, _table(form.sources[3]), *values)
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
    for weight, operand in zip((4, 2, 1), map(register_of, step.operands[2:5]), strict=True):
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
    return lookup(step.b, rows, *(value for _, value in varying))


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
    mask = literal_of(operand)
    require(mask & ~0x7F == 0, "mask of more than the predicates")
    return mask
