"""Asynchronous copies and barrier objects (PTX ISA 9.7.9 cp.async, 9.7.13 mbarrier).

Copies are made at once, which is one of the orders the machine allows; so waiting for them is nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from warpwatt.core.program import Instruction, Operand
from warpwatt.emulate.ir import Op, Type
from warpwatt.emulate.lift import barriers
from warpwatt.emulate.lift.driver import UncoveredError
from warpwatt.emulate.lift.ptx.memory import SPACES, space_of
from warpwatt.emulate.lift.ptx.patterns import immediate, nothing

if TYPE_CHECKING:
    from warpwatt.emulate.ir import Value
    from warpwatt.emulate.lift.ptx.opcode import Opcode
    from warpwatt.emulate.lift.ptx.operands import PtxBuilder
    from warpwatt.emulate.lift.ptx.patterns import Semantics

_UNITS = {4: (Type.I32, 1), 8: (Type.I32, 2), 16: (Type.I32, 4)}
_COPIED = "#copied"
"""Register that counts the bytes of a bulk copy."""


def _copy(b: PtxBuilder, how: Opcode, i: Instruction) -> None:
    """Lift ``cp.async`` and what belongs to it."""
    if how.has("commit_group", "wait_group", "wait_all"):
        return
    if how.has("bulk"):
        _bulk(b, how, i)
        return
    if how.has("mbarrier"):
        _arrive_on_copy(b, how, i)
        return
    if not how.has("ca", "cg"):
        raise UncoveredError
    target, source = b.address(i.operands[0], "shared"), b.address(i.operands[1], "global")
    size = immediate(i, 2)
    if size not in _UNITS:
        raise UncoveredError
    type_, count = _UNITS[size]
    taken = _taken(b, i, size)
    b.store("shared", target, *_words(b, source, type_, count, taken))


def _taken(b: PtxBuilder, i: Instruction, size: int) -> Value | None:
    """Return how many bytes are read (I32), the others being zero; None for all of them."""
    if len(i.operands) < 4:
        return None
    constant = immediate(i, 3)
    if constant is not None:
        return None if constant >= size else b.i32(constant)
    kind = b.program.register_type(getattr(i.operands[3], "name", ""))
    if kind == "pred":
        return b.select(b.read(i.operands[3], Type.I1), b.i32(0), b.i32(size))
    if kind.endswith("64"):
        return None  # a cache policy
    return b.read(i.operands[3], Type.I32)


def _words(b: PtxBuilder, source: Value, type_: Type, count: int, taken: Value | None) -> list[Value]:
    """Return the words a copy reads. In whole where all bytes are taken, one by one where only some are."""
    if taken is None:
        return list(b.load("global", source, type_, count))
    outside = b.guard
    whole = b.op(Op.ULE, b.i32(4 * count), taken)
    b.guard = whole if outside is None else b.and_(outside, whole)
    words = list(b.load("global", source, type_, count))
    for at in range(count):
        # Masked-off loads give 0, so that the two kinds can be combined.
        present = b.and_(b.op(Op.ULT, b.i32(4 * at), taken), b.not_(whole))
        b.guard = present if outside is None else b.and_(outside, present)
        here = b.add(source, b.const(Type.I64, 4 * at))
        left = b.sub(taken, b.i32(4 * at))
        kept = b.not_(b.shl(b.i32(-1), b.shl(b.op(Op.UMIN, left, b.i32(4)), 3)))
        words[at] = b.or_(words[at], b.and_(b.load("global", here, type_)[0], kept))
    b.guard = outside
    return words


def _bulk(b: PtxBuilder, how: Opcode, i: Instruction) -> None:
    """Lift ``cp.async.bulk`` between global and shared memory: a loop over 16 bytes at a time."""
    if how.has("commit_group", "wait_group") or how.has("prefetch"):
        return
    if how.has("tensor", "multicast::cluster") or how.name != "cp":
        raise UncoveredError
    spaces = [w.partition("::")[0] for w in how.words if w.partition("::")[0] in SPACES]
    to, source_space = spaces[0], spaces[1]
    size = b.read(i.operands[2], Type.I32)
    _copy_all(b, i, to, source_space, size)
    if how.has("mbarrier::complete_tx::bytes"):
        size = b.read(i.operands[2], Type.I32)
        barriers.complete(b, "shared", b.address(i.operands[3], "shared"), size)


def _copy_all(b: PtxBuilder, i: Instruction, to: str, source: str, size: Value) -> None:
    again = f"#copy {i.index}"
    b.declare(_COPIED, Type.I32)
    b.set(_COPIED, b.i32(0))
    b.begin(again)
    done = b.get(_COPIED)
    target_at, source_at = b.address(i.operands[0], to), b.address(i.operands[1], source)
    words = b.load(source, b.add(source_at, b.fit(done, source_at.type)), Type.I64, 2)
    b.store(to, b.add(target_at, b.fit(done, target_at.type)), *words)
    done = b.add(done, b.i32(16))
    b.set(_COPIED, done)
    size = b.read(i.operands[2], Type.I32)
    b.branch(again, b.op(Op.ULT, done, size))


def _arrive_on_copy(b: PtxBuilder, how: Opcode, i: Instruction) -> None:
    """Lift ``cp.async.mbarrier.arrive``: the copies are done, so it arrives at once.

    Without ``noinc`` the machine adds an arrival to the phase first and takes it when the copies are done:
    nothing, in sum.
    """
    space = space_of(how)
    if how.has("noinc"):
        barriers.arrive(b, space, b.address(i.operands[0], space), b.i32(1))


# -- barrier objects --------------------------------------------------------------------------------------


def _barrier(b: PtxBuilder, how: Opcode, i: Instruction) -> None:
    action = _ACTIONS.get(how.words[0])
    if action is None:
        raise UncoveredError
    action(b, how, i)


def _initialise(b: PtxBuilder, how: Opcode, i: Instruction) -> None:
    space = space_of(how)
    barriers.initialise(b, space, b.address(i.operands[0], space), b.read(i.operands[1], Type.I32))


def _arrive(b: PtxBuilder, how: Opcode, i: Instruction) -> None:
    """Lift ``mbarrier.arrive`` and ``arrive_drop``, with ``expect_tx`` where it stands behind."""
    space, drop, expecting = space_of(how), how.words[0] == "arrive_drop", how.has("expect_tx")
    target, place, value = _arrival(i)
    amount = b.i32(1) if value is None else b.read(value, Type.I32)
    address = b.address(place, space)
    if expecting:
        old = barriers.arrive(b, space, address, b.i32(1), bytes_=amount, drop=drop)
    else:
        old = barriers.arrive(b, space, address, amount, drop=drop)
    if target is not None:
        b.write(target, old)


def _arrival(i: Instruction) -> tuple[Operand | None, Operand, Operand | None]:
    """Return the state's register, the barrier and the count; the state may be left out."""
    operands = list(i.operands)
    target = None if hasattr(operands[0], "base") else operands.pop(0)
    return target, operands[0], operands[1] if len(operands) > 1 else None


