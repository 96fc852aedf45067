"""Control flow and barriers (PTX ISA 9.7.12, 9.7.13): bra, brx.idx, call, ret, exit, trap, bar, barrier."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warpwatt.core.program import Flow, Immediate
from warpwatt.emulate.ir import Op, Type
from warpwatt.emulate.lift.driver import UncoveredError

if TYPE_CHECKING:
    from warpwatt.core.program import Instruction
    from warpwatt.emulate.ir import Value
    from warpwatt.emulate.lift.ptx.opcode import Opcode
    from warpwatt.emulate.lift.ptx.operands import PtxBuilder
    from warpwatt.emulate.lift.ptx.patterns import Maker, Semantics

_TRAPS = frozenset({"__assertfail"})
"""Functions that end the kernel."""


def _jump(_how: Opcode) -> Semantics:
    def lift(b: PtxBuilder, i: Instruction) -> None:
        b.branch(i.targets[0])

    return lift


def _jump_indexed(_how: Opcode) -> Semantics:
    """Return ``brx.idx``: to the label at an index. An index beyond has no meaning; the last is taken."""

    def lift(b: PtxBuilder, i: Instruction) -> None:
        index = b.read(i.operands[0], Type.I32)
        labels = b.program.labels
        address = b.i32(labels[i.targets[-1]])
        for at, target in enumerate(i.targets[:-1]):
            here = b.i32(labels[target])
            address = b.select(b.op(Op.EQ, index, b.i32(at)), here, address)
        b.branch_indirect(address)

    return lift


def _call(_how: Opcode) -> Semantics:
    """Return ``call``: a jump to its copy where it was expanded, else without semantics."""

    def lift(b: PtxBuilder, i: Instruction) -> None:
        if i.flow is Flow.JUMP:
            b.branch(i.targets[0])
        elif i.targets and i.targets[0] in _TRAPS:
            b.trap()
        else:
            raise UncoveredError

    return lift


def _return(_how: Opcode) -> Semantics:
    """Return ``ret``: of an expanded function a jump behind its call, else the end of the thread."""

    def lift(b: PtxBuilder, i: Instruction) -> None:
        if i.flow is Flow.JUMP:
            b.branch(i.targets[0])
        else:
            b.exit()

    return lift


def _exit(_how: Opcode) -> Semantics:
    def lift(b: PtxBuilder, _i: Instruction) -> None:
        b.exit()

    return lift


def _trap(_how: Opcode) -> Semantics:
    def lift(b: PtxBuilder, _i: Instruction) -> None:
        b.trap()

    return lift


def _nothing(_how: Opcode) -> Semantics:
    def lift(_b: PtxBuilder, _i: Instruction) -> None:
        return

    return lift


def _barrier(how: Opcode) -> Semantics:
    """Return ``bar`` and ``barrier``: sync, arrive, red; ``bar.warp.sync``; ``barrier.cluster``."""
    if how.has("warp"):
        return _warp_sync
    if how.has("cluster"):
        return _cluster_barrier(how)
    if how.has("red"):
        return _barrier_reduction(how)
    arrive = how.has("arrive")

    def lift(b: PtxBuilder, i: Instruction) -> None:
        number, threads = _who(b, i, 0)
        b.barrier(number, threads, arrive=arrive)

    return lift


def _who(b: PtxBuilder, i: Instruction, first: int) -> tuple[Value, Value | None]:
    """Return the number of a barrier and how many threads it waits for, if given."""
    rest = i.operands[first:]
    number = b.read(rest[0], Type.I32) if rest else b.i32(0)
    return number, b.read(rest[1], Type.I32) if len(rest) > 1 else None


def _barrier_reduction(how: Opcode) -> Semantics:
    kind = next(w for w in how.words if w in ("popc", "and", "or"))

    def lift(b: PtxBuilder, i: Instruction) -> None:
        rest = i.operands[1:]
        predicate = b.read(rest[-1], Type.I1)
        number = b.read(rest[0], Type.I32)
        threads = b.read(rest[1], Type.I32) if len(rest) > 2 else None
        b.barrier(number, threads, reduce=predicate)
        number = b.read(rest[0], Type.I32)
        result = b.call("barrier_result", (kind,), (Type.I32, 1), number, uniform=True)[0]
        b.write(i.operands[0], result if kind == "popc" else b.op(Op.NE, result, b.i32(0)))

    return lift


def _warp_sync(b: PtxBuilder, i: Instruction) -> None:
    mask = i.operands[0] if i.operands else Immediate(0xFFFFFFFF, "-1")
    b.gather(mask)


def _cluster_barrier(how: Opcode) -> Semantics:
    """Return ``barrier.cluster``: each block of the cluster waits for its own threads, at the wait."""

    def lift(b: PtxBuilder, _i: Instruction) -> None:
        if how.has("wait"):
            b.barrier(b.i32(0))

    return lift


TABLE: dict[str, Maker] = {
    "bra": _jump,
    "brx": _jump_indexed,
    "call": _call,
    "ret": _return,
    "exit": _exit,
    "trap": _trap,
    "brkpt": _nothing,
    "bar": _barrier,
    "barrier": _barrier,
}
