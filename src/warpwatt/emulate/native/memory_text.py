"""LLVM text of LOAD, STORE, ATOMIC and CALL: arguments to memory, a call of the runtime, results back."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from warpwatt.emulate.ir import Memory, Op, Type
from warpwatt.emulate.native import textures
from warpwatt.emulate.native.lanes import wide
from warpwatt.emulate.native.records import CODES, MACHINE, offset_of
from warpwatt.emulate.native.tables import BULK_ARGUMENTS, called
from warpwatt.emulate.native.values import literal, scalar_type, vector_type

if TYPE_CHECKING:
    from warpwatt.emulate.ir import Operation, Value
    from warpwatt.emulate.native.values import Text


Read = dict[tuple[str, int, int], str]
"""What was read of constant banks: name by type, bank and address; banks themselves at address -1."""


def read_operand(text: Text, operation: Operation, address: int, read: Read) -> None:
    """LOAD from a constant bank at a known address. ``read`` is what was before, in code that leads here."""
    memory = operation.data
    assert isinstance(memory, Memory)
    whole = ("ptr", memory.bank, -1)
    if whole not in read:
        banks = text.load("ptr", "%m", offset_of(MACHINE, "constant.bases"))
        read[whole] = text.load("ptr", banks, 8 * memory.bank)
    kind, size = scalar_type(memory.element), memory.element.bits // 8
    for number, result in enumerate(operation.results):
        place = (kind, memory.bank, address + size * number)
        if place not in read:
            read[place] = text.load(kind, read[whole], place[2], 1)
        text.bind(result, read[place], scalar=True)
    _mask_results(text, operation)


def load(text: Text, operation: Operation, row: int) -> None:
    """LOAD."""
    memory, mask = operation.data, operation.mask
    assert isinstance(memory, Memory)
    (address, *_) = operation.args
    size = 32 * memory.element.bits // 8
    own = memory.space in ("local", "generic")  # at one address, each lane has its own local memory
    if text.is_scalar(address) and not own:
        _call_uniform(text, address, row, mask)
        if memory.probe:
            return
        kind = scalar_type(memory.element)
        for number, result in enumerate(operation.results):
            place = offset_of(MACHINE, "values") + size // 32 * number
            text.bind(result, text.load(kind, "%m", place, 1), scalar=True)
        _mask_results(text, operation)
        return
    _call(text, "load_lanes", address, row, mask)
    if memory.probe:
        return
    for number, result in enumerate(operation.results):
        place = offset_of(MACHINE, "values") + size * number
        text.bind(result, text.load(vector_type(memory.element), "%m", place, min(size, 64)), scalar=False)


def _mask_results(text: Text, operation: Operation) -> None:
    """Make scalars that were read 0 where the mask does not hold."""
    mask = operation.mask
    if mask is None:
        return
    scalar = text.is_scalar(mask)
    truth, name = text.kind(Type.I1, scalar=scalar), text.operand(mask, scalar=scalar)
    for result in operation.results:
        kind = text.kind(result.type, scalar=scalar)
        read, zero = text.values[result.index], literal(result.type, 0)
        if not scalar:
            read, zero = text.splat(result.type, read), text.splat(result.type, zero)
            text.scalars.discard(result.index)
        text.values[result.index] = text.let(f"select {truth} {name}, {kind} {read}, {kind} {zero}")


def store(text: Text, operation: Operation, row: int) -> None:
    """STORE."""
    memory = operation.data
    assert isinstance(memory, Memory)
    address, *values = operation.args
    if not memory.probe:
        _spill(text, memory, tuple(values[: memory.count]))
    _call(text, "store_lanes", address, row, operation.mask)


def atomic(text: Text, operation: Operation, row: int) -> None:
    """ATOMIC."""
    memory = operation.data
    assert isinstance(memory, Memory)
    address, *operands = operation.args
    operands = operands[: 2 if memory.operation == "cas" else 1]
    for number, value in enumerate(operands):
        text.store("<32 x i64>", wide(text, value), "%m", offset_of(MACHINE, "values") + 256 * number, 64)
    _call(text, "atomic_lanes", address, row, operation.mask)
    for result in operation.results:
        text.bind(result, narrow(text, result.type, offset_of(MACHINE, "old_values")), scalar=False)


def bulk(text: Text, operation: Operation, row: int) -> None:
    """BULK."""
    for place in range(BULK_ARGUMENTS):
        given = operation.args[place] if place < len(operation.args) else None
        name = "zeroinitializer" if given is None else wide(text, given)
        text.store("<32 x i64>", name, "%m", offset_of(MACHINE, "values") + 256 * place, 64)
    text.do(f"call void @bulk_copy(ptr %m, ptr %w, i32 {row}, i32 {text.on(operation.mask)})")


def call(text: Text, operation: Operation, number: int) -> None:
    """CALL."""
    name, constants = called(operation)
    for place, value in enumerate(operation.args):
        text.store("<32 x i64>", wide(text, value), "%m", offset_of(MACHINE, "values") + 256 * place, 64)
    if name == "barrier_result":
        how = CODES["barrier_result"][str(constants[0]) if constants else "popc"]
        text.do(f"call void @read_barrier_results(ptr %m, ptr %w, i32 {how})")
    elif of_texture := textures.call_text(name, constants, len(operation.args), text.on(operation.mask)):
        text.do(of_texture)
    else:
        text.store("ptr", "%w", "%m", offset_of(MACHINE, "caller"))
        text.do(f"call void @call_function(ptr %m, i32 {number}, i32 {text.on(operation.mask)})")
    for place, result in enumerate(operation.results):
        narrowed = narrow(text, result.type, offset_of(MACHINE, "values") + 256 * place)
        text.bind(result, narrowed, scalar=False)


def narrow(text: Text, type_: Type, place: int) -> str:
    """Return 64-bit patterns in the machine as values of a type."""
    name = text.load("<32 x i64>", "%m", place, 64)
    if type_.bits < 64:
        name = text.let(f"trunc <32 x i64> {name} to <32 x i{type_.bits}>")
    if type_ in (Type.F32, Type.F64):
        name = text.let(f"bitcast <32 x i{type_.bits}> {name} to {vector_type(type_)}")
    return name


def _spill(text: Text, memory: Memory, values: tuple[Value, ...]) -> None:
    size = 32 * memory.element.bits // 8
    for number, value in enumerate(values):
        place = offset_of(MACHINE, "values") + size * number
        text.store(vector_type(value.type), text.vector(value), "%m", place, min(size, 64))


def _call(text: Text, name: str, address: Value, row: int, mask: Value | None) -> None:
    """Call a runtime function on 32 addresses."""
    if address.index in text.sums:
        base, offset = text.sums[address.index]
        kept = -1 if address.type is Type.I64 else (1 << address.type.bits) - 1
        slot = text.slot(base, partial(wide, text))
        text.do(f"call void @place(ptr %m, ptr {slot}, i64 {offset}, i64 {kept})")
    else:
        text.store("<32 x i64>", wide(text, address), "%m", offset_of(MACHINE, "addresses"), 64)
    text.do(f"call void @{name}(ptr %m, ptr %w, i32 {row}, i32 {text.on(mask)})")


def _call_uniform(text: Text, address: Value, row: int, mask: Value | None) -> None:
    """Load from one address that all lanes have."""
    at = text.scalar(address)
    if address.type is not Type.I64:
        at = text.let(f"zext i{address.type.bits} {at} to i64")
    text.do(f"call void @load_uniform(ptr %m, ptr %w, i32 {row}, i32 {text.on(mask)}, i64 {at})")


MEMORY = (Op.LOAD, Op.STORE, Op.ATOMIC)
PLACE = f"""
define internal void @place(ptr %m, ptr %bases, i64 %offset, i64 %kept) {{
  %base = load <32 x i64>, ptr %bases, align 64
  %one = insertelement <32 x i64> poison, i64 %offset, i32 0
  %all = shufflevector <32 x i64> %one, <32 x i64> poison, <32 x i32> zeroinitializer
  %sum = add <32 x i64> %base, %all
  %ones = insertelement <32 x i64> poison, i64 %kept, i32 0
  %mask = shufflevector <32 x i64> %ones, <32 x i64> poison, <32 x i32> zeroinitializer
  %made = and <32 x i64> %sum, %mask
  %p = getelementptr i8, ptr %m, i64 {offset_of(MACHINE, "addresses")}
  store <32 x i64> %made, ptr %p, align 64
  ret void
}}
"""
"""Writes addresses that lie behind bases that many accesses share: compiled once, not in each of them."""
