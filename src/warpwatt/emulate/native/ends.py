"""LLVM text of how blocks end, and of the dispatcher."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from warpwatt.emulate.ir import End, Type
from warpwatt.emulate.native.lanes import wide
from warpwatt.emulate.native.records import CODES, MACHINE, WARP, offset_of

if TYPE_CHECKING:
    from warpwatt.emulate.ir import Terminator, Value
    from warpwatt.emulate.native.values import Text

HELPERS = f"""
define internal void @park(ptr %w, i32 %lanes, i32 %next) {{
  %p = getelementptr i8, ptr %w, i64 {offset_of(WARP, "next")}
  %old = load <32 x i32>, ptr %p, align 64
  %on = bitcast i32 %lanes to <32 x i1>
  %one = insertelement <32 x i32> poison, i32 %next, i32 0
  %all = shufflevector <32 x i32> %one, <32 x i32> poison, <32 x i32> zeroinitializer
  %new = select <32 x i1> %on, <32 x i32> %all, <32 x i32> %old
  store <32 x i32> %new, ptr %p, align 64
  ret void
}}
define internal void @part(ptr %w, i32 %lanes, i32 %taken, i32 %first, i32 %second) {{
  %away = xor i32 %taken, -1
  %rest = and i32 %lanes, %away
  call void @park(ptr %w, i32 %taken, i32 %first)
  call void @park(ptr %w, i32 %rest, i32 %second)
  ret void
}}
define void @dispatch(ptr %m, ptr %w) {{
  %p = getelementptr i8, ptr %w, i64 {offset_of(WARP, "next")}
  %next = load <32 x i32>, ptr %p, align 64
  %low = call i32 @llvm.vector.reduce.smin.v32i32(<32 x i32> %next)
  %some = icmp slt i32 %low, {CODES["lane"]["converging"]}
  br i1 %some, label %go, label %none
go:
  %one = insertelement <32 x i32> poison, i32 %low, i32 0
  %all = shufflevector <32 x i32> %one, <32 x i32> poison, <32 x i32> zeroinitializer
  %here = icmp eq <32 x i32> %next, %all
  %bits = bitcast <32 x i1> %here to i32
  %q = getelementptr i8, ptr %w, i64 {offset_of(WARP, "active")}
  store i32 %bits, ptr %q
  %row = zext i32 %low to i64
  %entry = getelementptr ptr, ptr @blocks, i64 %row
  %block = load ptr, ptr %entry
  musttail call void %block(ptr %m, ptr %w)
  ret void
none:
  ret void
}}
"""
"""``park`` sends lanes to a block, ``part`` to two, ``dispatch`` runs the lanes of the lowest block."""


def jump_table(blocks: int) -> str:
    """Return the table of the blocks' functions."""
    return f"@blocks = internal constant [{blocks} x ptr] [{', '.join(f'ptr @b{i}' for i in range(blocks))}]"


def _go(text: Text, function: str) -> None:
    text.do(f"musttail call void @{function}(ptr %m, ptr %w)")
    text.do("ret void")


def _live(text: Text) -> str:
    """Return whether all live lanes are active, as ``i1``."""
    live = text.load("i32", "%w", offset_of(WARP, "live"))
    return text.let(f"icmp eq i32 {live}, %a")


def _jump(text: Text, target: int) -> None:
    """Send all active lanes to a block."""
    text.do(f"br i1 {_live(text)}, label %direct, label %apart")
    text.label("direct")
    _go(text, f"b{target}")
    text.label("apart")
    text.do(f"call void @park(ptr %w, i32 %a, i32 {target})")
    _go(text, "dispatch")


def jump(text: Text, _: int, end: Terminator) -> None:
    """JUMP."""
    _jump(text, end.targets[0])


def branch(text: Text, _: int, end: Terminator) -> None:
    """BRANCH."""
    assert end.condition is not None
    yes, no = end.targets
    if yes == no:
        _jump(text, yes)
        return
    taken = text.on(end.condition)
    text.do(f"br i1 {_live(text)}, label %together, label %apart")
    text.label("together")
    text.do(f"br i1 {text.let(f'icmp eq i32 {taken}, 0')}, label %no, label %some")
    text.label("some")
    if text.is_scalar(end.condition):
        text.do("br label %yes")
    else:
        text.do(f"br i1 {text.let(f'icmp eq i32 {taken}, %a')}, label %yes, label %apart")
    text.label("yes")
    _go(text, f"b{yes}")
    text.label("no")
    _go(text, f"b{no}")
    text.label("apart")
    text.do(f"call void @part(ptr %w, i32 %a, i32 {taken}, i32 {yes}, i32 {no})")
    _go(text, "dispatch")


