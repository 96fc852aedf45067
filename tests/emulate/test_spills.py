"""Spilled registers as registers: memory ends up the same, and products spilled beside pointers fall away."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.emulate.reference import run
from warpwatt.core.arguments import Buffer, DType, Fill
from warpwatt.core.launch import Dim3, Launch
from warpwatt.core.program import Instruction, Level, Parameter, Program
from warpwatt.emulate.builder import Builder
from warpwatt.emulate.context import load_launch
from warpwatt.emulate.ir import Op, RegisterKind, Routine, Type, Value
from warpwatt.emulate.lift.sass.constants import stack_word
from warpwatt.emulate.run import Limits, Stop
from warpwatt.emulate.slice import control_slice
from warpwatt.emulate.spills import without_spills
from warpwatt.program.binding import bind

TARGET = "sm_90"
NUMBERS = ("a", "b")
STATEMENTS = st.tuples(
    st.sampled_from(
        ["spill", "spill half", "spill two", "reload", "reload half", "add", "write", "look", "block"]
    ),
    st.booleans(),
    st.sampled_from(NUMBERS),
    st.sampled_from([0, 4, 8]),
)


def place(builder: Builder, slot: int) -> Value:
    return builder.op(Op.ADD, builder.get("stack"), builder.i32(slot))


def number(builder: Builder, index: int) -> Value:
    return builder.op(Op.ADD, builder.special("tid.x"), builder.i32(1000 * index))


def write(builder: Builder, statement: tuple[str, bool, str, int], index: int) -> None:
    """Write a statement; every value that is written goes to a place of its own."""
    kind, guarded, name, slot = statement
    builder.guard = builder.trunc(builder.special("tid.x"), Type.I1) if guarded else None
    if kind == "block":
        builder.guard = None
        builder.begin()
    elif kind == "add":
        builder.set(name, builder.op(Op.ADD, builder.get(name), number(builder, index)))
    elif kind == "spill":
        builder.store("local", place(builder, slot), builder.get(name))
    elif kind == "spill two":
        builder.store("local", place(builder, slot & 8), builder.get("a"), builder.get("b"))
    elif kind == "spill half":
        builder.store("local", place(builder, 12), builder.trunc(builder.get(name), Type.I16))
    elif kind == "spill anywhere":  # at one word or another, as a lane's number says
        odd = builder.op(Op.AND, builder.special("tid.x"), builder.i32(1))
        at = builder.op(Op.ADD, place(builder, slot), builder.op(Op.SHL, odd, builder.i32(2)))
        builder.store("local", at, builder.get(name))
    elif kind == "reload":
        (value,) = builder.load("local", place(builder, slot), Type.I32)
        builder.set(name, value)
    elif kind == "reload half":
        (half,) = builder.load("local", place(builder, 12), Type.I16)
        builder.set(name, builder.zext(half, Type.I32))
    else:
        value, looks = builder.get(name), kind == "look"  # a place that the value decides, or its own
        lane = builder.op(Op.AND, value, builder.i32(31)) if looks else builder.special("tid.x")
        at = builder.op(Op.ADD, lane, builder.i32(32 * index))
        offset = builder.op(Op.SHL, builder.zext(at, Type.I64), builder.const(Type.I64, 2))
        address = builder.op(Op.ADD, builder.constant(0, 0x210, Type.I64), offset)
        builder.store("global", address, builder.i32(index) if looks else value)


def routine_of(statements: list[tuple[str, bool, str, int]]) -> Routine:
    """Return statements after a stack of 16 bytes was made and filled."""
    builder = Builder()
    builder.at(0)
    for name in ("stack", *NUMBERS):
        builder.registers[name] = RegisterKind(Type.I32)
    first = stack_word(TARGET)
    assert first is not None
    builder.set("stack", builder.op(Op.ADD, builder.constant(0, first, Type.I32), builder.i32(-16)))
    for index, name in enumerate(NUMBERS):
        builder.set(name, number(builder, index))
    for slot in (0, 4, 8, 12):
        builder.store("local", place(builder, slot), builder.i32(7 * slot))
    for index, statement in enumerate(statements, 1):
        builder.at(index)
        write(builder, statement, index)
        builder.guard = None
    builder.at(len(statements) + 1)
    builder.exit()
    listed = tuple(Instruction(i, "op") for i in range(len(statements) + 2))
    parameters = (Parameter("x", "u64", 8, 8),)
    program = Program("k", Level.SASS, TARGET, listed, parameters=parameters, parameter_base=0x210, stack=16)
    return Routine(program, builder.finish(), builder.registers)


def written(routine: Routine) -> np.ndarray:
    arguments = {"x": Buffer(DType.I32, (32 * 16,), Fill.ZEROS)}
    context, memory = load_launch(bind(routine.program, Launch(Dim3(1), Dim3(32), arguments=arguments)))
    found = run(routine, context, memory, range(1), Limits(5_000))
    assert found.stop is Stop.DONE, found
    return memory.array("x").copy()


@settings(max_examples=60, deadline=None)
@given(st.lists(STATEMENTS, min_size=2, max_size=12))
def test_memory_holds_the_same(statements):
    routine = routine_of(
        [*statements, ("reload", False, "a", 0), ("look", False, "a", 0), ("write", False, "b", 0)]
    )
    promoted = without_spills(routine)
    assert any(name.startswith("stack@") for name in promoted.registers)
    np.testing.assert_array_equal(written(routine), written(promoted))


def test_a_pointer_is_told_from_a_sum_that_had_its_slot_before():
    """The sum decides nothing then; where it is reloaded itself it does."""
    first = [("add", False, "b", 0), ("spill", False, "b", 0)]
    last = [("spill", False, "a", 0), ("reload", False, "a", 0), ("look", False, "a", 0)]
    routine, itself = routine_of([*first, *last]), routine_of([*first, *last[1:]])
    assert sums(control_slice(without_spills(routine))) < sums(control_slice(routine))
    assert sums(control_slice(without_spills(itself))) == sums(control_slice(itself))


def test_where_an_address_is_not_known_everything_stays_in_memory():
    spilled: list[tuple[str, bool, str, int]] = [("spill", False, "a", 0), ("spill anywhere", False, "b", 0)]
    routine = routine_of([*spilled, ("reload", False, "a", 0), ("write", False, "a", 0)])
    assert without_spills(routine) is routine


def sums(routine: Routine) -> int:
    """Return how many additions are left."""
    return sum(o.op is Op.ADD for b in routine.blocks for o in b.operations)
