"""Slices: nothing that can be counted changes."""

from dataclasses import fields

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.emulate.reference import run
from warpwatt.core.arguments import Buffer, DType, Fill
from warpwatt.core.launch import Dim3, Launch
from warpwatt.core.program import Instruction, Level, Parameter, Program
from warpwatt.emulate.builder import Builder
from warpwatt.emulate.context import load_launch
from warpwatt.emulate.ir import Op, RegisterKind, Routine, Type
from warpwatt.emulate.layout import SHARED_SLOT, SLOT_BITS
from warpwatt.emulate.run import Limits, Stop
from warpwatt.emulate.slice import control_slice
from warpwatt.emulate.steering import data_dependence
from warpwatt.program.binding import bind

WORDS = 64
REGISTERS = ("a", "b", "c", "d")
STATEMENTS = st.tuples(
    st.sampled_from(
        ["add", "xor", "mul", "load", "store", "keep", "fetch", "either", "skip", "ballot", "atomic"]
    ),
    st.sampled_from(REGISTERS),
    st.sampled_from(REGISTERS),
    st.sampled_from(REGISTERS),
)


def routine_of(statements, trips: int) -> Routine:
    """Return a loop of statements over buffers x (read) and y (written), and shared memory."""
    builder = Builder()
    for name in REGISTERS:
        builder.registers[name] = RegisterKind(Type.I32)
    builder.registers["i"] = RegisterKind(Type.I32)
    builder.at(0)
    for k, name in enumerate(REGISTERS):
        thread = builder.special("tid.x")
        builder.set(name, builder.op(Op.ADD, thread, builder.const(Type.I32, k * 7)))
    builder.set("i", builder.const(Type.I32, 0))
    builder.begin("top")
    for index, statement in enumerate(statements, start=1):
        builder.at(index)
        _write(builder, statement, index)
    builder.at(len(statements) + 1)
    after = builder.op(Op.ADD, builder.get("i"), builder.const(Type.I32, 1))
    builder.set("i", after)
    limit = builder.op(Op.AND, builder.get("a"), builder.const(Type.I32, 3))
    bound = builder.op(Op.ADD, limit, builder.const(Type.I32, trips))
    builder.branch("top", builder.op(Op.SLT, after, bound))
    builder.at(len(statements) + 2)
    builder.exit()
    parameters = (Parameter("x", "u64", 8, 8), Parameter("y", "u64", 8, 8))
    listed = tuple(Instruction(i, "op") for i in range(len(statements) + 3))
    program = Program("k", Level.PTX, "sm_90", listed, parameters=parameters)
    return Routine(program, builder.finish(), builder.registers, tuple(builder.functions))


def _address(builder, register: str, parameter: int):
    zero = builder.const(Type.I64, 8 * parameter)
    (base,) = builder.load("const", zero, Type.I64)
    word = builder.op(Op.AND, builder.get(register), builder.const(Type.I32, WORDS - 1))
    wide = builder.zext(word, Type.I64)
    return builder.op(Op.ADD, base, builder.op(Op.SHL, wide, builder.const(Type.I64, 2)))


def _shared(builder, register: str):
    word = builder.op(Op.AND, builder.get(register), builder.const(Type.I32, 31))
    return builder.op(Op.SHL, word, builder.const(Type.I32, 2))


def _either(builder, register: str):
    """Return a generic address: of shared memory for odd numbers, of x for even ones."""
    window = builder.const(Type.I64, SHARED_SLOT << SLOT_BITS)
    there = builder.op(Op.ADD, window, builder.zext(_shared(builder, register), Type.I64))
    odd = builder.trunc(builder.get(register), Type.I1)
    return builder.select(odd, there, _address(builder, register, 0))


def _write(builder, statement: tuple[str, str, str, str], index: int) -> None:
    kind, to, left, right = statement
    match kind:
        case "add" | "xor" | "mul":
            builder.set(to, builder.op(Op(kind), builder.get(left), builder.get(right)))
        case "load":
            (value,) = builder.load("global", _address(builder, left, 0), Type.I32)
            builder.set(to, value)
        case "store":
            builder.store("global", _address(builder, left, 1), builder.get(right))
        case "keep":
            builder.store("shared", _shared(builder, left), builder.get(right))
        case "fetch":
            (value,) = builder.load("shared", _shared(builder, left), Type.I32)
            builder.set(to, value)
        case "either":
            (value,) = builder.load("generic", _either(builder, left), Type.I32)
            builder.set(to, value)
        case "ballot":
            odd = builder.trunc(builder.get(left), Type.I1)
            builder.set(to, builder.ballot(odd))
        case "atomic":
            old = builder.atomic("global", "add", _address(builder, left, 1), builder.get(right))
            builder.set(to, old)
        case "skip":
            odd = builder.trunc(builder.get(left), Type.I1)
            builder.branch(f"behind {index}", odd)
            builder.at(index)
            builder.set(to, builder.get(right))
            builder.begin(f"behind {index}")


