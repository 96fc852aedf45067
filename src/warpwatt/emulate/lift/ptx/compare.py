"""Comparison and selection (PTX ISA 9.7.6): set, setp, selp, slct."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warpwatt.core.program import Instruction
from warpwatt.emulate.ir import Op, Type
from warpwatt.emulate.lift import floats
from warpwatt.emulate.lift.bits import join_halves, split_halves
from warpwatt.emulate.lift.ptx.opcode import signed, type_of

if TYPE_CHECKING:
    from warpwatt.emulate.ir import Value
    from warpwatt.emulate.lift.ptx.opcode import Opcode
    from warpwatt.emulate.lift.ptx.operands import PtxBuilder
    from warpwatt.emulate.lift.ptx.patterns import Semantics

_UNSIGNED = {"lo": "ult", "ls": "ule", "hi": "ugt", "hs": "uge"}
_COMBINES = {"and": Op.AND, "or": Op.OR, "xor": Op.XOR}


def compare(b: PtxBuilder, how: Opcode, kind: str, x: Value, y: Value) -> Value:
    """Return the comparison an opcode names, of values of the type ``kind``, as I1."""
    word = how.words[0]
    if kind == "bf16":
        x, y = floats.from_bf16(b, x), floats.from_bf16(b, y)
    if x.type.is_float:
        if how.ftz:
            x, y = floats.flush(b, x), floats.flush(b, y)
        name = {"num": "fnum", "nan": "fnan"}.get(word, f"f{word}")
    elif word in ("eq", "ne"):
        name = word
    else:
        name = _UNSIGNED.get(word) or ("s" if signed(kind) else "u") + word
    return b.compare(name, x, y)


def _combined(b: PtxBuilder, how: Opcode, i: Instruction, found: Value) -> Value:
    """Return the comparison combined with the predicate operand, if there is one."""
    combine_by = next((w for w in how.words[1:] if w in _COMBINES), None)
    if combine_by is None:
        return found
    return b.op(_COMBINES[combine_by], found, b.read(i.operands[3], Type.I1))


def _set_predicates(b: PtxBuilder, how: Opcode, i: Instruction) -> None:
    kind = how.kind
    if kind.endswith("x2"):
        _set_two_predicates(b, how, i)
        return
    type_ = type_of(kind)
    found = compare(b, how, kind, b.read(i.operands[1], type_), b.read(i.operands[2], type_))
    targets = b.elements(i.operands[0])
    result = _combined(b, how, i, found)
    if len(targets) > 1:
        other = _combined(b, how, i, b.not_(found))
        b.write(targets[1], other)
    b.write(targets[0], result)


def _set_two_predicates(b: PtxBuilder, how: Opcode, i: Instruction) -> None:
    """Lift ``setp`` of packed halves: one predicate for each."""
    found = [_combined(b, how, i, f) for f in _halves(b, how, how.kind, i)]
    targets = b.elements(i.operands[0])
    for target, value in zip(targets, found, strict=False):
        b.write(target, value)


def _halves(b: PtxBuilder, how: Opcode, kind: str, i: Instruction) -> list[Value]:
    single = kind.removesuffix("x2")
    type_ = type_of(single)
    x, y = b.read(i.operands[1], Type.I32), b.read(i.operands[2], Type.I32)
    parts = zip(split_halves(b, x), split_halves(b, y), strict=True)
    return [compare(b, how, single, b.cast_bits(p, type_), b.cast_bits(q, type_)) for p, q in parts]


def _set(b: PtxBuilder, how: Opcode, i: Instruction) -> None:
    """Lift ``set``: all ones or 1.0 where the comparison holds, else zero."""
    result, kind = how.kinds[0], how.kinds[1]
    if kind.endswith("x2"):
        halves = [_combined(b, how, i, f) for f in _halves(b, how, kind, i)]
        each = "u16" if result[0] in "us" else result.removesuffix("x2")
        value = join_halves(b, *(_number(b, f, each) for f in halves))
    else:
        type_ = type_of(kind)
        found = compare(b, how, kind, b.read(i.operands[1], type_), b.read(i.operands[2], type_))
        value = _number(b, _combined(b, how, i, found), result)
    b.write(i.operands[0], value, signed=signed(result))


def _number(b: PtxBuilder, condition: Value, kind: str) -> Value:
    """Return what ``set`` writes for true or false."""
    type_ = type_of(kind)
    one = 1.0 if type_.is_float else 0x3F80 if kind == "bf16" else -1
    return b.select(condition, b.const(type_, one), b.const(type_, 0))


def _select(b: PtxBuilder, how: Opcode, i: Instruction) -> None:
    type_ = type_of(how.kind)
    yes, no = b.read(i.operands[1], type_), b.read(i.operands[2], type_)
    b.write(i.operands[0], b.select(b.read(i.operands[3], Type.I1), yes, no))


def _select_by_sign(b: PtxBuilder, how: Opcode, i: Instruction) -> None:
    """Lift ``slct``: a where c >= 0, else b."""
    type_, by = type_of(how.kinds[0]), type_of(how.kinds[1])
    yes, no = b.read(i.operands[1], type_), b.read(i.operands[2], type_)
    c = b.read(i.operands[3], by)
    if by.is_float and how.ftz:
        c = floats.flush(b, c)
    zero = b.const(by, 0)
    holds = b.op(Op.FLE, zero, c) if by.is_float else b.op(Op.SLE, zero, c)
    b.write(i.operands[0], b.select(holds, yes, no))


TABLE: dict[str, Semantics] = {"setp": _set_predicates, "set": _set, "selp": _select, "slct": _select_by_sign}
