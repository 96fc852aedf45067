"""A routine as LLVM text: one function per basic block, which ends in a tail call of the next.

While all live lanes of a warp are together, blocks call each other directly. When lanes part, each lane's
next block is written to the warp and ``dispatch`` picks the lowest.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from warpwatt.emulate.ir import Memory, Op, Operation, Type
from warpwatt.emulate.native import memory_text
from warpwatt.emulate.native.ends import ENDS, HELPERS, jump_table
from warpwatt.emulate.native.floats import EACH, FLOATS
from warpwatt.emulate.native.integers import INTEGERS
from warpwatt.emulate.native.lanes import LANES
from warpwatt.emulate.native.records import MACHINE, WARP, offset_of
from warpwatt.emulate.native.tables import (
    RoutineTables,
    is_operand,
    last_sets,
    register_bytes,
    used_values,
)
from warpwatt.emulate.native.textures import DECLARATIONS
from warpwatt.emulate.native.values import Text, scalar_type, vector_type

if TYPE_CHECKING:
    from warpwatt.emulate.ir import Block, RegisterKind, Value

_PURE = {**INTEGERS, **FLOATS, **LANES}
CONTROL_AND_MATHS = f"""{DECLARATIONS}
declare void @call_function(ptr, i32, i32)
declare void @match_lanes(ptr, i32)
declare void @exit_lanes(ptr, ptr, i32)
declare void @converge_lanes(ptr, ptr, i32)
declare void @converge_waiting_lanes(ptr, ptr)
declare void @arrive_at_barrier(ptr, ptr, i64, i64, i32, i32, i32)
declare void @read_barrier_results(ptr, ptr, i32)
declare void @await_phase(ptr, ptr, i32)
declare void @bulk_copy(ptr, ptr, i32, i32)
declare void @branch_indirect(ptr, ptr, i32, i32)
declare void @trap_lanes(ptr, ptr, i32, i32)
declare i32 @fesetround(i32)
declare double @exp2(double)
declare double @log2(double)
declare double @sin(double)
declare double @cos(double)
declare double @tanh(double)
"""
"""What every text of a routine calls of the native core and of the C library."""
_COUNTED = """
declare void @load_lanes(ptr, ptr, i32, i32)
declare void @load_uniform(ptr, ptr, i32, i32, i64)
declare void @store_lanes(ptr, ptr, i32, i32)
declare void @atomic_lanes(ptr, ptr, i32, i32)
declare void @record_step(ptr, ptr, i32)
"""


@dataclass(slots=True, eq=False)
class RoutineText(RoutineTables):
    """The text and the tables that go with it."""

    text: str = ""

    def __post_init__(self) -> None:
        RoutineTables.__post_init__(self)
        parts = [CONTROL_AND_MATHS, _COUNTED, EACH, HELPERS, counting(record=self.record), memory_text.PLACE]
        parts.append(jump_table(len(self.routine.blocks)))
        parts += [self._block(number, block) for number, block in enumerate(self.routine.blocks)]
        self.text = "\n".join(parts)

    def _block(self, number: int, block: Block) -> str:
        """Return the function of a block."""
        text = Text(max(1, len(block.instructions)))
        text.lines.append(f"define void @b{number}(ptr %m, ptr %w) {{")
        self._enter(text, number)
        writer = _BlockWriter(self, text, last_sets(block), _shared_bases(block))
        used = used_values(block)
        for place, operation in enumerate(block.operations):
            if operation.op is Op.GET and operation.results[0].index not in used:
                continue
            writer.write(place, operation)
        if writer.may_fail:
            text.do(f"br i1 {text.failed()}, label %stop, label %end")
            text.label("end")
        if self.sets_leavers(block):
            text.do("call void @converge_waiting_lanes(ptr %m, ptr %w)")
        ENDS[block.end.end](text, number, block.end)
        text.lines.append("}")
        return "\n".join(text.lines)

    def _enter(self, text: Text, number: int) -> None:
        """Write what every block begins with; where the turn is over, it goes no further."""
        text.do(f"%go = call i1 @enter(ptr %m, ptr %w, i32 {number}, i64 {text.length})")
        text.do("br i1 %go, label %run, label %stop")
        text.label("stop")
        text.do("ret void")
        text.label("run")
        text.do(f"%a = load i32, ptr {text.at('%w', offset_of(WARP, 'active'))}")
        text.do("%act = bitcast i32 %a to <32 x i1>")


def counting(*, record: bool) -> str:
    """Return the functions that count: ``enter`` takes a block's turn, ``count`` lanes of one instruction.

    They are called, not repeated, because what is written in every block has to be compiled in every block.
    """
    step = "call void @record_step(ptr %m, ptr %w, i32 %number)" if record else ""
    return f"""