def indirect(text: Text, _: int, end: Terminator) -> None:
    """INDIRECT."""
    assert end.value is not None
    text.store("<32 x i64>", wide(text, end.value), "%m", offset_of(MACHINE, "addresses"), 64)
    going = text.on(end.condition)
    if end.condition is not None:
        text.do(f"call void @park(ptr %w, i32 %a, i32 {end.targets[0]})")
    text.do(f"call void @branch_indirect(ptr %m, ptr %w, i32 {going}, i32 {end.instruction})")
    _unless_failed(text)


def _unless_failed(text: Text) -> None:
    """Go on unless the runtime found a fault."""
    text.do(f"br i1 {text.failed()}, label %stop, label %next")
    text.label("next")
    _go(text, "dispatch")


def leave(text: Text, _: int, end: Terminator) -> None:
    """EXIT."""
    gone = text.on(end.condition)
    if end.condition is not None:
        text.do(f"br i1 {text.let(f'icmp eq i32 {gone}, 0')}, label %stay, label %leave")
        text.label("stay")
        _jump(text, end.targets[0])
        text.label("leave")
        text.do(f"call void @park(ptr %w, i32 %a, i32 {end.targets[0]})")
    text.do(f"call void @exit_lanes(ptr %m, ptr %w, i32 {gone})")
    _go(text, "dispatch")


def converge(text: Text, number: int, end: Terminator) -> None:
    """CONVERGE: nothing to do where all live lanes are here and wait for the same.

    They do not where a function calls itself: its levels meet one after the other.
    """
    assert end.value is not None
    masks = text.vector(end.value)
    text.do(f"br i1 {all_met(text, masks)}, label %direct, label %apart")
    text.label("direct")
    _go(text, f"b{end.targets[0]}")
    text.label("apart")
    at = text.at("%w", offset_of(WARP, "waits_for"))
    old = text.let(f"load <32 x i32>, ptr {at}, align 64")
    new = text.let(f"select <32 x i1> %act, <32 x i32> {masks}, <32 x i32> {old}")
    text.do(f"store <32 x i32> {new}, ptr {at}, align 64")
    text.do(f"call void @park(ptr %w, i32 %a, i32 {CODES['lane']['converging'] + number})")
    text.do(f"call void @converge_lanes(ptr %m, ptr %w, i32 {number})")
    _go(text, "dispatch")


def all_met(text: Text, masks: str) -> str:
    """Return whether all live lanes are active and wait for the same lanes, as ``i1``."""
    found = []
    for name, rest in (("or", 0), ("and", -1)):
        own = f"select <32 x i1> {text.active}, <32 x i32> {masks}, <32 x i32> splat (i32 {rest})"
        found.append(text.let(f"call i32 @llvm.vector.reduce.{name}.v32i32(<32 x i32> {text.let(own)})"))
    live = text.load("i32", "%w", offset_of(WARP, "live"))
    here = text.let(f"icmp eq i32 {live}, {text.active_bits}")
    return text.let(f"and i1 {here}, {text.let(f'icmp eq i32 {found[0]}, {found[1]}')}")


def barrier(text: Text, _: int, end: Terminator) -> None:
    """BARRIER."""
    assert end.value is not None
    number = _as_i64(text, end.value)
    expected = "-1" if end.value2 is None else _as_i64(text, end.value2)
    holding = "0" if end.condition is None else text.on(end.condition)
    how = f"i64 {number}, i64 {expected}, i32 {int(end.arrive)}, i32 {holding}, i32 {end.targets[0]}"
    text.do(f"call void @arrive_at_barrier(ptr %m, ptr %w, {how})")
    _go(text, "dispatch")


def await_phase(text: Text, _: int, end: Terminator) -> None:
    """AWAIT."""
    assert end.value is not None
    assert end.value2 is not None
    text.store("<32 x i64>", wide(text, end.value), "%m", offset_of(MACHINE, "addresses"), 64)
    text.store("<32 x i64>", wide(text, end.value2), "%m", offset_of(MACHINE, "values"), 64)
    text.do(f"call void @await_phase(ptr %m, ptr %w, i32 {end.targets[0]})")
    _go(text, "dispatch")


def _as_i64(text: Text, value: Value) -> str:
    name = text.scalar(value)
    return name if value.type is Type.I64 else text.let(f"zext i{value.type.bits} {name} to i64")


def trap(text: Text, _: int, end: Terminator) -> None:
    """TRAP."""
    lanes = text.on(end.condition)
    if end.targets:
        text.do(f"call void @park(ptr %w, i32 %a, i32 {end.targets[0]})")
    text.do(f"call void @trap_lanes(ptr %m, ptr %w, i32 {lanes}, i32 {end.instruction})")
    _unless_failed(text)


ENDS: dict[End, Callable[[Text, int, Terminator], None]] = {
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
