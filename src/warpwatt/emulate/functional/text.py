"""A routine as one LLVM function that runs a warp until it waits, ends or has used up its turn.

Registers are LLVM values. All active lanes stand in one basic block; as long as no other lane waits in a
block that comes earlier, or in the very one they go to, blocks follow each other directly. When lanes part,
those that wait keep their live registers in the warp's record (they *park*), and the entry of the block where
they go on reads them back. What a register holds in lanes that are not active is therefore of no interest,
and writing a register needs no mask.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from warpwatt.emulate.functional import accesses
from warpwatt.emulate.functional.block_text import BlockText, RecordText, Tables
from warpwatt.emulate.functional.ends import ENDS
from warpwatt.emulate.functional.live_registers import successors
from warpwatt.emulate.ir import Memory, Op, Type
from warpwatt.emulate.native import memory_text
from warpwatt.emulate.native.floats import EACH, FLOATS
from warpwatt.emulate.native.integers import INTEGERS
from warpwatt.emulate.native.lanes import LANES
from warpwatt.emulate.native.records import BLOCK, CODES, MACHINE, RANGE, WARP, offset_of
from warpwatt.emulate.native.routine_text import CONTROL_AND_MATHS
from warpwatt.emulate.native.tables import called, is_operand, used_values
from warpwatt.emulate.native.textures import FUNCTIONS as TEXTURE_FUNCTIONS
from warpwatt.emulate.native.values import vector_type

if TYPE_CHECKING:
    from warpwatt.emulate.ir import Block, Operation, Routine

_PURE = {**INTEGERS, **FLOATS, **LANES}
_FAILING = frozenset({Op.LOAD, Op.STORE, Op.ATOMIC, Op.BULK, Op.CALL})
_CLOCKS = ("clock", "clock64", "globaltimer")
_DIRECT = """
declare void @load_lanes_directly(ptr, ptr, i32, i32) cold
declare void @store_lanes_directly(ptr, ptr, i32, i32) cold
declare void @atomic_lanes_directly(ptr, ptr, i32, i32)
!0 = !{!"branch_weights", i32 1000, i32 1}
!1 = !{!"branch_weights", i32 8, i32 1}
!2 = !{!"branch_weights", i32 1, i32 1000}
"""
RUN_TIME = (
    "load_lanes_directly", "store_lanes_directly", "atomic_lanes_directly", "call_function", "match_lanes",
    "exit_lanes", "converge_lanes", "converge_waiting_lanes", "arrive_at_barrier", "read_barrier_results",
    "branch_indirect", "trap_lanes", "await_phase", "bulk_copy", *TEXTURE_FUNCTIONS,
)  # fmt: skip
"""The functions of the native core that the text calls."""


MOST_PARKED = 1500
"""Registers live at the starts of all blocks together, beyond which they lie in the warp's record."""


def functional_text(routine: Routine) -> Tables:
    """Return the text of a routine, and the tables that go with it."""
    tables = Tables(routine, record=False)
    parked = sum(map(len, tables.live))
    text = (RecordText if parked > MOST_PARKED else BlockText)(tables)
    _begin(text)
    for number, block in enumerate(routine.blocks):
        _enter(text, number, block)
        _write_block(text, number, block)
    text.lines.append("}")
    declarations = sorted(kind.declaration for kind in tables.kinds)
    tables.text = "\n".join([CONTROL_AND_MATHS, _DIRECT, EACH, *declarations, *text.lines])
    return tables


def _begin(text: BlockText) -> None:
    """Write what comes before the blocks: places of registers, the end, the choice of a block."""
    text.lines.append("define void @dispatch(ptr %m, ptr %w) {")
    for name, place in () if isinstance(text, RecordText) else text.tables.places.items():
        text.do(f"{place} = alloca {vector_type(text.register(name).type)}, align 64")
    for name, kind in (("%active", "i32"), ("%least", "i32"), ("%turn", "i64")):
        text.do(f"{name} = alloca {kind}")
    bytes_ = text.load("i64", "%m", offset_of(MACHINE, "residents.shared_bytes"))
    base = text.load("i64", text.load("ptr", "%w", offset_of(WARP, "block")), offset_of(BLOCK, "shared"))
    text.do(f"%shared = alloca i8, i64 {RANGE.itemsize}, align 8")
    for name, value in (("start", "0"), ("bytes", bytes_), ("distance", base)):
        text.store("i64", value, "%shared", offset_of(RANGE, name))
    text.do(f"%ranges = load ptr, ptr {text.at('%m', offset_of(MACHINE, 'code.ranges'))}")
    text.do(f"store i64 {text.load('i64', '%w', offset_of(WARP, 'turn'))}, ptr %turn")
    text.do("br label %dispatch")
    text.label("stop")
    text.store("i64", text.let("load i64, ptr %turn"), "%w", offset_of(WARP, "turn"))
    text.do("ret void")
    _dispatch(text, len(text.tables.routine.blocks))