def launched(routine: Routine):
    arguments = {
        "x": Buffer(DType.I32, (WORDS,), Fill.ARANGE),
        "y": Buffer(DType.I32, (WORDS,), Fill.ZEROS),
    }
    context, memory = load_launch(
        bind(routine.program, Launch(Dim3(2), Dim3(48), dynamic_shared=128, arguments=arguments))
    )
    return run(routine, context, memory, range(2), Limits(20_000), record=True, warps_at_once=8)


@settings(max_examples=60)
@given(st.lists(STATEMENTS, min_size=1, max_size=10), st.integers(1, 3))
def test_counts_and_accesses_are_equal_with_and_without(statements, trips):
    routine = routine_of(statements, trips)
    whole, part = launched(routine), launched(control_slice(routine))
    assert whole.stop is part.stop is Stop.DONE
    np.testing.assert_array_equal(whole.executions, part.executions)
    np.testing.assert_array_equal(whole.lanes, part.lanes)
    for what in ("accesses", "trace"):
        one, other = getattr(whole, what), getattr(part, what)
        for field in fields(one):
            np.testing.assert_array_equal(getattr(one, field.name), getattr(other, field.name))


def test_arithmetic_on_results_falls_away():
    statements = [("load", "b", "c", "c"), *[("mul", "b", "b", "b")] * 8, ("store", "a", "c", "b")]
    routine = routine_of(statements, 2)
    short = control_slice(routine)
    assert not [o for b in short.blocks for o in b.operations if o.op is Op.MUL]
    assert "b" not in short.registers


def test_data_that_steers_is_named():
    free = data_dependence(routine_of([("load", "b", "c", "c"), ("store", "a", "c", "b")], 2))
    assert not free.control
    assert not free.addresses
    steered = data_dependence(routine_of([("load", "a", "c", "c"), ("store", "b", "c", "b")], 2))
    assert steered.control == {1: frozenset({"x"})}
    gathered = data_dependence(routine_of([("load", "b", "c", "c"), ("load", "d", "b", "b")], 2))
    assert gathered.control == {}
    assert gathered.addresses == {1: frozenset({"x"})}
    through_shared = [("load", "b", "c", "c"), ("keep", "c", "c", "b"), ("fetch", "a", "c", "c")]
    assert data_dependence(routine_of(through_shared, 2)).control == {1: frozenset({"x"})}


def test_what_is_written_elsewhere_does_not_matter():
    statements = [("load", "a", "c", "c"), ("mul", "b", "b", "b"), ("store", "d", "c", "b")]
    short = control_slice(routine_of(statements, 2))
    assert not [o for b in short.blocks for o in b.operations if o.op is Op.MUL]


def straight(*steps) -> Routine:
    """Return a routine without loops: each step writes operations."""
    builder = Builder()
    builder.registers["a"] = RegisterKind(Type.I32)
    for index, step in enumerate(steps):
        builder.at(index)
        step(builder)
    builder.at(len(steps))
    builder.exit()
    parameters = (Parameter("x", "u64", 8, 8), Parameter("y", "u64", 8, 8))
    listed = tuple(Instruction(i, "op") for i in range(len(steps) + 1))
    program = Program("k", Level.PTX, "sm_90", listed, parameters=parameters)
    return Routine(program, builder.finish(), builder.registers, tuple(builder.functions))


def pointer(builder, parameter: int):
    return builder.load("const", builder.const(Type.I64, 8 * parameter), Type.I64)[0]


def product(builder):
    """Store what was multiplied in shared memory, where the address was: nobody steers by it."""
    (value,) = builder.load("global", pointer(builder, 0), Type.I32)
    builder.store("shared", builder.const(Type.I32, 0), builder.op(Op.MUL, value, value))


def place(builder):
    builder.store("shared", builder.const(Type.I32, 0), builder.special("tid.x"))


