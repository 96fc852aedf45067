"""LLVM text of integer and bit operations, conversions among integers, and choice."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from warpwatt.emulate.ir import Op, Type
from warpwatt.emulate.native.values import literal, scalar_type, suffix

if TYPE_CHECKING:
    from warpwatt.emulate.ir import Operation
    from warpwatt.emulate.native.values import Text

_PLAIN = (Op.ADD, Op.SUB, Op.MUL, Op.AND, Op.OR, Op.XOR)
_SHIFTS = (Op.SHL, Op.LSHR, Op.ASHR)
_DIVISIONS = (Op.UDIV, Op.SDIV, Op.UREM, Op.SREM)
_EXTREMES = (Op.UMIN, Op.UMAX, Op.SMIN, Op.SMAX)
_COMPARISONS = (Op.EQ, Op.NE, Op.SLT, Op.SLE, Op.ULT, Op.ULE)
_COUNTS = {Op.POPC: "ctpop", Op.CLZ: "ctlz", Op.BREV: "bitreverse"}


def _constant(text: Text, type_: Type, value: int, *, scalar: bool) -> str:
    name = literal(type_, value & ((1 << type_.bits) - 1))
    return name if scalar else text.splat(type_, name)


def constant(text: Text, operation: Operation) -> None:
    """CONST."""
    (result,) = operation.results
    assert isinstance(operation.data, (int, float))
    text.bind(result, literal(result.type, operation.data), scalar=True)


def plain(text: Text, operation: Operation) -> None:
    """ADD SUB MUL AND OR XOR, comparisons."""
    a, b = operation.args
    scalar = text.is_scalar(a, b)
    left, right = text.operand(a, scalar=scalar), text.operand(b, scalar=scalar)
    how = f"icmp {operation.op.value}" if operation.op in _COMPARISONS else operation.op.value
    made = text.let(f"{how} {text.kind(a.type, scalar=scalar)} {left}, {right}")
    text.bind(operation.results[0], made, scalar=scalar)


def shift(text: Text, operation: Operation) -> None:
    """SHL LSHR ASHR: by the width or more, nothing (or the sign) is left."""
    value, amount = operation.args
    (result,) = operation.results
    scalar, bits = text.is_scalar(value, amount), value.type.bits
    name, by = text.operand(value, scalar=scalar), text.operand(amount, scalar=scalar)
    kind, truth = text.kind(value.type, scalar=scalar), text.kind(Type.I1, scalar=scalar)
    known = text.values[amount.index]
    if known.isdigit() and int(known) < bits:
        text.bind(result, text.let(f"{operation.op.value} {kind} {name}, {by}"), scalar=scalar)
        return
    inside = text.let(f"icmp ult {kind} {by}, {_constant(text, value.type, bits, scalar=scalar)}")
    last = _constant(text, value.type, bits - 1, scalar=scalar)
    by = text.let(f"select {truth} {inside}, {kind} {by}, {kind} {last}")
    made = text.let(f"{operation.op.value} {kind} {name}, {by}")
    if operation.op is not Op.ASHR:
        nothing = _constant(text, value.type, 0, scalar=scalar)
        made = text.let(f"select {truth} {inside}, {kind} {made}, {kind} {nothing}")
    text.bind(result, made, scalar=scalar)


def divide(text: Text, operation: Operation) -> None:
    """UDIV SDIV UREM SREM: defined for every pair of arguments."""
    a, b = operation.args
    (result,) = operation.results
    scalar, type_ = text.is_scalar(a, b), a.type
    x, y = text.operand(a, scalar=scalar), text.operand(b, scalar=scalar)
    kind, truth = text.kind(type_, scalar=scalar), text.kind(Type.I1, scalar=scalar)
    nothing, one, ones = (_constant(text, type_, k, scalar=scalar) for k in (0, 1, -1))
    by_zero = text.let(f"icmp eq {kind} {y}, {nothing}")
    unsafe = by_zero
    if operation.op in (Op.SDIV, Op.SREM):
        least = _constant(text, type_, 1 << (type_.bits - 1), scalar=scalar)
        lowest = text.let(f"icmp eq {kind} {x}, {least}")
        negated = text.let(f"icmp eq {kind} {y}, {ones}")
        unsafe = text.let(f"or {truth} {by_zero}, {text.let(f'and {truth} {lowest}, {negated}')}")
    y = text.let(f"select {truth} {unsafe}, {kind} {one}, {kind} {y}")
    made = text.let(f"{operation.op.value} {kind} {x}, {y}")
    instead = ones if operation.op in (Op.UDIV, Op.SDIV) else x
    made = text.let(f"select {truth} {by_zero}, {kind} {instead}, {kind} {made}")
    text.bind(result, made, scalar=scalar)


def extreme(text: Text, operation: Operation) -> None:
    """UMIN UMAX SMIN SMAX."""
    a, b = operation.args
    scalar = text.is_scalar(a, b)
    kind = text.kind(a.type, scalar=scalar)
    x, y = text.operand(a, scalar=scalar), text.operand(b, scalar=scalar)
    made = text.let(f"call {kind} @llvm.{operation.op.value}.{suffix(kind)}({kind} {x}, {kind} {y})")
    text.bind(operation.results[0], made, scalar=scalar)


def count(text: Text, operation: Operation) -> None:
    """POPC CLZ BREV."""
    (value,) = operation.args
    scalar = text.is_scalar(value)
    kind, name = text.kind(value.type, scalar=scalar), text.operand(value, scalar=scalar)
    more = ", i1 false" if operation.op is Op.CLZ else ""
    intrinsic = f"@llvm.{_COUNTS[operation.op]}.{suffix(kind)}"
    text.bind(operation.results[0], text.let(f"call {kind} {intrinsic}({kind} {name}{more})"), scalar=scalar)


def convert(text: Text, operation: Operation) -> None:
    """ZEXT SEXT TRUNC BITCAST."""
    (value,), (result,) = operation.args, operation.results
    scalar = text.is_scalar(value)
    name = text.operand(value, scalar=scalar)
    if scalar_type(value.type) != scalar_type(result.type):
        start, end = text.kind(value.type, scalar=scalar), text.kind(result.type, scalar=scalar)
        name = text.let(f"{operation.op.value} {start} {name} to {end}")
    text.bind(result, name, scalar=scalar)


def select(text: Text, operation: Operation) -> None:
    """SELECT."""
    condition, yes, no = operation.args
    scalar = text.is_scalar(condition, yes, no)
    either_way = text.is_scalar(condition)  # a scalar condition chooses between whole vectors
    kind = text.kind(yes.type, scalar=scalar)
    a, b = text.operand(yes, scalar=scalar), text.operand(no, scalar=scalar)
    truth = text.kind(Type.I1, scalar=either_way)
    name = text.operand(condition, scalar=either_way)
    made = text.let(f"select {truth} {name}, {kind} {a}, {kind} {b}")
    text.bind(operation.results[0], made, scalar=scalar)


INTEGERS: dict[Op, Callable[[Text, Operation], None]] = {
    Op.CONST: constant,
    **dict.fromkeys([*_PLAIN, *_COMPARISONS], plain),
    **dict.fromkeys(_SHIFTS, shift),
    **dict.fromkeys(_DIVISIONS, divide),
    **dict.fromkeys(_EXTREMES, extreme),
    **dict.fromkeys(_COUNTS, count),
    **dict.fromkeys([Op.ZEXT, Op.SEXT, Op.TRUNC, Op.BITCAST], convert),
    Op.SELECT: select,
}
"""What writes each integer operation."""