define internal void @add(ptr %m, i64 %table, i64 %index, i64 %amount) {{
  %p = getelementptr i8, ptr %m, i64 %table
  %counts = load ptr, ptr %p
  %place = getelementptr i64, ptr %counts, i64 %index
  %old = load i64, ptr %place
  %new = add i64 %old, %amount
  store i64 %new, ptr %place
  ret void
}}
define internal i1 @enter(ptr %m, ptr %w, i32 %number, i64 %length) {{
  %p = getelementptr i8, ptr %w, i64 {offset_of(WARP, "turn")}
  %turn = load i64, ptr %p
  %q = getelementptr i8, ptr %w, i64 {offset_of(WARP, "active")}
  %a = load i32, ptr %q
  %go = icmp sgt i64 %turn, 0
  br i1 %go, label %run, label %late
late:
  call void @park(ptr %w, i32 %a, i32 %number)
  ret i1 false
run:
  %left = sub i64 %turn, %length
  store i64 %left, ptr %p
  %index = zext i32 %number to i64
  call void @add(ptr %m, i64 {offset_of(MACHINE, "totals.executions")}, i64 %index, i64 1)
  %on = call i32 @llvm.ctpop.i32(i32 %a)
  %lanes = zext i32 %on to i64
  call void @add(ptr %m, i64 {offset_of(MACHINE, "totals.lanes")}, i64 %index, i64 %lanes)
  {step}
  ret i1 true
}}
define internal void @count(ptr %m, i32 %off, i64 %index) {{
  %on = call i32 @llvm.ctpop.i32(i32 %off)
  %lanes = zext i32 %on to i64
  call void @add(ptr %m, i64 {offset_of(MACHINE, "totals.guarded")}, i64 %index, i64 %lanes)
  ret void
}}
"""


def _shared_bases(block: Block) -> dict[int, tuple[Value, int]]:
    """Return the sums of a value and a constant that are only addresses, where others share the value."""
    constants = {o.results[0].index: o.data for o in block.operations if o.op is Op.CONST}
    used = {v.index for v in (block.end.condition, block.end.value, block.end.value2) if v is not None}
    sums: dict[int, tuple[Value, int]] = {}
    for operation in block.operations:
        args = operation.args[1:] if operation.op in memory_text.MEMORY else operation.args
        used.update(value.index for value in args)
        if operation.mask is not None:
            used.add(operation.mask.index)
        if operation.op is Op.ADD:
            base, offset = operation.args
            if offset.index not in constants:
                base, offset = offset, base
            added = constants.get(offset.index)
            if isinstance(added, int) and base.index not in constants:
                sums[operation.results[0].index] = base, added
    shares = Counter(base.index for index, (base, _) in sums.items() if index not in used)
    return {i: (b, n) for i, (b, n) in sums.items() if i not in used and shares[b.index] > 1}


class _BlockWriter:
    """Writes the operations of one block in order."""

    def __init__(
        self, routine: RoutineText, text: Text, committing: set[int], sums: Mapping[int, tuple[Value, int]]
    ) -> None:
        self.routine, self.text, self.committing, self.sums = routine, text, committing, sums
        self.constants: dict[int, int] = {}
        self.current: dict[object, Value] = {}
        self.may_fail = False
        self.read: memory_text.Read = {}

    def write(self, place: int, operation: Operation) -> None:
        """Write one operation."""
        op, text = operation.op, self.text
        result = operation.results[0].index if operation.results else -1
        if result in self.sums and not text.is_scalar(self.sums[result][0]):
            text.sums[result] = self.sums[result]
            return
        if op in _PURE:
            if op is Op.CONST and isinstance(operation.data, int):
                self.constants[operation.results[0].index] = operation.data
            _PURE[op](text, operation)
        elif op is Op.GET:
            self._get(operation)
        elif op is Op.SET:
            self._set(operation, commit=place in self.committing)
        elif op is Op.COUNT:
            self._count(operation)
        else:
            self._effect(operation)

    def _effect(self, operation: Operation) -> None:
        """LOAD STORE ATOMIC BULK CALL."""
        routine, text = self.routine, self.text
        if operation.op is Op.CALL:
            self.may_fail = True
            memory_text.call(text, operation, len(routine.calls))
            routine.calls.append(operation)
            return
        if operation.op is Op.LOAD and is_operand(operation, self.constants):
            memory_text.read_operand(text, operation, self.constants[operation.args[0].index], self.read)
            return
        self.may_fail = True
        row = len(routine.operations)
        routine.operations.append(operation)
        assert isinstance(operation.data, Memory)
        write = {
            Op.LOAD: memory_text.load, Op.STORE: memory_text.store, Op.ATOMIC: memory_text.atomic,
            Op.BULK: memory_text.bulk,
        }  # fmt: skip
        write[operation.op](text, operation, row)

    def _count(self, operation: Operation) -> None:
        routine, text = self.routine, self.text
        off = text.let(f"and i32 %a, {text.let(f'xor i32 {text.bits(operation.args[0])}, -1')}")
        text.do(f"call void @count(ptr %m, i32 {off}, i64 {len(routine.guarded)})")
        assert isinstance(operation.data, int)
        routine.guarded.append(operation.data)

    def _get(self, operation: Operation) -> None:
        (result,), text, name = operation.results, self.text, operation.data
        if name in self.current:
            known = self.current[name]
            text.bind(result, text.values[known.index], scalar=text.is_scalar(known))
            return
        kind, offset = self.routine.routine.registers[str(name)], self.routine.offsets[str(name)]
        if kind.uniform:
            read = text.load("i8" if kind.type is Type.I1 else scalar_type(kind.type), "%w", offset)
            if kind.type is Type.I1:
                read = text.let(f"trunc i8 {read} to i1")
            text.bind(result, read, scalar=True)
        elif kind.type is Type.I1:
            bits = text.load("i32", "%w", offset)
            text.bind(result, text.let(f"bitcast i32 {bits} to <32 x i1>"), scalar=False)
        else:
            align = min(64, register_bytes(kind))
            text.bind(result, text.load(vector_type(kind.type), "%w", offset, align), scalar=False)

    def _set(self, operation: Operation, *, commit: bool) -> None:
        """SET: the last one of a block writes the register, earlier ones are only remembered."""
        value, name = operation.args[0], str(operation.data)
        masked = operation.mask is not None or len(operation.args) > 1
        if not masked:
            self.current[name] = value
            if not commit:
                return
        else:
            self.current.pop(name, None)
        mask = operation.mask or (operation.args[1] if masked else None)
        kind, offset = self.routine.routine.registers[name], self.routine.offsets[name]
        write = (
            self._set_uniform if kind.uniform else self._set_bits if kind.type is Type.I1 else self._set_lanes
        )
        write(kind, offset, value, mask)

    def _set_uniform(self, kind: RegisterKind, offset: int, value: Value, mask: Value | None) -> None:
        text, name = self.text, self.text.scalar(value)
        short = scalar_type(kind.type)
        if kind.type is Type.I1:
            name, short = text.let(f"zext i1 {name} to i8"), "i8"
        if mask is not None:
            old = text.load(short, "%w", offset)
            some = text.let(f"icmp ne i32 {text.on(mask)}, 0")
            name = text.let(f"select i1 {some}, {short} {name}, {short} {old}")
        text.store(short, name, "%w", offset)

    def _set_bits(self, _: RegisterKind, offset: int, value: Value, mask: Value | None) -> None:
        text = self.text
        on, bits, old = text.on(mask), text.bits(value), text.load("i32", "%w", offset)
        change = text.let(f"and i32 {text.let(f'xor i32 {old}, {bits}')}, {on}")
        text.store("i32", text.let(f"xor i32 {old}, {change}"), "%w", offset)

    def _set_lanes(self, kind: RegisterKind, offset: int, value: Value, mask: Value | None) -> None:
        text, vector, align = self.text, vector_type(kind.type), min(64, register_bytes(kind))
        old, new = text.load(vector, "%w", offset, align), text.vector(value)
        on = text.on_lanes(mask)
        text.store(
            vector, text.let(f"select <32 x i1> {on}, {vector} {new}, {vector} {old}"), "%w", offset, align
        )
