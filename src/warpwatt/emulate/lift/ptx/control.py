"""Control flow and barriers (PTX ISA 9.7.12, 9.7.13): bra, brx.idx, call, ret, exit, trap, bar, barrier."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warpwatt.core.program import Flow, Immediate, Instruction
from warpwatt.emulate.ir import Op, Type
from warpwatt.emulate.lift.ptx.patterns import nothing
from warpwatt.emulate.lift.ptx.system import call_system

if TYPE_CHECKING:
    from warpwatt.emulate.ir import Value
    from warpwatt.emulate.lift.ptx.opcode import Opcode
    from warpwatt.emulate.lift.ptx.operands import PtxBuilder
    from warpwatt.emulate.lift.ptx.patterns import Semantics

_TRAPS = frozenset({"__assertfail"})
"""Functions that end the kernel."""


def _jump_indexed(b: PtxBuilder, _how: Opcode, i: Instruction) -> None:
    """Lift ``brx.idx``: to the label at an index. An index beyond has no meaning; the last is taken."""
    index = b.read(i.operands[0], Type.I32)
    labels = b.program.labels
    address = b.i32(labels[i.targets[-1]])
    for at, target in enumerate(i.targets[:-1]):
        here = b.i32(labels[target])
        address = b.select(b.op(Op.EQ, index, b.i32(at)), here, address)
    b.branch_indirect(address)


def _call(b: PtxBuilder, _how: Opcode, i: Instruction) -> None:
    """Lift ``call``: a jump to its copy where it was expanded, functions of the system, else nothing."""
    if i.flow is Flow.JUMP:
        b.branch(i.targets[0])
        return
    call_system(b, i)
    if i.targets[0] in _TRAPS:
        b.trap()


def _return(b: PtxBuilder, _how: Opcode, i: Instruction) -> None:
    """Lift ``ret``: of an expanded function a jump behind its call, else the end of the thread."""
    if i.flow is Flow.JUMP:
        b.branch(i.targets[0])
    else:
        b.exit()


def _barrier(b: PtxBuilder, how: Opcode, i: Instruction) -> None:
    """Lift ``bar`` and ``barrier``: sync, arrive, red; ``bar.warp.sync``; ``barrier.cluster``."""
    if how.has("warp"):
        _warp_sync(b, i)
        return
    if how.has("cluster"):
        _cluster_barrier(b, how, i)
        return
    if how.has("red"):
        _barrier_reduction(b, how, i)
        return
    arrive = how.has("arrive")
    number, threads = _who(b, i, 0)
    b.barrier(number, threads, arrive=arrive)


def _who(b: PtxBuilder, i: Instruction, first: int) -> tuple[Value, Value | None]:
    """Return the number of a barrier and how many threads it waits for, if given."""
    rest = i.operands[first:]
    number = b.read(rest[0], Type.I32) if rest else b.i32(0)
    return number, b.read(rest[1], Type.I32) if len(rest) > 1 else None


def _barrier_reduction(b: PtxBuilder, how: Opcode, i: Instruction) -> None:
    kind = next(w for w in how.words if w in ("popc", "and", "or"))
    rest = i.operands[1:]
    predicate = b.read(rest[-1], Type.I1)
    number = b.read(rest[0], Type.I32)
    threads = b.read(rest[1], Type.I32) if len(rest) > 2 else None
    b.barrier(number, threads, reduce=predicate)
    number = b.read(rest[0], Type.I32)
    result = b.call("barrier_result", (kind,), (Type.I32, 1), number, uniform=True)[0]
    b.write(i.operands[0], result if kind == "popc" else b.op(Op.NE, result, b.i32(0)))


def _warp_sync(b: PtxBuilder, i: Instruction) -> None:
    mask = i.operands[0] if i.operands else Immediate(0xFFFFFFFF, "-1")
    b.gather(mask)


def _cluster_barrier(b: PtxBuilder, how: Opcode, _i: Instruction) -> None:
    """Lift ``barrier.cluster``: each block of the cluster waits for its own threads, at the wait."""
    if how.has("wait"):
        b.barrier(b.i32(0))


TABLE: dict[str, Semantics] = {
    "bra": lambda b, _how, i: b.branch(i.targets[0]),
    "brx": _jump_indexed,
    "call": _call,
    "ret": _return,
    "exit": lambda b, _how, _i: b.exit(),
    "trap": lambda b, _how, _i: b.trap(),
    "brkpt": nothing,
    "bar": _barrier,
    "barrier": _barrier,
}
