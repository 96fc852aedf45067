"""Logic, shifts and bytes (PTX ISA 9.7.7 to 9.7.9: and, or, lop3, shl, shf, prmt, mov, cvta, isspacep)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from warpwatt.core.program import Instruction, Operand, Vector
from warpwatt.emulate.ir import Op, Type
from warpwatt.emulate.layout import LOCAL_SLOT, SHARED_SLOT, SLOT_BITS, WINDOWS
from warpwatt.emulate.lift.bits import funnel, lookup, permute
from warpwatt.emulate.lift.driver import UncoveredError
from warpwatt.emulate.lift.ptx.opcode import signed, type_of
from warpwatt.emulate.lift.ptx.patterns import immediate, plain

if TYPE_CHECKING:
    from warpwatt.emulate.ir import Value
    from warpwatt.emulate.lift.ptx.opcode import Opcode
    from warpwatt.emulate.lift.ptx.operands import PtxBuilder
    from warpwatt.emulate.lift.ptx.patterns import Function, Semantics

_SPACES = {space.value: slot for space, slot in WINDOWS.items()}


def _bitwise(op: Op) -> Function:
    return lambda b, _how, x, y: b.op(op, x, y)


def _zero_or_one(b: PtxBuilder, _how: Opcode, x: Value) -> Value:
    """Return C's logical negation: 1 for 0, else 0."""
    return b.zext(b.op(Op.EQ, x, b.const(x.type, 0)), x.type)


def _lookup(b: PtxBuilder, how: Opcode, i: Instruction) -> None:
    """Lift ``lop3``; with ``.and`` and the like it also writes a predicate, from one that it reads."""
    table = immediate(i, 4)
    if table is None:
        raise UncoveredError
    value = lookup(b, table & 255, *(b.read(o, Type.I32) for o in i.operands[1:4]))
    if not how.words:
        b.write(i.operands[0], value)
        return
    other = b.read(i.operands[5], Type.I1)
    predicate = b.op(Op(how.words[0]), b.op(Op.NE, value, b.i32(0)), other)
    targets = b.elements(i.operands[0])
    b.write(targets[0], value)
    b.write(targets[-1], predicate)


def _shift(b: PtxBuilder, how: Opcode, i: Instruction) -> None:
    """Lift ``shl`` and ``shr``; amounts beyond the width count as the width."""
    kind = how.kind
    type_, sign = type_of(kind), signed(kind)
    wide = Type.I32 if type_.bits < 32 else type_
    x = b.fit(b.read(i.operands[1], type_), wide, signed=sign)
    constant = immediate(i, 2)
    amount = (
        b.const(wide, constant & 0xFFFFFFFF)
        if constant is not None
        else b.fit(b.read(i.operands[2], Type.I32), wide)
    )
    op = Op.SHL if how.name == "shl" else Op.ASHR if sign else Op.LSHR
    b.write(i.operands[0], b.fit(b.op(op, x, amount), type_), signed=sign)


def _funnel(b: PtxBuilder, how: Opcode, i: Instruction) -> None:
    left, wrap = how.has("l"), how.has("wrap")
    low, high = b.read(i.operands[1], Type.I32), b.read(i.operands[2], Type.I32)
    constant = immediate(i, 3)
    if constant is not None:
        constant &= 0xFFFFFFFF
        amount: int | Value = constant & 31 if wrap else min(constant, 32)
    else:
        value = b.read(i.operands[3], Type.I32)
        amount = b.and_(value, b.i32(31)) if wrap else b.op(Op.UMIN, value, b.i32(32))
    b.write(i.operands[0], funnel(b, low, high, amount, left=left))


def _permute(b: PtxBuilder, how: Opcode, i: Instruction) -> None:
    mode = how.words[0] if how.words else ""
    low, high = b.read(i.operands[1], Type.I32), b.read(i.operands[2], Type.I32)
    constant = immediate(i, 3)
    selector = b.read(i.operands[3], Type.I32) if constant is None else constant
    b.write(i.operands[0], permute(b, low, high, selector, mode))


