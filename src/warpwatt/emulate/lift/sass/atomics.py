"""Semantics of atomics and reductions on memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warpwatt.core.program import Operand, Register
from warpwatt.emulate.ir import Type
from warpwatt.emulate.lift.bits import join_halves, split_halves
from warpwatt.emulate.lift.sass.memory import ACCESS, SPACES, address
from warpwatt.emulate.lift.sass.operands import is_predicate, is_zero, require
from warpwatt.emulate.lift.sass.table import lifts

if TYPE_CHECKING:
    from warpwatt.emulate.ir import Value
    from warpwatt.emulate.lift.sass.operands import Step

_OPERATIONS = {
    "ADD": "add", "MIN": "min", "MAX": "max", "AND": "and", "OR": "or", "XOR": "xor", "EXCH": "exch",
    "INC": "inc", "DEC": "dec",
}  # fmt: skip
_TYPES = {
    "32": Type.I32, "S32": Type.I32, "U32": Type.I32, "64": Type.I64, "U64": Type.I64, "S64": Type.I64,
    "F32": Type.F32, "F64": Type.F64,
}  # fmt: skip
_SHARED_SLOT = 0xF0
_ARRIVALS = 32
"""First bit of a barrier object's arrivals."""
_KNOWN = f"{ACCESS} {' '.join(_OPERATIONS)} {' '.join(_TYPES)} RN FTZ"


def _operation(s: Step, type_: str) -> str:
    """Return the operation's name; minimum and maximum are unsigned unless the type is signed or a float."""
    name = _OPERATIONS[s.one_of(_OPERATIONS)]
    signed = type_[0] in "SF"
    return name if signed or name not in ("min", "max") else "u" + name


def _place(s: Step, operand: Operand) -> tuple[str, Value]:
    """Return the state space and the address."""
    space = SPACES[s.opcode]
    return space, address(s, operand, space)


@lifts("ATOMG", "ATOM", "ATOMS", knows=_KNOWN)
def atomic(s: Step) -> None:
    """Read, modify and write; the old value is the result."""
    operands = _without_predicate(s)
    require(len(operands) == 3)
    kind = s.one_of(_TYPES, "32")
    space, at = _place(s, operands[1])
    value = s.value(operands[2], _TYPES[kind])
    old = s.b.atomic(space, _operation(s, kind), at, value, returns=not is_zero(operands[0]))
    s.set(operands[0], old)


def _without_predicate(s: Step) -> tuple[Operand, ...]:
    """Return the operands without a leading predicate, which must be PT."""
    first = s.operands[0]
    if is_predicate(first):
        require(isinstance(first, Register) and first.name == "PT", "predicate of an atomic")
        return s.operands[1:]
    return s.operands


@lifts("RED", "REDG", knows=_KNOWN)
def reduction(s: Step) -> None:
    """Read, modify and write without a result."""
    require(len(s.operands) == 2)
    kind = s.one_of(_TYPES, "32")
    space, at = _place(s, s.operands[0])
    s.b.atomic(space, _operation(s, kind), at, s.value(s.operands[1], _TYPES[kind]), returns=False)


@lifts("ATOMG.CAS", "ATOM.CAS", "ATOMS.CAS", knows=f"{ACCESS} 32 64")
def compare_and_swap(s: Step) -> None:
    """Write the second value where the first one is found; the old value is the result."""
    operands = _without_predicate(s)
    require(len(operands) == 4)
    type_ = Type.I64 if s.has("64") else Type.I32
    space, at = _place(s, operands[1])
    values = [s.value(o, type_) for o in operands[2:]]
    s.set(operands[0], s.b.atomic(space, "cas", at, *values))


@lifts("ATOMS.CAST.SPIN", knows="32 64")
def try_swap(s: Step) -> None:
    """Write the second value where the first one is found; 1, or true, where that was so."""
    require(len(s.operands) == 4)
    type_ = Type.I64 if s.has("64") else Type.I32
    space, at = _place(s, s.operands[1])
    expected, value = (s.value(o, type_) for o in s.operands[2:])
    done = s.b.compare("eq", s.b.atomic(space, "cas", at, expected, value), expected)
    to = s.operands[0]
    s.set(to, done if is_predicate(to) else s.b.zext(done, type_))


@lifts("ATOMS.POPC.INC", knows="32")
def count_lanes(s: Step) -> None:
    """Add 1 for each lane (the hardware adds the number of lanes with the same address)."""
    require(len(s.operands) == 2 and is_zero(s.operands[0]))
    space, at = _place(s, s.operands[1])
    s.b.atomic(space, "add", at, s.b.i32(1), returns=False)


@lifts("ATOMS.ARRIVE", knows="64")
def arrive(s: Step) -> None:
    """Arrive at a barrier object of compute capability 8.0 to 8.9; its state before is the result.

    Read off the code that initialises and tests one of n arrivals: the low word holds 2^30 - n, the high one
    2^31 - n. Arrivals count that up; when the last one has flipped bit 31, the phase, n are awaited again.
    """
    require(len(s.operands) == 2 and s.has("64"))
    s.set(s.operands[0], arrive_before_hopper(s, s.operands[1]))


def arrive_before_hopper(s: Step, barrier: Operand) -> Value:
    """Arrive at a barrier object of the form of :func:`arrive`; return its state before."""
    b, at = s.b, address(s, barrier, "shared")
    one = b.const(Type.I64, 1 << _ARRIVALS)
    old = b.atomic("shared", "add", at, one)
    new = b.add(old, one)
    last = b.compare(
        "eq", b.and_(b.lshr(new, _ARRIVALS), b.const(Type.I64, (1 << 31) - 1)), b.const(Type.I64, 0)
    )
    awaited = b.add(b.shl(new, _ARRIVALS), b.const(Type.I64, 1 << (30 + _ARRIVALS)))
    outer = b.guard
    b.guard = last if outer is None else b.and_(outer, last)
    b.atomic("shared", "add", at, awaited, returns=False)
    b.guard = outer
    return old


@lifts("RED.ADD.F16x2", "REDG.ADD.F16x2", knows=f"{ACCESS} RN")
def add_halves(s: Step) -> None:
    """Add to two halves, each atomic on its own."""
    require(len(s.operands) == 2)
    space, at = _place(s, s.operands[0])
    _add_halves(s, space, at, s.operands[1])


@lifts("ATOMG.ADD.F16x2", "ATOM.ADD.F16x2", knows=f"{ACCESS} RN")
def add_halves_return(s: Step) -> None:
    """Return the old halves as well; the predicate says that the address was not in shared memory.

    There the instruction does nothing, and the program goes on with a loop of its own.
    """
    require(len(s.operands) == 4 and is_predicate(s.operands[0]))
    space, at = _place(s, s.operands[2])
    window = s.b.const(Type.I64, _SHARED_SLOT)
    done = s.b.compare("ne", s.b.lshr(at, 40), window)
    outer = s.b.guard
    s.b.guard = done if outer is None else s.b.and_(outer, done)
    try:
        old = _add_halves(s, space, at, s.operands[3])
        s.set(s.operands[1], old)
    finally:
        s.b.guard = outer
    s.set(s.operands[0], done)


def _add_halves(s: Step, space: str, at: Value, operand: Operand) -> Value:
    """Add both halves of a register to memory; return the old ones, packed."""
    low, high = (s.b.cast_bits(half, Type.F16) for half in split_halves(s.b, s.value(operand)))
    first = s.b.atomic(space, "add", at, low)
    return join_halves(s.b, first, s.b.atomic(space, "add", s.b.add(at, s.b.const(at.type, 2)), high))
