"""Integer arithmetic: IADD3, IADD, IMAD, LEA and their kin, each with its uniform twin.

Sums with carries are formed in 64 bits: ``-x`` counts as ``~x`` + 1, so that the carry out of a subtraction
says "no borrow".
"""

from __future__ import annotations

from warpwatt.core.program import Address, Immediate, Operand, Register
from warpwatt.emulate.ir import Op, Type, Value
from warpwatt.emulate.lift.bits import clamp, field
from warpwatt.emulate.lift.sass.operands import Form, Step, is_false, is_zero, literal_of, require
from warpwatt.emulate.lift.sass.table import lifts


def negated(operand: Operand) -> bool:
    """Tell whether a minus sign stands in front of an operand."""
    if isinstance(operand, Register):
        return operand.negated
    return isinstance(operand, Address) and "neg" in operand.modifiers


def _bare(operand: Operand) -> Operand:
    """Return an operand without its minus sign."""
    if isinstance(operand, Register):
        return Register(operand.name, False, operand.modifiers)
    if isinstance(operand, Address):
        modifiers = tuple(m for m in operand.modifiers if m != "neg")
        return Address(operand.base, operand.offset, operand.index, operand.scale, modifiers)
    return operand


def _carry_ins(step: Step, form: Form) -> list[Value]:
    """Return the predicates that an .X form adds; none without .X."""
    require(step.has("X") or not form.ins, "predicate without .X")
    return [step.predicate(p) for p in form.ins if not is_false(p)]


def _writes(outs: tuple[Register, ...]) -> bool:
    """Tell whether one of some predicate destinations is a real one."""
    return any(p.name not in ("PT", "UPT") for p in outs)


def wide_sum(step: Step, values: list[tuple[Value, bool]], carries: list[Value]) -> Value:
    """Return, in 64 bits, the sum of 32-bit values (some negated) and carries."""
    b = step.b
    total = b.const(Type.I64, 0)
    for value, minus in values:
        total = b.add(total, b.zext(b.not_(value) if minus else value, Type.I64))
    total = b.add(total, b.const(Type.I64, sum(minus for _, minus in values)))
    for carry in carries:
        total = b.add(total, b.zext(carry, Type.I64))
    return total


def set_carries(step: Step, outs: tuple[Register, ...], total: Value) -> None:
    """Write the carries of a 64-bit sum: the first predicate says "at least one", the second "two"."""
    count = step.b.lshr(total, 32)
    for wanted, out in enumerate(outs, 1):
        step.set(out, step.b.compare("uge", count, step.b.const(Type.I64, wanted)))


@lifts("IADD3", "UIADD3", "IADD", "UIADD", "VIADD", "UVIADD", knows="X")
def add(step: Step) -> None:
    """Add two or three values, with carries in (.X) and out."""
    form = step.form()
    require(2 <= len(form.sources) <= 3 and len(form.outs) <= 2 and not form.before)
    carries = _carry_ins(step, form)
    if not _writes(form.outs):
        total = step.b.i32(0)
        for operand in form.sources:
            require(not (step.has("X") and negated(operand)), "-x with .X")
            if not is_zero(operand):
                total = step.b.add(total, step.value(operand))
        for carry in carries:
            total = step.b.add(total, step.b.zext(carry, Type.I32))
        step.set(form.dest, total)
        return
    _check_carries(step, form)
    values = [(step.value(_bare(o)), negated(o)) for o in form.sources]
    total = wide_sum(step, values, carries)
    step.set(form.dest, step.b.trunc(total, Type.I32))
    set_carries(step, form.outs, total)


def _check_carries(step: Step, form: Form) -> None:
    """Refuse forms whose carry could be two with only one predicate to say so."""
    require(not (step.has("X") and any(map(negated, form.sources))), "-x with .X")
    one = sum(p.name not in ("PT", "UPT") for p in form.outs) == 1
    require(not one or len(form.sources) == 2 or any(map(is_zero, form.sources)), "one carry of three")


@lifts("IADD3.64", "UIADD3.64", "IADD.64", "UIADD.64", "VIADD.64", "UVIADD.64")
def add_64(step: Step) -> None:
    """Add register pairs; an immediate is taken with its sign."""
    form = step.form()
    require(not _writes(form.outs) and not form.ins and not form.before)
    total = step.b.const(Type.I64, 0)
    for operand in form.sources:
        if not is_zero(operand):
            total = step.b.add(total, step.value(operand, Type.I64))
    step.set(form.dest, total)


