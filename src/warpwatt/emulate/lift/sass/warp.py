"""Semantics of what lanes of a warp do together: shuffles, votes, matches, reductions, matrix moves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warpwatt.core.program import Register
from warpwatt.emulate.ir import Op, Type
from warpwatt.emulate.lift.sass.memory import address, set_words, words_of
from warpwatt.emulate.lift.sass.operands import is_predicate, require
from warpwatt.emulate.lift.sass.table import lifts

if TYPE_CHECKING:
    from warpwatt.core.program import Operand
    from warpwatt.emulate.ir import Value
    from warpwatt.emulate.lift.sass.operands import Step

_REDUCTIONS = {
    ("SUM", "U32"): Op.ADD, ("SUM", "S32"): Op.ADD, ("MIN", "U32"): Op.UMIN, ("MAX", "U32"): Op.UMAX,
    ("MIN", "S32"): Op.SMIN, ("MAX", "S32"): Op.SMAX, ("OR", "U32"): Op.OR, ("XOR", "U32"): Op.XOR,
    ("AND", "U32"): Op.AND,
}  # fmt: skip


@lifts("SHFL", knows="IDX UP DOWN BFLY")
def shuffle(s: Step) -> None:
    """Take the value of another lane, the own one where that lies outside the segment (PTX ISA, shfl).

    The last operand holds the clamp in bits 0-4 and the mask of the segment in bits 8-12.
    """
    require(len(s.operands) == 5 and is_predicate(s.operands[0]))
    b, lane = s.b, s.b.lane()
    value, amount, control = (s.value(o) for o in s.operands[2:])
    amount = b.and_(amount, b.i32(31))
    clamp, segment = b.and_(control, b.i32(31)), b.and_(b.lshr(control, 8), b.i32(31))
    inside = b.and_(lane, segment)
    last = b.or_(inside, b.and_(clamp, b.not_(segment)))
    match s.one_of(("IDX", "UP", "DOWN", "BFLY")):
        case "IDX":
            source = b.or_(inside, b.and_(amount, b.not_(segment)))
        case "UP":
            source = b.sub(lane, amount)
        case "DOWN":
            source = b.add(lane, amount)
        case _:
            source = b.xor(lane, amount)
    valid = b.compare("sge" if s.has("UP") else "sle", source, last)
    s.set(s.operands[1], b.shuffle(value, b.select(valid, source, lane)))
    s.set(s.operands[0], valid)


@lifts("VOTE", "VOTEU", knows="ANY ALL EQ")
def vote(s: Step) -> None:
    """Count a predicate over the active lanes: which hold it, and whether any, all, or all alike do."""
    *to, source = s.operands
    ballot, everyone = s.b.ballot(_guarded(s, s.predicate(source))), s.b.ballot(_guarded(s, s.b.true()))
    if to and not is_predicate(to[0]):
        s.set(to.pop(0), ballot)
    require(len(to) <= 1)
    if to:
        every = s.b.compare("eq", ballot, everyone)
        some = s.b.compare("ne", ballot, s.b.i32(0))
        match s.one_of(("ANY", "ALL", "EQ")):
            case "ANY":
                s.set(to[0], some)
            case "ALL":
                s.set(to[0], every)
            case _:
                s.set(to[0], s.b.or_(every, s.b.not_(some)))


def _guarded(s: Step, value: Value) -> Value:
    """Return an I1 that is false where the guard fails."""
    return value if s.b.guard is None else s.b.and_(s.b.guard, value)


@lifts("MATCH.ANY", knows="U64")
def match_any(s: Step) -> None:
    """Find the active lanes with the same value."""
    require(len(s.operands) == 2 and s.b.guard is None)
    s.set(s.operands[0], s.b.match(s.value(s.operands[1], _match_type(s))))


@lifts("MATCH.ALL", knows="U64")
def match_all(s: Step) -> None:
    """Find out whether all active lanes have the same value: their mask and true, else 0 and false."""
    require(len(s.operands) == 3 and is_predicate(s.operands[0]) and s.b.guard is None)
    lanes, active = s.b.match(s.value(s.operands[2], _match_type(s))), s.b.active()
    alike = s.b.compare("eq", lanes, active)
    s.set(s.operands[1], s.b.select(alike, active, s.b.i32(0)))
    s.set(s.operands[0], alike)


def _match_type(s: Step) -> Type:
    return Type.I64 if s.has("U64") else Type.I32


@lifts("REDUX", "CREDUX", knows="SUM MIN MAX OR XOR AND S32 U32")
def reduce(s: Step) -> None:
    """Combine a register of the active lanes; without a name: AND."""
    require(len(s.operands) == 2)
    name = s.one_of(("SUM", "MIN", "MAX", "OR", "XOR", "AND"), "AND")
    op = _REDUCTIONS.get((name, s.one_of(("S32", "U32"), "U32")))
    require(op is not None)
    assert op is not None
    s.set(s.operands[0], s.b.reduce(op, s.value(s.operands[1])))


# -- 8 x 8 matrices of 16-bit elements: lane l holds row l / 4, columns 2 (l mod 4) and the next -----------


def _count(s: Step) -> int:
    """Return how many matrices an instruction moves."""
    return int(s.one_of(("1", "2", "4"), "1"))


def _element_address(s: Step, at: Value, matrix: int) -> Value:
    """Return where the lane's two elements of a matrix lie; lane 8·matrix + r gave the address of row r."""
    b, lane = s.b, s.b.lane()
    row = b.shuffle(at, b.add(b.lshr(lane, 2), b.i32(8 * matrix)))
    return b.add(row, b.shl(b.and_(lane, b.i32(3)), 2))