def look(builder):
    (word,) = builder.load("shared", builder.const(Type.I32, 0), Type.I32)
    at = builder.op(Op.ADD, pointer(builder, 1), builder.zext(word, Type.I64))
    builder.store("global", at, builder.const(Type.I32, 1))


def multiplied(routine: Routine) -> bool:
    return any(o.op is Op.MUL for b in control_slice(routine).blocks for o in b.operations)


def test_what_shared_memory_holds_after_the_last_look_at_it_does_not_matter():
    assert not multiplied(straight(place, look, product))
    assert multiplied(straight(product, look, place))
    assert multiplied(straight(place, look, product, look))


def tile(kind: str):
    """A copy of a tile by the tensor map that stands where the first parameter points."""

    def copy(builder):
        shared, zero = builder.const(Type.I32, 0), builder.i32(0)
        builder.bulk(kind, shared, pointer(builder, 0), coordinates=(zero,))

    return copy


def look_in_a_tile(builder):
    (word,) = builder.load("shared", builder.special("tid.x"), Type.I32)
    at = builder.op(Op.ADD, pointer(builder, 1), builder.zext(word, Type.I64))
    builder.store("global", at, builder.const(Type.I32, 1))


def look_at_x(builder):
    (word,) = builder.load("global", pointer(builder, 0), Type.I32)
    at = builder.op(Op.ADD, pointer(builder, 1), builder.zext(word, Type.I64))
    builder.store("global", at, builder.const(Type.I32, 1))


def test_a_tile_is_not_stored_where_its_own_tensor_map_stands():
    """Unless somebody loads from there as well: then it is memory like other."""
    assert not multiplied(straight(product, tile("store")))
    assert multiplied(straight(product, tile("store"), look_at_x))


def test_a_tile_that_arrives_after_the_last_look_at_shared_memory_is_not_looked_at():
    """What would be read for it is anywhere, and so would be what a tile is stored to."""
    assert not multiplied(straight(place, look_in_a_tile, tile("load"), product, tile("store")))
    assert multiplied(straight(place, tile("load"), look_in_a_tile, product, tile("store")))


def test_a_generic_load_may_look_at_shared_memory_or_a_buffer():
    """Clang leaves the choice between a tile and the array behind it to one load."""
    statements = [("mul", "b", "b", "b"), ("keep", "c", "c", "b"), ("either", "a", "c", "c")]
    short = control_slice(routine_of(statements, 2))
    assert [o for b in short.blocks for o in b.operations if o.op is Op.MUL]
    named = data_dependence(routine_of([("either", "a", "c", "c"), ("store", "b", "c", "b")], 2))
    assert named.control == {1: frozenset({"x", "shared"})}


def test_in_a_loop_every_store_may_be_looked_at_again():
    again = [
        ("load", "b", "c", "c"),
        ("fetch", "a", "c", "c"),
        ("mul", "b", "b", "b"),
        ("keep", "c", "c", "b"),
    ]
    assert multiplied(routine_of(again, 2))


def test_pointers_exchanged_through_shared_memory_keep_their_buffer():
    """What is stored through one may then not be what a load of another buffer sees."""

    def put(builder):
        builder.store("shared", builder.const(Type.I32, 8), pointer(builder, 1))

    def through(builder):
        (value,) = builder.load("global", pointer(builder, 0), Type.I32)
        (at,) = builder.load("shared", builder.const(Type.I32, 8), Type.I64)
        builder.store("global", at, builder.op(Op.MUL, value, value))

    def steer(builder):
        (word,) = builder.load("global", pointer(builder, 0), Type.I32)
        builder.store("global", builder.op(Op.ADD, pointer(builder, 1), builder.zext(word, Type.I64)), word)

    assert not multiplied(straight(put, through, steer))
    assert multiplied(straight(through, put, steer))  # nothing is known of what was there before


def test_lanes_under_a_condition_that_products_decide_are_not_counted():
    def scored(name):
        def write(builder):
            word = builder.load("global", pointer(builder, 0), Type.I32)[0]
            (score,) = builder.call(name, (), (Type.I32, 1), word)
            builder.guard = builder.trunc(score, Type.I1)
            builder.count()
            builder.guard = None

        return write

    counted = {
        name: [
            o for b in control_slice(straight(scored(name))).blocks for o in b.operations if o.op is Op.COUNT
        ]
        for name in ("mma", "malloc")
    }
    assert counted["mma"] == []
    assert len(counted["malloc"]) == 1
