"""LLVM text of memory operations in the functional engine: calls of functions that make one access."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warpwatt.emulate.functional.access_text import AccessKind
from warpwatt.emulate.ir import Memory
from warpwatt.emulate.native.lanes import wide
from warpwatt.emulate.native.memory_text import narrow
from warpwatt.emulate.native.records import MACHINE, RANGE, offset_of
from warpwatt.emulate.native.values import vector_type

if TYPE_CHECKING:
    from warpwatt.emulate.functional.block_text import BlockText
    from warpwatt.emulate.ir import Operation, Value


def load(text: BlockText, operation: Operation, row: int) -> None:
    """LOAD."""
    memory = operation.data
    assert isinstance(memory, Memory)
    address, on = operation.args[0], text.on(operation.mask)
    kind = AccessKind.of(memory, stores=False)
    if kind is None:
        _call(text, "load_lanes_directly", wide(text, address), row, on)
        _read_values(text, memory, operation.results)
        return
    found = text.let(f"call {kind.result} @{kind.name}({_arguments(text, kind, memory, address, row, on)})")
    for number, result in enumerate(operation.results):
        value = text.let(f"extractvalue {kind.result} {found}, {number}")
        text.bind(result, _cast(text, value, kind.lanes, vector_type(result.type)), scalar=False)


def store(text: BlockText, operation: Operation, row: int) -> None:
    """STORE."""
    memory = operation.data
    assert isinstance(memory, Memory)
    address, *rest = operation.args
    values, on = rest[: memory.count], text.on(operation.mask)
    kind = AccessKind.of(memory, stores=True)
    if kind is None:
        _write_values(text, memory, values)
        _call(text, "store_lanes_directly", wide(text, address), row, on)
        return
    made = [_cast(text, text.vector(v), vector_type(v.type), kind.lanes) for v in values]
    given = "".join(f", {kind.lanes} {name}" for name in made)
    text.do(f"call void @{kind.name}({_arguments(text, kind, memory, address, row, on)}{given})")


def atomic(text: BlockText, operation: Operation, row: int) -> None:
    """ATOMIC."""
    memory = operation.data
    assert isinstance(memory, Memory)
    address, *operands = operation.args
    operands = operands[: 2 if memory.operation == "cas" else 1]
    for number, value in enumerate(operands):
        text.store("<32 x i64>", wide(text, value), "%m", offset_of(MACHINE, "values") + 256 * number, 64)
    _call(text, "atomic_lanes_directly", wide(text, address), row, text.on(operation.mask))
    for result in operation.results:
        text.bind(result, narrow(text, result.type, offset_of(MACHINE, "old_values")), scalar=False)


def _arguments(text: BlockText, kind: AccessKind, memory: Memory, address: Value, row: int, on: str) -> str:
    """Return the arguments of the function of a kind of access but the values that it stores."""
    text.tables.kinds.add(kind)
    if memory.space == "shared":
        name = text.vector(address)
        where, range_ = _cast_width(text, name, address.type.bits, 32), "%shared"
    else:
        where, range_ = wide(text, address), text.at("%ranges", row * RANGE.itemsize)
    return f"ptr %m, ptr %w, ptr {range_}, i32 {row}, i32 {on}, <32 x i{kind.address_bits}> {where}"


def _cast_width(text: BlockText, name: str, start: int, end: int) -> str:
    """Return addresses of shared memory in 32 bits; those beyond stay out of bounds."""
    if start == end:
        return name
    limit = f"splat (i{start} {(1 << end) - 1})"
    kind = f"<32 x i{start}>"
    least = text.let(f"call {kind} @llvm.umin.v32i{start}({kind} {name}, {kind} {limit})")
    return text.let(f"trunc {kind} {least} to <32 x i{end}>")


def _cast(text: BlockText, name: str, start: str, end: str) -> str:
    return name if start == end else text.let(f"bitcast {start} {name} to {end}")


def _call(text: BlockText, name: str, addresses: str, row: int, on: str) -> None:
    """Call a function of the run time on 32 addresses."""
    text.store("<32 x i64>", addresses, "%m", offset_of(MACHINE, "addresses"), 64)
    text.do(f"call void @{name}(ptr %m, ptr %w, i32 {row}, i32 {on})")


def _read_values(text: BlockText, memory: Memory, results: tuple[Value, ...]) -> None:
    kind, size = vector_type(memory.element), 4 * memory.element.bits
    for number, result in enumerate(results):
        place = offset_of(MACHINE, "values") + size * number
        text.bind(result, text.load(kind, "%m", place, min(size, 64)), scalar=False)


def _write_values(text: BlockText, memory: Memory, values: list[Value]) -> None:
    kind, size = vector_type(memory.element), 4 * memory.element.bits
    for number, value in enumerate(values):
        place = offset_of(MACHINE, "values") + size * number
        text.store(kind, text.vector(value), "%m", place, min(size, 64))