def transposed(s: Step, word: Value) -> Value:
    """Return the two elements that a lane holds of the transposed matrix."""
    b, lane = s.b, s.b.lane()
    column, pair = b.lshr(lane, 2), b.and_(lane, b.i32(3))
    first = b.add(b.shl(pair, 3), b.lshr(column, 1))  # lane with row 2·pair, column ``column``
    shift = b.shl(b.and_(column, b.i32(1)), 4)
    halves = [b.and_(b.lshr(b.shuffle(word, b.add(first, b.i32(k))), shift), b.i32(0xFFFF)) for k in (0, 4)]
    return b.or_(halves[0], b.shl(halves[1], 16))


@lifts("LDSM.16", knows="M88 MT88 1 2 4")
def load_matrices(s: Step) -> None:
    """Load 8 x 8 matrices, a row from the address of each lane; ``MT88`` transposes them."""
    require(len(s.operands) == 2 and s.b.guard is None)
    at = address(s, s.operands[1], "shared")
    words = [s.b.load("shared", _element_address(s, at, m), Type.I32)[0] for m in range(_count(s))]
    words = [transposed(s, w) for w in words] if s.has("MT88") else words
    set_words(s, s.operands[0], words)


@lifts("STSM.16", knows="M88 MT88 1 2 4")
def store_matrices(s: Step) -> None:
    """Store 8 x 8 matrices, a row to the address of each lane."""
    require(len(s.operands) == 2 and s.b.guard is None)
    at = address(s, s.operands[0], "shared")
    for matrix, word in enumerate(words_of(s, s.operands[1], _count(s))):
        value = transposed(s, word) if s.has("MT88") else word
        s.b.store("shared", _element_address(s, at, matrix), value)


@lifts("MOVM.16.MT88")
def transpose(s: Step) -> None:
    """Transpose a matrix held in registers."""
    require(len(s.operands) == 2 and s.b.guard is None and _plain(s.operands[1]))
    s.set(s.operands[0], transposed(s, s.value(s.operands[1])))


def _plain(operand: Operand) -> bool:
    return isinstance(operand, Register) and not operand.negated
