"""Integer comparisons, minimum and maximum, selection."""

from __future__ import annotations

from warpwatt.core.program import Address, Operand, Register
from warpwatt.emulate.ir import Op, Type, Value
from warpwatt.emulate.lift.bits import join_halves, split_halves
from warpwatt.emulate.lift.sass.operands import Step, is_false, is_predicate, is_true, register_of, require
from warpwatt.emulate.lift.sass.table import lifts

COMPARISONS = ("EQ", "NE", "LT", "LE", "GT", "GE")
BOOLEANS = {"AND": Op.AND, "OR": Op.OR, "XOR": Op.XOR}
_ALL = "EQ NE LT LE GT GE AND OR XOR"


def _compare(step: Step, name: str, a: Value, b: Value, signed: bool) -> Value:
    if name in ("EQ", "NE"):
        return step.b.compare(name.lower(), a, b)
    return step.b.compare(("s" if signed else "u") + name.lower(), a, b)


def set_predicates(step: Step, outcome: Value, operand: Operand) -> None:
    """Write both predicates of a SETP instruction: ``outcome op p`` and ``!outcome op p``."""
    name = step.one_of(BOOLEANS)
    first, second = step.operands[:2]
    require(is_predicate(first) and is_predicate(second) and is_predicate(operand))
    operand = register_of(operand)
    neutral = operand.name in ("PT", "UPT") and operand.negated == (name != "AND")

    def combined(value: Value) -> Value:
        return value if neutral else step.b.op(BOOLEANS[name], value, step.predicate(operand))

    results = [(first, combined(outcome))]
    if not is_true(second):
        results.append((second, combined(step.b.not_(outcome))))
    for place, value in results:
        step.set(place, value)


@lifts("ISETP", "UISETP", knows=f"{_ALL} U32 EX")
def compare(step: Step) -> None:
    """Compare; with .EX, the predicate at the end says how the lower words compared."""
    require(len(step.operands) == (6 if step.has("EX") else 5))
    a, b = (step.value(o) for o in step.operands[2:4])
    name = step.one_of(COMPARISONS)
    outcome = _compare(step, name, a, b, not step.has("U32"))
    if step.has("EX"):
        low = step.predicate(step.operands[5])
        equal = step.b.compare("eq", a, b)
        if name == "NE":
            outcome = step.b.or_(outcome, low)
        elif name == "EQ":
            outcome = step.b.and_(outcome, low)
        else:
            strict = _compare(step, name[0] + "T", a, b, not step.has("U32"))
            outcome = step.b.or_(strict, step.b.and_(equal, low))
    set_predicates(step, outcome, step.operands[4])


@lifts("ISETP.U64", "UISETP.U64", "ISETP.S64", "UISETP.S64", knows=_ALL)
def compare_64(step: Step) -> None:
    """Compare register pairs."""
    require(len(step.operands) == 5)
    a, b = (step.value(o, Type.I64) for o in step.operands[2:4])
    outcome = _compare(step, step.one_of(COMPARISONS), a, b, step.has("S64"))
    set_predicates(step, outcome, step.operands[4])


def _minimum(step: Step, operand: Operand, signed: bool, a: Value, b: Value) -> Value:
    """Return the minimum or maximum by a predicate operand, mostly the constant true or its negation."""
    low, high = (Op.SMIN, Op.SMAX) if signed else (Op.UMIN, Op.UMAX)
    if isinstance(operand, Register) and operand.name in ("PT", "UPT"):
        return step.b.op(high if operand.negated else low, a, b)
    return step.b.select(step.predicate(operand), step.b.op(low, a, b), step.b.op(high, a, b))


def _positive(step: Step, value: Value) -> Value:
    """Return the value or, with .RELU, 0 where it is negative."""
    return step.b.op(Op.SMAX, value, step.b.const(value.type, 0)) if step.has("RELU") else value


@lifts("IMNMX", "UIMNMX", "VIMNMX", "UVIMNMX", knows="U32 S32 RELU U64 S64")
def minimum(step: Step) -> None:
    """Take the minimum (predicate true) or maximum of two."""
    form = step.form()
    require(len(form.sources) == 2 and all(map(is_true, form.outs + form.before)))
    require(len(form.ins) == 1 or (len(form.ins) == 2 and is_false(form.ins[1])))
    require(not (step.has("RELU") and step.has("U32", "U64")))
    type_ = Type.I64 if step.has("U64", "S64") else Type.I32
    a, b = (step.value(o, type_) for o in form.sources)
    result = _minimum(step, form.ins[0], not step.has("U32", "U64"), a, b)
    step.set(form.dest, _positive(step, result))


@lifts("VIMNMX.S16x2", "VIMNMX.U16x2", knows="RELU")
def minimum_of_halves(step: Step) -> None:
    """Take the minimum or maximum of the upper and of the lower halves."""
    form = step.form()
    require(len(form.sources) == 2 and len(form.ins) == 1 and all(map(is_true, form.outs + form.before)))
    signed = step.has("S16x2")
    require(signed or not step.has("RELU"))
    pairs = zip(*(_halves(step, o) for o in form.sources), strict=True)
    results = (_positive(step, _minimum(step, form.ins[0], signed, a, b)) for a, b in pairs)
    step.set(form.dest, join_halves(step.b, *results))


@lifts("VIADD.16x2")
def add_halves(step: Step) -> None:
    """Add the upper and the lower halves."""
    form = step.form()
    require(len(form.sources) == 2 and not (form.ins or form.outs or form.before))
    pairs = zip(*(_halves(step, o) for o in form.sources), strict=True)
    step.set(form.dest, join_halves(step.b, *(step.b.add(a, b) for a, b in pairs)))


def _halves(step: Step, operand: Operand) -> tuple[Value, Value]:
    """Return the lower and the upper half of an operand that nothing stands around."""
    if isinstance(operand, Register):
        require(not operand.negated and set(operand.modifiers) <= {"reuse"})
    require(not isinstance(operand, Address) or not operand.modifiers)
    return split_halves(step.b, step.value(operand))


@lifts("VIMNMX3", "UVIMNMX3", knows="U32 S32 RELU")
def minimum_of_three(step: Step) -> None:
    """Take the minimum or maximum of three; the first predicate is for a and b, the second for that and c."""
    form = step.form()
    require(len(form.sources) == 3 and 1 <= len(form.ins) <= 2 and not form.outs and not form.before)
    require(not (step.has("RELU") and step.has("U32")))
    a, b, c = (step.value(o) for o in form.sources)
    signed = not step.has("U32")
    first = _minimum(step, form.ins[0], signed, a, b)
    step.set(form.dest, _positive(step, _minimum(step, form.ins[-1], signed, first, c)))


@lifts("VIADDMNMX", "UVIADDMNMX", knows="U32 S32 RELU")
def add_minimum(step: Step) -> None:
    """Take the minimum or maximum of a + b and c."""
    form = step.form()
    require(len(form.sources) == 3 and len(form.ins) == 1 and not form.outs and not form.before)
    require(not (step.has("RELU") and step.has("U32")))
    a, b, c = (step.value(o) for o in form.sources)
    result = _minimum(step, form.ins[0], not step.has("U32"), step.b.add(a, b), c)
    step.set(form.dest, _positive(step, result))


@lifts("SEL", "USEL", knows="64")
def select(step: Step) -> None:
    """Select ``p ? a : b``."""
    dest, a, b, predicate = step.operands
    type_ = Type.I64 if step.has("64") else Type.I32
    step.set(dest, step.b.select(step.predicate(predicate), step.value(a, type_), step.value(b, type_)))
