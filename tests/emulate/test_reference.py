"""Warps, divergence, barriers, memory, counts and traces of the reference engine, on routines by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.emulate.native.compare import NATIVE_ONLY
from tests.emulate.routines import ENGINES, apply, element, launch, routine, thread
from warpwatt.emulate.builder import Builder
from warpwatt.emulate.ir import Op, Type
from warpwatt.emulate.layout import LOCAL_SLOT, SHARED_SLOT
from warpwatt.emulate.run import Limits, Stop
from warpwatt.program import transactions

if TYPE_CHECKING:
    from collections.abc import Callable

    from warpwatt.emulate.ir import Value

every_engine = pytest.mark.parametrize("engine", ENGINES.values(), ids=ENGINES)
NOTHING = int(np.iinfo(np.int64).min)


def started() -> Builder:
    b = Builder()
    b.begin("entry")
    b.at(0)
    return b


def lane_parity(b: Builder) -> Value:
    """Return whether the lane's number is odd."""
    return b.compare("ne", b.and_(b.lane(), b.i32(1)), b.i32(0))


def stored(b: Builder, value: Value, parameter: int = 0) -> None:
    b.store("global", element(b, parameter, value.type), value)


def out_of(write: Callable[[Builder], Value], *, threads: int = 64, **more) -> list[int]:
    """Return the 32-bit value each thread computes."""
    b = started()
    stored(b, write(b))
    run, memory = launch(routine(b), {"out": np.zeros(threads, np.uint32)}, block=threads, **more)
    assert run.stop is Stop.DONE
    return memory.array("out").tolist()


# -- the warp -----------------------------------------------------------------------------------------


@every_engine
def test_votes_and_masks(engine):
    assert out_of(lambda b: b.ballot(lane_parity(b)), engine=engine) == [0xAAAAAAAA] * 64
    assert out_of(lambda b: b.active(), threads=40, engine=engine) == [0xFFFFFFFF] * 32 + [0xFF] * 8


@every_engine
@pytest.mark.parametrize("by", [1, 5, 31])
def test_shuffle_takes_lanes_modulo_32(by, engine):
    found = out_of(lambda b: b.shuffle(b.special("tid.x"), b.add(b.lane(), b.i32(by))), engine=engine)
    assert found == [w * 32 + (lane + by) % 32 for w in range(2) for lane in range(32)]


def test_match_finds_equal_values():
    found = out_of(lambda b: b.match(b.op(Op.UREM, b.special("tid.x"), b.i32(5))), threads=32)
    assert found == [sum(1 << m for m in range(32) if m % 5 == lane % 5) for lane in range(32)]


@settings(max_examples=10)
@given(st.lists(st.integers(0, 2**32 - 1), min_size=32, max_size=32), st.integers(1, 2**32 - 1))
def test_reductions_over_some_lanes(values, mask):
    array = np.array(values, np.uint32)
    chosen = [v for lane, v in enumerate(values) if mask >> lane & 1]
    as_signed = [int(v) for v in np.array(chosen, np.uint32).view(np.int32)]
    wanted = {
        Op.ADD: sum(chosen), Op.UMIN: min(chosen), Op.UMAX: max(chosen), Op.SMIN: min(as_signed),
        Op.SMAX: max(as_signed), Op.AND: int(np.bitwise_and.reduce(chosen)),
        Op.OR: int(np.bitwise_or.reduce(chosen)), Op.XOR: int(np.bitwise_xor.reduce(chosen)),
    }  # fmt: skip
    for op, expected in wanted.items():

        def reduced(b: Builder, value: Value, op: Op = op) -> Value:
            b.guard = b.trunc(b.lshr(b.i32(mask), b.lane()), Type.I1)
            result = b.reduce(op, value)
            b.guard = None
            return result

        found = apply([Type.I32], Type.I32, reduced, array)
        assert set(found.tolist()) == {expected & 0xFFFFFFFF}, op


def test_special_values():
    grid_block: dict[str, Any] = {"grid": 3, "block": 64}
    for name, wanted in {
        "tid.x": lambda i: i % 64, "ctaid.x": lambda i: i // 64, "ntid.x": lambda i: 64,
        "nctaid.x": lambda i: 3, "warpid": lambda i: i % 64 // 32, "nwarpid": lambda i: 2,
        "tid.y": lambda i: 0, "ntid.z": lambda i: 1, "smid": lambda i: i // 64,
    }.items():  # fmt: skip
        b = started()
        stored(b, b.special(name))
        run, memory = launch(routine(b), {"out": np.zeros(192, np.uint32)}, **grid_block)
        assert run.stop is Stop.DONE
        assert memory.array("out").tolist() == [wanted(i) for i in range(192)], name