def _move(b: PtxBuilder, how: Opcode, i: Instruction) -> None:
    """Lift ``mov``: copies, addresses, and vectors packed into or unpacked from one register."""
    type_ = type_of(how.kind)
    target, source = i.operands
    if how.has("v2", "v4"):
        count = int(how.words[0][1:])
        pairs = zip(b.elements(target, count), b.elements(source, count), strict=True)
        for value, element in [(b.read(s, type_), t) for t, s in pairs]:
            b.write(element, value)
    elif isinstance(source, Vector):
        b.write(target, _packed(b, source.elements, type_))
    elif isinstance(target, Vector):
        _unpack(b, target.elements, b.read(source, type_))
    else:
        b.write(target, b.read(source, type_))


def _packed(b: PtxBuilder, elements: Sequence[Operand], type_: Type) -> Value:
    """Return elements side by side, the first lowest."""
    bits = type_.bits // len(elements)
    part = Type(f"i{bits}")
    wide = Type(f"i{type_.bits}")
    result: Value | None = None
    for at, element in enumerate(elements):
        if immediate_zero(element):
            continue
        value = (
            b.shl(b.zext(b.read(element, part), wide), at * bits)
            if at
            else b.zext(b.read(element, part), wide)
        )
        result = value if result is None else b.or_(result, value)
    return b.const(wide, 0) if result is None else result


def immediate_zero(operand: Operand) -> bool:
    """Whether an operand is the literal 0."""
    value = getattr(operand, "value", None)
    return isinstance(value, int) and value == 0


def _unpack(b: PtxBuilder, elements: Sequence[Operand], value: Value) -> None:
    bits = value.type.bits // len(elements)
    part = Type(f"i{bits}")
    value = b.fit(value, Type(f"i{value.type.bits}"))
    parts = [b.trunc(b.lshr(value, at * bits) if at else value, part) for at in range(len(elements))]
    for element, found in zip(elements, parts, strict=True):
        b.write(element, found)


def _convert_address(b: PtxBuilder, how: Opcode, i: Instruction) -> None:
    """Lift ``cvta``: offset in a space to generic address, and back."""
    space = next((w.partition("::")[0] for w in how.words if w.partition("::")[0] in _SPACES), "")
    back = how.has("to")
    type_ = type_of(how.kind)
    window = _SPACES[space] << SLOT_BITS
    value = b.read(i.operands[1], type_)
    if window and type_ is Type.I64:
        value = (b.sub if back else b.add)(value, b.const(Type.I64, window))
    b.write(i.operands[0], value)


def _is_space(b: PtxBuilder, how: Opcode, i: Instruction) -> None:
    """Lift ``isspacep``: whether a generic address lies in a window; global is what no other one is."""
    space = next(w.partition("::")[0] for w in how.words if w.partition("::")[0] in _SPACES)
    slot = b.lshr(b.read(i.operands[1], Type.I64), SLOT_BITS)
    if space == "global":
        low = b.op(Op.ULT, slot, b.const(Type.I64, SHARED_SLOT))
        high = b.op(Op.ULT, b.const(Type.I64, LOCAL_SLOT), slot)
        result = b.or_(low, high)
    else:
        result = b.op(Op.EQ, slot, b.const(Type.I64, _SPACES[space]))
    b.write(i.operands[0], result)


TABLE: dict[str, Semantics] = {
    "and": plain(_bitwise(Op.AND)),
    "or": plain(_bitwise(Op.OR)),
    "xor": plain(_bitwise(Op.XOR)),
    "not": plain(lambda b, _how, x: b.not_(x)),
    "cnot": plain(_zero_or_one),
    "lop3": _lookup,
    "shl": _shift,
    "shr": _shift,
    "shf": _funnel,
    "prmt": _permute,
    "mov": _move,
    "cvta": _convert_address,
    "isspacep": _is_space,
}