@lifts("VIADD.S32.ISAT")
def add_saturating(step: Step) -> None:
    """Add two signed values; what does not fit becomes the nearest that does."""
    form = step.form()
    require(len(form.sources) == 2 and not (form.ins or form.outs or form.before))
    total = step.b.const(Type.I64, 0)
    for operand in form.sources:
        total = step.b.add(total, _extended(step, operand))
    step.set(form.dest, step.b.trunc(clamp(step.b, total, 32, signed=True), Type.I32))


@lifts("IMAD", "UIMAD", knows="MOV SHL IADD U32 X")
def multiply_add(step: Step) -> None:
    """Form ``a * b + c``, 32 bits; .MOV, .SHL and .IADD only say what it is used for."""
    form = step.form()
    require(len(form.sources) == 3 and not form.outs and not form.before)
    a, b, c = form.sources
    require(not (step.has("X") and any(map(negated, form.sources))), "-x with .X")
    total = step.value(c)
    if not (is_zero(a) or is_zero(b)):
        total = step.b.add(_product(step, a, b), total)
    for carry in _carry_ins(step, form):
        total = step.b.add(total, step.b.zext(carry, Type.I32))
    step.set(form.dest, total)


def _product(step: Step, a: Operand, b: Operand) -> Value:
    """Return the low half of a product, a shift where the factor is a power of two."""
    if isinstance(b, Immediate) and isinstance(b.value, int):
        factor = b.value & 0xFFFFFFFF
        if factor.bit_count() == 1:
            return step.b.shl(step.value(a), factor.bit_length() - 1)
    return step.b.mul(step.value(a), step.value(b))


@lifts("IMAD.WIDE", "UIMAD.WIDE", knows="U32 X")
def multiply_add_wide(step: Step) -> None:
    """Form ``a * b + c`` in 64 bits, c a pair."""
    form = step.form()
    total = _wide(step, form)
    step.set(form.dest, total)


@lifts("IMAD.HI", "UIMAD.HI", knows="U32 X")
def multiply_add_high(step: Step) -> None:
    """Form bits 32 to 63 of ``a * b + c``, c a pair."""
    form = step.form()
    total = _wide(step, form)
    step.set(form.dest, step.b.trunc(step.b.lshr(total, 32), Type.I32))


def _wide(step: Step, form: Form) -> Value:
    """Return ``a * b + c`` and the carry in; write the carry out."""
    require(len(form.sources) == 3 and len(form.outs) <= 1 and not form.before)
    a, b, c = form.sources
    product = step.b.mul(_extended(step, a), _extended(step, b))
    addend = step.value(_bare(c), Type.I64)
    require(not (step.has("X") and negated(c)), "-x with .X")
    if not _writes(form.outs):
        total = product
        if not is_zero(c):
            total = (step.b.sub if negated(c) else step.b.add)(product, addend)
        for carry in _carry_ins(step, form):
            total = step.b.add(total, step.b.zext(carry, Type.I64))
        return total
    require(not negated(c), "-x with a carry out")
    total = step.b.add(product, addend)
    over = step.b.compare("ult", total, product)
    for carry in _carry_ins(step, form):
        more = step.b.add(total, step.b.zext(carry, Type.I64))
        over = step.b.or_(over, step.b.compare("ult", more, total))
        total = more
    step.set(form.outs[0], over)
    return total


def _extended(step: Step, operand: Operand) -> Value:
    """Return a factor in 64 bits, by the sign unless .U32; a minus sign counts afterwards."""
    value = step.value(_bare(operand))
    value = step.b.zext(value, Type.I64) if step.has("U32") else step.b.sext(value, Type.I64)
    return step.b.neg(value) if negated(operand) else value


@lifts("LEA", "ULEA", knows="X")
def scaled_add(step: Step) -> None:
    """Form ``(a << s) + b``."""
    form = step.form()
    require(len(form.sources) == 3 and len(form.outs) <= 1 and not form.before)
    a, b, amount = form.sources
    scaled = step.b.shl(step.value(_bare(a)), _shift(amount))
    _finish_scaled(step, form, scaled, negated(a), b)