# -- control ------------------------------------------------------------------------------------------


def collatz() -> Builder:
    """Count the steps from each thread's number to 1: every lane leaves the loop at another time."""
    b = started()
    b.declare("n", Type.I32)
    b.declare("steps", Type.I32)
    b.set("n", b.add(b.trunc(thread(b), Type.I32), b.i32(1)))
    b.set("steps", b.i32(0))
    b.begin("loop")
    b.at(1)
    b.branch("end", b.compare("eq", b.get("n"), b.i32(1)))
    b.at(2)
    n = b.get("n")
    odd = b.compare("ne", b.and_(n, b.i32(1)), b.i32(0))
    b.set("n", b.select(odd, b.add(b.mul(n, b.i32(3)), b.i32(1)), b.lshr(n, 1)))
    b.set("steps", b.add(b.get("steps"), b.i32(1)))
    b.branch("loop")
    b.begin("end")
    b.at(3)
    stored(b, b.get("steps"))
    return b


def steps_of(n: int) -> int:
    count = 0
    while n != 1:
        n, count = (3 * n + 1 if n % 2 else n // 2), count + 1
    return count


@every_engine
def test_lanes_leave_a_loop_one_by_one(engine):
    run, memory = launch(
        routine(collatz()), {"out": np.zeros(192, np.uint32)}, grid=3, block=64, engine=engine
    )
    wanted = [steps_of(n) for n in range(1, 193)]
    assert memory.array("out").tolist() == wanted
    longest = [max(wanted[w : w + 32]) for w in range(0, 192, 32)]
    assert run.executions.tolist() == [6, sum(longest) + 6, sum(longest), 6]
    assert run.lanes.tolist() == [192, sum(wanted) + 192, sum(wanted), 192]


@every_engine
def test_an_endless_loop_ends_with_the_budget(engine):
    b = started()
    b.begin("loop")
    b.at(1)
    b.branch("loop")
    run, _ = launch(routine(b), {}, engine=engine, limits=Limits(warp_instructions=1000))
    assert run.stop is Stop.INSTRUCTIONS
    assert run.executions.tolist() == [1, 999]


@every_engine
def test_convergence_waits_for_all_its_lanes(engine):
    """Odd lanes are still far behind in program order when even ones come to the convergence."""
    b = started()
    b.branch("odd", lane_parity(b))
    b.begin("meet")
    b.at(1)
    b.converge(b.i32(-1))
    stored(b, b.active())
    b.exit()
    b.begin("odd")
    b.at(2)
    b.branch("meet")
    run, memory = launch(routine(b), {"out": np.zeros(64, np.uint32)}, block=64, engine=engine)
    assert memory.array("out").tolist() == [0xFFFFFFFF] * 64
    assert run.executions.tolist() == [2, 2, 2]


@every_engine
def test_convergence_of_some_lanes_leaves_the_others(engine):
    """Each half of the warp waits for itself alone."""
    b = started()
    low = b.compare("ult", b.lane(), b.i32(16))
    b.declare("mask", Type.I32)
    b.set("mask", b.select(low, b.i32(0xFFFF), b.i32(-0x10000)))
    b.branch("high", b.not_(low))
    b.begin("meet")
    b.at(1)
    b.converge(b.get("mask"))
    stored(b, b.active())
    b.exit()
    b.begin("high")
    b.at(2)
    b.branch("meet")
    _, memory = launch(routine(b), {"out": np.zeros(32, np.uint32)}, engine=engine)
    assert memory.array("out").tolist() == [0xFFFF] * 16 + [0xFFFF0000] * 16


@every_engine
def test_lanes_that_end_are_not_waited_for(engine):
    b = started()
    b.exit(lane_parity(b))
    b.at(1)
    b.converge(b.i32(-1))
    b.barrier(b.i32(0))
    b.at(2)
    stored(b, b.active())
    run, memory = launch(routine(b), {"out": np.zeros(64, np.uint32)}, block=64, engine=engine)
    assert run.stop is Stop.DONE
    assert memory.array("out").tolist() == [0x55555555, 0] * 32


@every_engine
def test_indirect_jumps_go_to_addresses(engine):
    b = started()
    target = b.select(lane_parity(b), b.i32(32), b.i32(16))
    b.branch_indirect(target)
    for number in (1, 2):
        b.begin(f"case{number}", address=16 * number)
        b.at(number)
        stored(b, b.i32(number))
        b.exit()
    run, memory = launch(routine(b), {"out": np.zeros(32, np.uint32)}, engine=engine)
    assert run.stop is Stop.DONE
    assert memory.array("out").tolist() == [1, 2] * 16


def test_a_jump_to_nowhere_is_a_fault():
    b = started()
    b.branch_indirect(b.i32(48))
    run, _ = launch(routine(b), {})
    assert (run.stop, run.fault.address, run.fault.thread) == (Stop.FAULT, 48, 0)


@every_engine
def test_a_trap_names_the_thread(engine):
    b = started()
    b.guard = b.compare("eq", thread(b), b.const(Type.I64, 77))
    b.trap()
    b.at(1)
    run, _ = launch(routine(b), {}, grid=2, block=64, engine=engine)
    assert run.stop is Stop.FAULT
    assert (run.fault.block, run.fault.thread, run.fault.reason) == (1, 13, "trap")


# -- barriers -----------------------------------------------------------------------------------------


@every_engine
def test_a_barrier_orders_shared_memory(engine):
    b = started()
    mine = b.shl(b.special("tid.x"), 2)
    b.store("shared", mine, b.special("tid.x"))
    b.at(1)
    b.barrier(b.i32(0))
    b.at(2)
    other = b.shl(b.sub(b.i32(127), b.special("tid.x")), 2)
    stored(b, b.load("shared", other, Type.I32)[0])
    run, memory = launch(
        routine(b), {"out": np.zeros(256, np.uint32)}, grid=2, block=128, shared=512, engine=engine
    )
    assert run.stop is Stop.DONE
    assert memory.array("out").tolist() == [*range(127, -1, -1)] * 2


@every_engine
@pytest.mark.parametrize(("kind", "wanted"), [("popc", 50), ("or", 1), ("and", 0)])
def test_a_barrier_reduces_votes(kind, wanted, engine):
    b = started()
    b.barrier(b.i32(3), reduce=b.compare("ult", b.special("tid.x"), b.i32(50)))
    b.at(1)
    result = b.call("barrier_result", (kind,), (Type.I32, 1), b.i32(3), uniform=True)[0]
    stored(b, result)
    _, memory = launch(routine(b), {"out": np.zeros(96, np.uint32)}, block=96, engine=engine)
    assert set(memory.array("out").tolist()) == {wanted}


@every_engine
def test_producers_arrive_and_consumers_wait(engine):
    b = started()
    b.branch("consumer", b.compare("ult", b.special("tid.x"), b.i32(32)))
    b.at(1)
    b.store("shared", b.shl(b.sub(b.special("tid.x"), b.i32(32)), 2), b.special("tid.x"))
    b.barrier(b.i32(1), b.i32(64), arrive=True)
    b.exit()
    b.begin("consumer")
    b.at(2)
    b.barrier(b.i32(1), b.i32(64))
    b.at(3)
    stored(b, b.load("shared", b.shl(b.special("tid.x"), 2), Type.I32)[0])
    run, memory = launch(routine(b), {"out": np.zeros(32, np.uint32)}, block=64, shared=128, engine=engine)
    assert run.stop is Stop.DONE
    assert memory.array("out").tolist() == [*range(32, 64)]


@every_engine
def test_a_barrier_that_not_all_reach_is_a_deadlock(engine):
    b = started()
    b.barrier(b.i32(0), b.i32(96))
    run, _ = launch(routine(b), {}, block=64, engine=engine)
    assert run.stop is Stop.DEADLOCK
    assert run.fault.thread == 0


@every_engine
def test_warps_that_wait_for_another_one_take_turns(engine):
    """Warp 0 spins until warp 1 has written."""
    b = started()
    b.branch("write", b.compare("ne", b.special("warpid"), b.i32(0)))
    b.begin("spin")
    b.at(1)
    seen = b.load("shared", b.i32(0), Type.I32)[0]
    b.at(200)  # a long block, so that a turn is over soon
    b.branch("spin", b.compare("eq", seen, b.i32(0)))
    b.at(201)
    stored(b, b.load("shared", b.i32(0), Type.I32)[0])
    b.exit()
    b.begin("write")
    b.at(202)
    b.store("shared", b.i32(0), b.i32(9))
    run, memory = launch(routine(b), {"out": np.zeros(32, np.uint32)}, block=64, shared=4, engine=engine)
    assert run.stop is Stop.DONE
    assert memory.array("out").tolist() == [9] * 32


# -- memory -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("type_", [Type.I8, Type.I16, Type.F32, Type.F64], ids=str)
@pytest.mark.parametrize("count", [1, 2, 4])
def test_vectors(type_, count):
    if type_.bits * count > 128:
        return
    size = type_.bits // 8 * count
    b = started()
    step = b.mul(thread(b), b.const(Type.I64, size))
    bases = [b.load("const", b.i32(8 * k), Type.I64)[0] for k in range(2)]
    values = b.load("global", b.add(bases[0], step), type_, count)
    b.store("global", b.add(bases[1], step), *reversed(values))
    source = np.random.default_rng(1).integers(0, 256, (64, size), np.uint8)
    _, memory = launch(routine(b), {"in": source, "out": np.zeros_like(source)}, block=64)
    wanted = source.reshape(64, count, -1)[:, ::-1].reshape(64, size)
    assert memory.array("out").tolist() == wanted.tolist()


@every_engine
def test_generic_addresses_reach_every_space(engine):
    b = started()
    mine = b.shl(thread(b), 2)
    shared = b.add(b.const(Type.I64, SHARED_SLOT << 40), mine)
    local = b.const(Type.I64, LOCAL_SLOT << 40)
    b.store("generic", shared, b.special("tid.x"))
    b.at(1)
    b.store("generic", local, b.add(b.special("tid.x"), b.i32(5)))
    b.at(2)
    first, second = b.load("shared", mine, Type.I32)[0], b.load("local", b.i32(0), Type.I32)[0]
    b.store("generic", element(b, 0, Type.I32), b.add(first, second))
    run, memory = launch(
        routine(b), {"out": np.zeros(64, np.uint32)}, block=64, shared=256, local=8, engine=engine
    )
    assert memory.array("out").tolist() == [2 * i + 5 for i in range(64)]
    counts = run.accesses
    assert list(zip(counts.instruction.tolist(), counts.space.tolist(), strict=True)) == [
        (0, 1), (1, 2), (2, 0), (2, 1), (2, 2),
    ]  # fmt: skip
    assert counts.slot.tolist() == [SHARED_SLOT, LOCAL_SLOT, 2, SHARED_SLOT, LOCAL_SLOT]
    assert counts.lines.tolist() == [0, 2, 2, 0, 2]


@every_engine
@pytest.mark.parametrize(("offset", "type_", "thread_", "reason"), [
    (0, Type.I64, 4, "out of bounds"), (2, Type.I32, 0, "misaligned"), (-8, Type.I32, 0, "no such memory"),
])  # fmt: skip
def test_faults_name_thread_and_address(offset, type_, thread_, reason, engine):
    b = started()
    b.at(3)
    step = b.add(b.mul(thread(b), b.const(Type.I64, 8)), b.const(Type.I64, offset))
    b.load("global", b.add(b.load("const", b.i32(0), Type.I64)[0], step), type_)
    run, memory = launch(routine(b), {"x": np.zeros(32, np.uint8)}, engine=engine)
    fault = run.fault
    assert (run.stop, fault.instruction, fault.thread, fault.bytes) == (
        Stop.FAULT,
        3,
        thread_,
        type_.bits // 8,
    )
    assert fault.address == memory.address("x") + 8 * thread_ + offset
    assert fault.reason == reason


def test_masked_lanes_touch_nothing():
    b = started()
    b.guard = lane_parity(b)
    value = b.load("global", element(b, 0, Type.I32), Type.I32)[0]
    b.guard = None
    stored(b, value, 1)
    run, memory = launch(routine(b), {"in": np.arange(32, dtype=np.uint32), "out": np.ones(32, np.uint32)})
    assert memory.array("out").tolist() == [v if v % 2 else 0 for v in range(32)]
    assert run.accesses.lanes.tolist() == [16 + 32]


ATOMICS = {
    "add": lambda old, v, n: old + v, "and": lambda old, v, n: old & v, "or": lambda old, v, n: old | v,
    "xor": lambda old, v, n: old ^ v, "umin": lambda old, v, n: min(old, v),
    "umax": lambda old, v, n: max(old, v), "exch": lambda old, v, n: v,
    "inc": lambda old, v, n: 0 if old >= v else old + 1,
    "dec": lambda old, v, n: v if old == 0 or old > v else old - 1,
    "cas": lambda old, v, n: n if old == v else old,
}  # fmt: skip


@pytest.mark.parametrize("name", ATOMICS)
@settings(max_examples=5)
@given(
    st.lists(st.integers(0, 7), min_size=32, max_size=32),
    st.lists(st.integers(0, 5), min_size=32, max_size=32),
)
def test_atomics_go_in_lane_order(name, places, values):
    b = started()
    place = b.zext(b.load("global", element(b, 1, Type.I32), Type.I32)[0], Type.I64)
    operands = [b.load("global", element(b, 2, Type.I32), Type.I32)[0]]
    if name == "cas":
        operands.append(b.add(b.lane(), b.i32(3)))
    stored(b, b.atomic("global", name, element(b, 0, Type.I32, place), *operands), 3)
    cells = np.array([3, 0, 5, 2, 9, 1, 1, 7], np.uint32)
    arrays = {"cells": cells, "places": np.array(places, np.uint32), "values": np.array(values, np.uint32)}
    run, memory = launch(routine(b), arrays | {"old": np.zeros(32, np.uint32)})
    wanted, olds = [int(c) for c in cells], []
    for lane, (at, value) in enumerate(zip(places, values, strict=True)):
        olds.append(wanted[at])
        wanted[at] = ATOMICS[name](wanted[at], value, lane + 3) & 0xFFFFFFFF
    assert memory.array("cells").tolist() == wanted
    assert memory.array("old").tolist() == olds
    row = run.accesses.collisions.tolist()
    assert max(row) == max(places.count(p) for p in places)


@every_engine
def test_an_atomic_counter_across_blocks(engine):
    b = started()
    b.atomic("global", "add", b.load("const", b.i32(0), Type.I64)[0], b.const(Type.F32, 1.0), returns=False)
    _, memory = launch(routine(b), {"x": np.zeros(1, np.float32)}, grid=10, block=96, engine=engine)
    assert memory.array("x").tolist() == [960.0]


# -- what is counted ----------------------------------------------------------------------------------


def strided(stride: int, size: int, space: str = "global") -> Builder:
    b = started()
    index = thread(b) if space == "global" else b.zext(b.special("tid.x"), Type.I64)
    offset = b.mul(index, b.const(Type.I64, stride))
    base = b.load("const", b.i32(0), Type.I64)[0] if space == "global" else b.const(Type.I64, 0)
    b.load(space, b.add(base, offset), Type.I8 if size == 1 else Type.I32, max(1, size // 4))
    return b


@pytest.mark.parametrize("space", ["global", "shared"])
@pytest.mark.parametrize("size", [1, 4, 8, 16])
@pytest.mark.parametrize("times", [0, 1, 2, 3, 8, 33])
def test_transactions_are_those_of_the_analysis(size, times, space):
    stride = size * times
    nbytes = 64 * max(stride, 16)
    code = routine(strided(stride, size, space))
    run, _ = launch(code, {"x": np.zeros(nbytes, np.uint8)}, block=64, shared=nbytes)
    addresses = (np.arange(64) * stride).reshape(2, 32)
    full = np.ones((2, 32), np.bool_)
    off_chip = space == "global"
    wanted = {
        "requests": 2,
        "lanes": 64,
        "sectors": int(transactions.blocks_touched(addresses, size, full, 32).sum()) * off_chip,
        "lines": int(transactions.blocks_touched(addresses, size, full, 128).sum()) * off_chip,
        "l1_passes": int(transactions.l1_passes(addresses, size, full).sum()) * off_chip,
        "wavefronts": int(transactions.wavefronts(addresses, size, full).sum()) * (not off_chip),
        "uniform": 2 * (times == 0),
        "stride": stride,
    }
    assert {name: int(getattr(run.accesses, name)[0]) for name in wanted} == wanted


@every_engine
@pytest.mark.parametrize(
    ("offset", "count", "sectors", "lines"), [(4, 1, 4, 1), (8, 2, 8, 2), (16, 4, 16, 4)]
)
def test_local_memory_lies_lane_beside_lane(offset, count, sectors, lines, engine):
    b = started()
    b.load("local", b.i32(offset), Type.I32, count)
    run, _ = launch(routine(b), {}, local=32, engine=engine, record=True)
    counts = run.accesses
    assert (counts.sectors.tolist(), counts.lines.tolist()) == ([sectors], [lines])
    first = (LOCAL_SLOT << 40) + offset * 32
    assert run.trace.lines.tolist() == [first + 128 * k + 15 for k in range(lines)]


@every_engine
@pytest.mark.parametrize(("shift", "sectors", "lines"), [(5, 4, 1), (3, 4, 4), (2, 8, 8), (0, 32, 32)])
def test_lanes_that_index_an_array_of_their_own_touch_a_row_of_words_each(shift, sectors, lines, engine):
    b = started()
    b.load("local", b.shl(b.lshr(b.special("tid.x"), shift), 2), Type.I32)
    run, _ = launch(routine(b), {}, local=128, engine=engine)
    assert (run.accesses.sectors.tolist(), run.accesses.lines.tolist()) == ([sectors], [lines])


def test_operands_from_constant_banks_are_no_accesses():
    b = started()
    b.load("const", b.i32(0), Type.I64)
    b.load("const", b.shl(b.special("tid.x"), 2), Type.I32, bank=3)
    code = routine(b)
    run, _ = launch(code, {"x": np.zeros(1)})
    assert run.stop is Stop.FAULT
    assert run.fault.reason == "no such memory"


def test_a_guard_takes_lanes_off_the_count():
    b = started()
    b.guard = lane_parity(b)
    b.count()
    run, _ = launch(routine(b), {}, block=48)
    assert run.executions.tolist() == [2]
    assert run.lanes.tolist() == [24]


def test_what_has_no_semantics_is_reported_when_it_runs():
    b = started()
    b.uncovered[0] = "FROB.X"
    b.exit()
    b.begin()
    b.at(1)
    b.uncovered[1] = "NEVER"
    run, _ = launch(routine(b), {})
    assert run.unknown == {0: "FROB.X"}


@every_engine
def test_a_trace_holds_every_step_and_access(engine):
    code = routine(collatz())
    run, memory = launch(code, {"out": np.zeros(96, np.uint32)}, grid=2, block=48, engine=engine, record=True)
    trace = run.trace
    assert trace.complete
    assert len(trace.step_start) == len(trace.access_start) == 5
    sizes = np.array([len(block.instructions) for block in code.blocks])
    assert sizes[trace.step_block].sum() == run.executions.sum()
    lanes = np.bitwise_count(trace.step_mask)
    assert (lanes * sizes[trace.step_block]).sum() == run.lanes.sum()
    assert trace.access_instruction.tolist() == [3] * 4
    assert trace.access_mask.tolist() == [0xFFFFFFFF, 0xFFFF] * 2
    starts, base = trace.line_start, memory.address("out")
    found = [[int(v) - base for v in trace.lines[starts[a] : starts[a + 1]]] for a in range(4)]
    assert found == [[0 + 15], [128 + 3], [128 + 12, 256 + 3], [256 + 12]]


def test_a_trace_ends_at_its_limit():
    run, _ = launch(
        routine(collatz()), {"out": np.zeros(32, np.uint32)}, record=True, limits=Limits(trace_bytes=80)
    )
    assert not run.trace.complete
    assert run.trace.step_start.tolist() == [0, 10]


def test_engines_agree_on_everything_they_count():
    code = routine(collatz())
    out = np.zeros(320, np.uint32)
    first, *others = (
        launch(code, {"out": out}, grid=5, block=64, engine=engine, record=True)[0]
        for engine in ENGINES.values()
    )
    for second in others:
        assert first.executions.tolist() == second.executions.tolist()
        for part in ("accesses", "trace"):
            for name in set(type(getattr(first, part)).__slots__) - NATIVE_ONLY:
                one, other = getattr(getattr(first, part), name), getattr(getattr(second, part), name)
                assert np.array_equal(one, other), name
