"""Predicated writes behind which nobody looks: memory stays the same, and what nobody reads falls away."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.emulate.reference import run
from warpwatt.core.arguments import Buffer, DType, Fill
from warpwatt.core.launch import Dim3, Launch
from warpwatt.core.program import Instruction, Level, Parameter, Program
from warpwatt.emulate.builder import Builder
from warpwatt.emulate.context import load_launch
from warpwatt.emulate.guarded_reads import without_unread
from warpwatt.emulate.ir import Op, RegisterKind, Routine, Type
from warpwatt.emulate.run import Limits, Stop
from warpwatt.program.binding import bind

NUMBERS, PREDICATES = ("a", "b", "c"), ("p", "q")
GUARDS = st.sampled_from(["", "p", "!p", "q", "!q"])
STATEMENTS = st.tuples(
    st.sampled_from(["move", "add", "store", "store", "start", "first", "test", "flip", "block", "skip"]),
    GUARDS,
    st.sampled_from(NUMBERS),
    st.sampled_from(NUMBERS),
    st.sampled_from(PREDICATES),
)


def guard(builder: Builder, text: str) -> None:
    builder.guard = None
    if text:
        value = builder.get(text[-1])
        builder.guard = builder.not_(value) if text[0] == "!" else value


def write(builder: Builder, statement: tuple[str, str, str, str, str], index: int) -> None:
    """Write a statement; a store goes to a place of its own, so that every value that is read is seen."""
    kind, under, to, of, predicate = statement
    if kind == "block":
        builder.begin()
        return
    guard(builder, under)
    if kind == "move":
        builder.set(to, builder.i32(100 + index))
    elif kind == "add":
        builder.set(to, builder.op(Op.ADD, builder.get(to), builder.get(of)))
    elif kind in ("store", "start"):
        if kind == "start":  # by the first lane alone, as what a thread starts for its block
            lowest = builder.op(Op.CLZ, builder.op(Op.BREV, builder.active()))
            first = builder.op(Op.EQ, builder.lane(), lowest)
            builder.guard = first if builder.guard is None else builder.and_(builder.guard, first)
        (base,) = builder.load("const", builder.const(Type.I64, 0), Type.I64)
        place = builder.op(Op.ADD, builder.special("tid.x"), builder.i32(32 * index))
        at = builder.op(Op.SHL, builder.zext(place, Type.I64), builder.const(Type.I64, 2))
        builder.store("global", builder.op(Op.ADD, base, at), builder.get(of))
    elif kind == "first":  # of the lanes where a predicate holds; unchanged where there is none
        builder.guard = None
        lanes = builder.ballot(builder.get(predicate))
        value = builder.shuffle(builder.get(of), builder.op(Op.CLZ, builder.op(Op.BREV, lanes)))
        some = builder.op(Op.NE, lanes, builder.i32(0))
        builder.set(to, builder.select(some, value, builder.get(to)))
    elif kind == "test":
        builder.set(predicate, builder.trunc(builder.get(of), Type.I1))
    elif kind == "flip":
        builder.set(predicate, builder.not_(builder.get(predicate)))
    else:
        builder.branch(f"behind {index}", builder.get(predicate))
        builder.guard = None
        builder.at(index)
        builder.set(to, builder.i32(index))
        builder.begin(f"behind {index}")


def routine_of(statements) -> Routine:
    builder = Builder()
    builder.at(0)
    for k, name in enumerate(NUMBERS):
        builder.registers[name] = RegisterKind(Type.I32)
        builder.set(name, builder.op(Op.LSHR, builder.special("tid.x"), builder.i32(k)))
    for name in PREDICATES:
        builder.registers[name] = RegisterKind(Type.I1)
        builder.set(name, builder.trunc(builder.special("tid.x"), Type.I1))
    for index, statement in enumerate(statements, 1):
        builder.guard = None
        builder.at(index)
        write(builder, statement, index)
    builder.guard = None
    builder.at(len(statements) + 1)
    builder.exit()
    listed = tuple(Instruction(i, "op") for i in range(len(statements) + 2))
    program = Program("k", Level.PTX, "sm_90", listed, parameters=(Parameter("x", "u64", 8, 8),))
    return Routine(program, builder.finish(), builder.registers)


def written(routine: Routine) -> np.ndarray:
    arguments = {"x": Buffer(DType.I32, (32 * 16,), Fill.ZEROS)}
    context, memory = load_launch(bind(routine.program, Launch(Dim3(1), Dim3(32), arguments=arguments)))
    assert run(routine, context, memory, range(1), Limits(5_000)).stop is Stop.DONE
    return memory.array("x").copy()


@settings(max_examples=80)
@given(st.lists(STATEMENTS, min_size=2, max_size=12))
def test_memory_holds_the_same(statements):
    routine = routine_of(statements)
    np.testing.assert_array_equal(written(routine), written(without_unread(routine)))


def kept(*statements) -> int:
    """Return how many SELECTs still choose."""
    routine = without_unread(routine_of(statements))
    choices = [o for b in routine.blocks for o in b.operations if o.op is Op.SELECT]
    return sum(o.args[1] != o.args[2] for o in choices)


def test_what_the_same_predicate_reads_is_all_that_is_read():
    move, block = ("move", "p", "a", "a", "p"), ("block", "", "a", "a", "p")
    assert kept(move, block, ("store", "p", "a", "a", "p")) == 0
    assert kept(move, block, ("store", "!p", "a", "a", "p")) == 0  # the old value alone is read
    assert kept(move, block, ("store", "", "a", "a", "p")) == 1
    assert kept(move, block, ("store", "q", "a", "a", "p")) == 1
    assert kept(move, ("flip", "", "a", "a", "p"), block, ("store", "!p", "a", "a", "p")) == 0
    assert kept(move, ("test", "", "a", "b", "p"), block, ("store", "p", "a", "a", "p")) == 1


def test_the_first_lane_of_a_predicate_reads_what_is_written_under_it():
    """As a uniform register gets a value: whatever the other lanes hold is read by nobody."""
    move, block = ("move", "p", "a", "a", "p"), ("block", "", "a", "a", "p")
    first = ("first", "", "b", "a", "p")
    assert kept(move, block, first) == kept(first)
    assert kept(move, block, ("first", "", "b", "a", "q")) == 1 + kept(first)


def test_what_one_lane_starts_under_a_predicate_reads_what_is_written_under_it():
    """As a copy's tensor map gets its address: the attention of a tutorial computed all products else."""
    move, block = ("move", "p", "a", "a", "p"), ("block", "", "a", "a", "p")
    assert kept(move, block, ("start", "p", "a", "a", "p")) == 0
    assert kept(move, block, ("start", "", "a", "a", "p")) == 1
    assert kept(move, block, ("start", "q", "a", "a", "p")) == 1
