"""LLVM text of how blocks end in the functional engine."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from warpwatt.emulate.functional.live_registers import successors
from warpwatt.emulate.ir import End, Type
from warpwatt.emulate.native.ends import all_met
from warpwatt.emulate.native.lanes import wide
from warpwatt.emulate.native.records import CODES, MACHINE, WARP, offset_of

if TYPE_CHECKING:
    from warpwatt.emulate.functional.block_text import BlockText
    from warpwatt.emulate.ir import Terminator, Value


def _jump(text: BlockText, number: int, target: int) -> None:
    """Send the active lanes to a block, at once if no others have to go first or along.

    On the way back in a loop they also give way when their turn is over.
    """
    active, least = text.let("load i32, ptr %active"), text.let("load i32, ptr %least")
    direct = text.let(f"icmp slt i32 {target}, {least}")
    if target <= number:
        left = text.let(f"icmp sgt i64 {text.let('load i64, ptr %turn')}, 0")
        direct = text.let(f"and i1 {direct}, {left}")
    apart = text.fresh_label()
    text.branch(direct, f"b{target}", apart, weights="!1")
    text.label(apart)
    text.park(active, target)
    text.do("br label %dispatch")


def jump(text: BlockText, number: int, end: Terminator) -> None:
    """JUMP."""
    _jump(text, number, end.targets[0])


def branch(text: BlockText, number: int, end: Terminator) -> None:
    """BRANCH: where lanes part, those of the higher block wait."""
    assert end.condition is not None
    yes, no = end.targets
    if yes == no:
        _jump(text, number, yes)
        return
    to_yes, to_no, some, part = (text.fresh_label() for _ in range(4))
    taken = text.on(end.condition)
    if text.is_scalar(end.condition):
        text.branch(text.let(f"icmp eq i32 {taken}, 0"), to_no, to_yes)
    else:
        text.branch(text.let(f"icmp eq i32 {taken}, 0"), to_no, some)
        text.label(some)
        text.branch(text.let(f"icmp eq i32 {taken}, {text.active_bits}"), to_yes, part, weights="!1")
        text.label(part)
        rest = text.let(f"xor i32 {text.active_bits}, {taken}")
        staying, waiting = (taken, rest) if yes < no else (rest, taken)
        text.park(waiting, max(yes, no))
        least = text.let("load i32, ptr %least")
        least = text.let(f"call i32 @llvm.smin.i32(i32 {least}, i32 {max(yes, no)})")
        text.do(f"store i32 {least}, ptr %least")
        text.activate(staying)
        text.do(f"br label %{to_yes if yes < no else to_no}")
    text.label(to_yes)
    _jump(text, number, yes)
    text.label(to_no)
    _jump(text, number, no)


def indirect(text: BlockText, _: int, end: Terminator) -> None:
    """INDIRECT."""
    assert end.value is not None
    block = text.tables.routine.blocks
    text.store("<32 x i64>", wide(text, end.value), "%m", offset_of(MACHINE, "addresses"), 64)
    going = text.on(end.condition)
    targets = {t for b in block if b.end is end for t in successors(text.tables.routine, b)}
    text.park_registers(text.active_bits, targets)
    if end.condition is not None:
        text.park(text.active_bits, end.targets[0])
    text.do(f"call void @branch_indirect(ptr %m, ptr %w, i32 {going}, i32 {end.instruction})")
    text.stop_if_failed()
    text.do("br label %dispatch")


def leave(text: BlockText, number: int, end: Terminator) -> None:
    """EXIT."""
    gone = text.on(end.condition)
    if end.condition is not None:
        stay, some = text.fresh_label(), text.fresh_label()
        text.branch(text.let(f"icmp eq i32 {gone}, 0"), stay, some)
        text.label(stay)
        _jump(text, number, end.targets[0])
        text.label(some)
        text.park(text.active_bits, end.targets[0])
    text.do(f"call void @exit_lanes(ptr %m, ptr %w, i32 {gone})")
    text.do("br label %dispatch")


def converge(text: BlockText, number: int, end: Terminator) -> None:
    """CONVERGE: nothing to do where all live lanes are here and wait for the same."""
    assert end.value is not None
    masks = text.vector(end.value)
    direct, apart = text.fresh_label(), text.fresh_label()
    text.branch(all_met(text, masks), direct, apart, weights="!1")
    text.label(direct)
    _jump(text, number, end.targets[0])
    text.label(apart)
    text.park_registers(text.active_bits, end.targets)
    for name, values in (
        ("waits_for", masks),
        ("next", f"splat (i32 {CODES['lane']['converging'] + number})"),
    ):
        place = text.at("%w", offset_of(WARP, name))
        text.do(
            f"call void @llvm.masked.store.v32i32.p0(<32 x i32> {values}, ptr align 64 {place}, "
            f"<32 x i1> {text.active})"
        )
    text.do(f"call void @converge_lanes(ptr %m, ptr %w, i32 {number})")
    text.do("br label %dispatch")


def barrier(text: BlockText, _: int, end: Terminator) -> None:
    """BARRIER."""
    assert end.value is not None
    number = _as_i64(text, end.value)
    expected = "-1" if end.value2 is None else _as_i64(text, end.value2)
    holding = "0" if end.condition is None else text.on(end.condition)
    text.park_registers(text.active_bits, end.targets)
    how = f"i64 {number}, i64 {expected}, i32 {int(end.arrive)}, i32 {holding}, i32 {end.targets[0]}"
    text.do(f"call void @arrive_at_barrier(ptr %m, ptr %w, {how})")
    text.do("br label %dispatch")


def await_phase(text: BlockText, _: int, end: Terminator) -> None:
    """AWAIT."""
    assert end.value is not None
    assert end.value2 is not None
    text.store("<32 x i64>", wide(text, end.value), "%m", offset_of(MACHINE, "addresses"), 64)
    text.store("<32 x i64>", wide(text, end.value2), "%m", offset_of(MACHINE, "values"), 64)
    text.park_registers(text.active_bits, end.targets)
    text.do(f"call void @await_phase(ptr %m, ptr %w, i32 {end.targets[0]})")
    text.do("br label %dispatch")


def _as_i64(text: BlockText, value: Value) -> str:
    name = text.scalar(value)
    return name if value.type is Type.I64 else text.let(f"zext i{value.type.bits} {name} to i64")


def trap(text: BlockText, _: int, end: Terminator) -> None:
    """TRAP."""
    lanes = text.on(end.condition)
    if end.targets:
        text.park(text.active_bits, end.targets[0])
    text.do(f"call void @trap_lanes(ptr %m, ptr %w, i32 {lanes}, i32 {end.instruction})")
    text.stop_if_failed()
    text.do("br label %dispatch")


ENDS: dict[End, Callable[[BlockText, int, Terminator], None]] = {
    End.JUMP: jump,
    End.BRANCH: branch,
    End.INDIRECT: indirect,
    End.EXIT: leave,
    End.BARRIER: barrier,
    End.CONVERGE: converge,
    End.AWAIT: await_phase,
    End.TRAP: trap,
}
"""What writes each end."""