@lifts("LEA.HI", "ULEA.HI", knows="X SX32")
def scaled_add_high(step: Step) -> None:
    """Form ``(({c, a} << s) >> 32) + b``; with .SX32, c is the sign of a."""
    form = step.form()
    require(len(form.sources) == (3 if step.has("SX32") else 4) and len(form.outs) <= 1 and not form.before)
    a, b, *high, amount = form.sources
    require(not negated(a), "-x shifted")
    if step.has("SX32"):
        whole = step.b.sext(step.value(a), Type.I64)
    else:
        whole = step.b.pair(step.value(a), step.value(high[0]))
    scaled = step.b.trunc(step.b.lshr(step.b.shl(whole, _shift(amount)), 32), Type.I32)
    _finish_scaled(step, form, scaled, False, b)


def _shift(amount: Operand) -> int:
    """Return the fixed shift of an LEA."""
    return literal_of(amount) & 31


def _finish_scaled(step: Step, form: Form, scaled: Value, minus: bool, b: Operand) -> None:
    """Add b and carries to the shifted value, write result and carry."""
    require(not (step.has("X") and (minus or negated(b))), "-x with .X")
    carries = _carry_ins(step, form)
    if _writes(form.outs):
        total = wide_sum(step, [(scaled, minus), (step.value(_bare(b)), negated(b))], carries)
        step.set(form.dest, step.b.trunc(total, Type.I32))
        set_carries(step, form.outs, total)
        return
    total = step.b.neg(scaled) if minus else scaled
    total = step.b.add(total, step.value(b))
    for carry in carries:
        total = step.b.add(total, step.b.zext(carry, Type.I32))
    step.set(form.dest, total)


@lifts("IABS", "UIABS")
def absolute(step: Step) -> None:
    """Form ``|a|``; the smallest number stays itself."""
    dest, source = step.operands
    value = step.value(source)
    step.set(dest, step.b.op(Op.SMAX, value, step.b.neg(value)))


@lifts("IDP.4A", knows="S8 U8")
@lifts("IDP.2A", knows="LO HI S16 U16 S8 U8")
def dot_product(step: Step) -> None:
    """Sum c and four products of bytes, or (.2A) two of 16-bit halves of a with low or high bytes of b.

    The first of the two types is a's.
    """
    count, bits = (4, 8) if step.has("4A") else (2, 16)
    first = 2 if step.has("2A") and step.one_of(("LO", "HI")) == "HI" else 0
    dest, a, b, c = step.operands
    types = [m for m in step.modifiers if m in ("S8", "U8", "S16", "U16")]
    require(len(types) == 2, "types of a dot product")
    total = step.value(c)
    left, right = step.value(a), step.value(b)
    for i in range(count):
        x = field(step.b, left, bits * i, bits, signed=types[0][0] == "S")
        y = field(step.b, right, 8 * (first + i), 8, signed=types[1][0] == "S")
        total = step.b.add(total, step.b.mul(x, y))
    step.set(dest, total)


@lifts("VABSDIFF", knows="U32")
def absolute_difference(step: Step) -> None:
    """Form ``|a - b| + c``."""
    dest, a, b, c = step.operands
    x, y = step.value(a), step.value(b)
    low, high = (Op.UMIN, Op.UMAX) if step.has("U32") else (Op.SMIN, Op.SMAX)
    difference = step.b.sub(step.b.op(high, x, y), step.b.op(low, x, y))
    step.set(dest, step.b.add(difference, step.value(c)))


@lifts("VABSDIFF4", knows="U8 S8 ACC")
def absolute_difference_4(step: Step) -> None:
    """Form ``|a - b|`` of bytes; with .ACC their sum plus c."""
    dest, a, b, c = step.operands
    require(step.has("ACC") or is_zero(c), "bytes with an addend")
    signed = step.one_of(("U8", "S8")) == "S8"
    x, y = step.value(a), step.value(b)
    total = step.value(c)
    for i in range(4):
        p, q = (field(step.b, v, 8 * i, 8, signed=signed) for v in (x, y))
        difference = step.b.sub(step.b.op(Op.SMAX, p, q), step.b.op(Op.SMIN, p, q))
        total = step.b.add(total, difference if step.has("ACC") else step.b.shl(difference, 8 * i))
    step.set(dest, total)