def _dispatch(text: BlockText, blocks: int) -> None:
    """Write the choice of the lowest block where lanes wait."""
    text.label("dispatch")
    next_ = text.load("<32 x i32>", "%w", offset_of(WARP, "next"), 64)
    lowest = text.let(f"call i32 @llvm.vector.reduce.smin.v32i32(<32 x i32> {next_})")
    some = text.let(f"icmp slt i32 {lowest}, {CODES['lane']['converging']}")
    left = text.let(f"icmp sgt i64 {text.let('load i64, ptr %turn')}, 0")
    text.branch(text.let(f"and i1 {some}, {left}"), "go", "stop")
    text.label("go")
    here = text.let(f"icmp eq <32 x i32> {next_}, {text.splat(Type.I32, lowest)}")
    lanes = text.let(f"bitcast <32 x i1> {here} to i32")
    highest = f"splat (i32 {CODES['lane']['exited']})"
    rest = text.let(f"select <32 x i1> {here}, <32 x i32> {highest}, <32 x i32> {next_}")
    least = text.let(f"call i32 @llvm.vector.reduce.smin.v32i32(<32 x i32> {rest})")
    text.activate(lanes)
    text.do(f"store i32 {least}, ptr %least")
    cases = " ".join(f"i32 {number}, label %in{number}" for number in range(blocks))
    text.do(f"switch i32 {lowest}, label %stop [ {cases} ]")


def _enter(text: BlockText, number: int, block: Block) -> None:
    """Write how parked lanes enter a block, and what it begins with."""
    text.begin_block(number, max(1, len(block.instructions)))
    text.label(f"in{number}")
    text.read_parked(number)
    text.do(f"br label %b{number}")
    text.label(f"b{number}")
    text.do(f"{text.active_bits} = load i32, ptr %active")
    text.do(f"{text.active} = bitcast i32 {text.active_bits} to <32 x i1>")
    if number in text.tables.incomplete:
        totals = text.load("ptr", "%m", offset_of(MACHINE, "totals.executions"))
        text.do(f"store i64 1, ptr {text.at(totals, 8 * number)}")
    turn = text.let(f"sub i64 {text.let('load i64, ptr %turn')}, {text.length}")
    text.do(f"store i64 {turn}, ptr %turn")


def _write_block(text: BlockText, number: int, block: Block) -> None:
    """Write the operations of a block and its end."""
    used = used_values(block)
    for operation in block.operations:
        if operation.op is not Op.GET or operation.results[0].index in used:
            _write(text, operation)
    if any(operation.op in _FAILING for operation in block.operations):
        text.stop_if_failed()
    if any(o.op is Op.SET and o.data in text.tables.leavers for o in block.operations):
        text.do("call void @converge_waiting_lanes(ptr %m, ptr %w)")
        text.do("store i32 -1, ptr %least")  # so that the choice is made anew
    live = text.tables.live
    text.keep(frozenset[str]().union(*(live[target] for target in successors(text.tables.routine, block))))
    ENDS[block.end.end](text, number, block.end)


def _write(text: BlockText, operation: Operation) -> None:
    """Write one operation, unless it only counts what is moved."""
    op = operation.op
    if op is Op.LOAD and isinstance(operation.data, Memory) and operation.data.probe:
        return
    if op is Op.CALL and called(operation)[0] == "texture_rows":
        for result in operation.results:
            text.bind(result, "zeroinitializer", scalar=False)
        return
    if op in _PURE:
        if op is Op.CONST and isinstance(operation.data, int):
            text.constants[operation.results[0].index] = operation.data
        if op is Op.SPECIAL and operation.data in _CLOCKS:
            text.store("i64", text.let("load i64, ptr %turn"), "%w", offset_of(WARP, "turn"))
        _PURE[op](text, operation)
    elif op is Op.GET:
        text.get(operation.results[0], str(operation.data))
    elif op is Op.SET:
        mask = operation.mask or (operation.args[1] if len(operation.args) > 1 else None)
        text.set(str(operation.data), operation.args[0], mask)
    elif op is Op.CALL:
        memory_text.call(text, operation, len(text.tables.calls))
        text.tables.calls.append(operation)
    elif op is not Op.COUNT:
        _access(text, operation)


def _access(text: BlockText, operation: Operation) -> None:
    """LOAD STORE ATOMIC BULK."""
    if operation.op is Op.LOAD and is_operand(operation, text.constants):
        memory_text.read_operand(text, operation, text.constants[operation.args[0].index], {})
        return
    row = len(text.tables.operations)
    text.tables.operations.append(operation)
    assert isinstance(operation.data, Memory)
    write = {
        Op.LOAD: accesses.load, Op.STORE: accesses.store, Op.ATOMIC: accesses.atomic,
        Op.BULK: memory_text.bulk,
    }  # fmt: skip
    write[operation.op](text, operation, row)
