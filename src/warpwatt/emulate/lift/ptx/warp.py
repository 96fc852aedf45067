"""What lanes of a warp do together (PTX ISA 9.7.9, 9.7.13): shfl, vote, match, redux, elect, activemask.

The ``.sync`` forms first wait for the lanes of their member mask.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from warpwatt.core.program import Immediate, Instruction, Operand
from warpwatt.emulate.ir import Op, Type
from warpwatt.emulate.lift.driver import UncoveredError
from warpwatt.emulate.lift.ptx.opcode import signed, type_of
from warpwatt.emulate.lift.ptx.patterns import immediate
from warpwatt.emulate.lift.warp import reduce_members, source_lane

if TYPE_CHECKING:
    from warpwatt.emulate.ir import Value
    from warpwatt.emulate.lift.ptx.opcode import Opcode
    from warpwatt.emulate.lift.ptx.operands import PtxBuilder
    from warpwatt.emulate.lift.ptx.patterns import Semantics

_FULL = 0xFFFFFFFF


def _shuffle(b: PtxBuilder, how: Opcode, i: Instruction) -> None:
    mode = next(w for w in how.words if w in ("up", "down", "bfly", "idx"))
    sync = how.has("sync")
    if sync:
        b.gather(i.operands[4])
    value = b.read(i.operands[1], Type.I32)
    lane, valid = source_lane(b, mode, _operand(b, i, 2), _operand(b, i, 3))
    targets = b.elements(i.operands[0])
    if len(targets) > 1:
        b.write(targets[1], b.true() if valid is None else valid)
    b.write(targets[0], b.shuffle(value, lane))


def _operand(b: PtxBuilder, i: Instruction, at: int) -> int | Value:
    constant = immediate(i, at)
    return b.read(i.operands[at], Type.I32) if constant is None else constant


def _members(b: PtxBuilder, mask: Operand, found: Value) -> Value:
    """Return what of a lane mask belongs to the members."""
    if _is_full(mask):
        return found
    return b.and_(found, b.read(mask, Type.I32))


def _is_full(mask: Operand) -> bool:
    return isinstance(mask, Immediate) and int(mask.value) & _FULL == _FULL


def _vote(b: PtxBuilder, how: Opcode, i: Instruction) -> None:
    mode = next(w for w in how.words if w in ("all", "any", "uni", "ballot"))
    sync = how.has("sync")
    mask: Operand = i.operands[2] if sync else Immediate(_FULL, "-1")
    if sync:
        b.gather(mask)
    yes = _members(b, mask, b.ballot(b.read(i.operands[1], Type.I1)))
    b.write(i.operands[0], _verdict(b, mode, yes, mask))


def _verdict(b: PtxBuilder, mode: str, yes: Value, mask: Operand) -> Value:
    if mode == "ballot":
        return yes
    any_ = b.op(Op.NE, yes, b.i32(0))
    if mode == "any":
        return any_
    all_ = b.op(Op.EQ, yes, _members(b, mask, b.active()))
    return all_ if mode == "all" else b.or_(all_, b.not_(any_))


def _match(b: PtxBuilder, how: Opcode, i: Instruction) -> None:
    type_ = type_of(how.kind)
    mask = i.operands[2]
    b.gather(mask)
    same = _members(b, mask, b.match(b.read(i.operands[1], type_)))
    targets = b.elements(i.operands[0])
    if how.has("any"):
        b.write(targets[0], same)
        return
    all_ = b.op(Op.EQ, same, _members(b, mask, b.active()))
    if len(targets) > 1:
        b.write(targets[1], all_)
    b.write(targets[0], b.select(all_, same, b.i32(0)))


_REDUCTIONS = {"add": Op.ADD, "and": Op.AND, "or": Op.OR, "xor": Op.XOR}


def _reduce(b: PtxBuilder, how: Opcode, i: Instruction) -> None:
    name = next(w for w in how.words if w in (*_REDUCTIONS, "min", "max"))
    type_ = type_of(how.kind)
    if name in _REDUCTIONS:
        op = _REDUCTIONS[name]
    elif type_.is_float:
        if how.has("abs", "NaN"):
            raise UncoveredError
        op = Op.FMIN if name == "min" else Op.FMAX
    else:
        op = Op(("s" if signed(how.kind) else "u") + name)
    mask = i.operands[2]
    b.gather(mask)
    value = b.read(i.operands[1], type_)
    if _is_full(mask):
        b.write(i.operands[0], b.reduce(op, value))
    else:  # lanes with other masks, as of a labelled partition, may be here too
        b.write(i.operands[0], reduce_members(b, op, value, _members(b, mask, b.active())))


def _elect(b: PtxBuilder, _how: Opcode, i: Instruction) -> None:
    """Lift ``elect.sync``: the lowest member leads."""
    b.gather(i.operands[1])
    members = _members(b, i.operands[1], b.active())
    leader = b.op(Op.CLZ, b.op(Op.BREV, members))
    targets = b.elements(i.operands[0])
    b.write(targets[0], leader)
    b.write(targets[-1], b.op(Op.EQ, leader, b.lane()))


TABLE: dict[str, Semantics] = {
    "shfl": _shuffle,
    "vote": _vote,
    "match": _match,
    "redux": _reduce,
    "activemask": lambda b, _how, i: b.write(i.operands[0], b.active()),
    "elect": _elect,
}