def _transfer(b: PtxBuilder, how: Opcode, i: Instruction) -> None:
    space = space_of(how)
    change = barriers.expect if how.words[0] == "expect_tx" else barriers.complete
    change(b, space, b.address(i.operands[0], space), b.read(i.operands[1], Type.I32))


def _wait(b: PtxBuilder, how: Opcode, i: Instruction) -> None:
    """Lift ``test_wait`` and ``try_wait``, by state or by parity; neither suspends."""
    space = space_of(how)
    address = b.address(i.operands[1], space)
    if how.has("parity"):
        over = barriers.finished_parity(b, space, address, b.read(i.operands[2], Type.I32))
    else:
        over = barriers.finished(b, space, address, b.read(i.operands[2], Type.I64))
    b.write(i.operands[0], over)


def _pending(b: PtxBuilder, _how: Opcode, i: Instruction) -> None:
    b.write(i.operands[0], barriers.pending(b, b.read(i.operands[1], Type.I64)))


_ACTIONS: dict[str, Semantics] = {
    "init": _initialise,
    "inval": nothing,
    "arrive": _arrive,
    "arrive_drop": _arrive,
    "expect_tx": _transfer,
    "complete_tx": _transfer,
    "test_wait": _wait,
    "try_wait": _wait,
    "pending_count": _pending,
}
TABLE: dict[str, Semantics] = {"cp": _copy, "mbarrier": _barrier}
