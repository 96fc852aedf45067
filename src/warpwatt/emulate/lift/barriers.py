"""Barrier objects in shared memory (PTX ISA 9.7.13, mbarrier; SASS SYNCS), as one 64-bit word.

From the lowest bit: pending arrivals (20 bits), bytes still to come (22 bits, plus 2^20), expected arrivals
(20 bits), phase (2 bits). Fields of this kind can be changed by atomic additions, in any order of lanes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from warpwatt.emulate.ir import BARRIER_OBJECT, NEW_BARRIER_OBJECT, Op, Type

if TYPE_CHECKING:
    from warpwatt.emulate.builder import Builder
    from warpwatt.emulate.ir import Value

COUNT_BITS = 20
BYTES_AT, EXPECTED_AT, PHASE_AT = 20, 42, 62
_NO_BYTES = 1 << 20
_COUNT_MASK = (1 << COUNT_BITS) - 1


def initialise(b: Builder, space: str, address: Value, count: Value) -> None:
    """Make a barrier of ``count`` (I32) arrivals."""
    wide = b.zext(count, Type.I64)
    word = b.or_(wide, b.shl(wide, EXPECTED_AT))
    word = b.or_(word, b.const(Type.I64, _NO_BYTES << BYTES_AT))
    b.atomic(space, NEW_BARRIER_OBJECT, address, word, returns=False)


def arrive(
    b: Builder, space: str, address: Value, count: Value, *, bytes_: Value | None = None, drop: bool = False
) -> Value:
    """Count down ``count`` (I32) arrivals, expecting ``bytes_`` (I32) more; the word as it was, as state."""
    wide = b.zext(count, Type.I64)
    change = b.neg(b.or_(wide, b.shl(wide, EXPECTED_AT)) if drop else wide)
    if bytes_ is not None:
        change = b.add(change, b.shl(b.zext(bytes_, Type.I64), BYTES_AT))
    return _change(b, space, address, change)


def expect(b: Builder, space: str, address: Value, bytes_: Value) -> None:
    """Expect ``bytes_`` (I32) more."""
    _change(b, space, address, b.shl(b.zext(bytes_, Type.I64), BYTES_AT))


def complete(b: Builder, space: str, address: Value, bytes_: Value) -> None:
    """Say that ``bytes_`` (I32) have come."""
    _change(b, space, address, b.neg(b.shl(b.zext(bytes_, Type.I64), BYTES_AT)))


def _change(b: Builder, space: str, address: Value, change: Value) -> Value:
    """Add to the word; begin the next phase where that leaves nothing to wait for. The word as it was."""
    return b.atomic(space, BARRIER_OBJECT, address, change)


def finished(b: Builder, space: str, address: Value, state: Value) -> Value:
    """Return whether the phase in which ``state`` was taken is over (I1)."""
    now = _change(b, space, address, b.const(Type.I64, 0))
    return b.op(Op.NE, b.lshr(now, PHASE_AT), b.lshr(state, PHASE_AT))


def finished_parity(b: Builder, space: str, address: Value, parity: Value) -> Value:
    """Return whether the phase of that parity (I32) is over (I1): a look that adds nothing."""
    now = _change(b, space, address, b.const(Type.I64, 0))
    current = b.and_(b.trunc(b.lshr(now, PHASE_AT), Type.I32), b.i32(1))
    return b.op(Op.NE, current, b.and_(parity, b.i32(1)))


def pending(b: Builder, state: Value) -> Value:
    """Return the arrivals that were pending in a state (I32)."""
    return b.trunc(b.and_(state, b.const(Type.I64, _COUNT_MASK)), Type.I32)
