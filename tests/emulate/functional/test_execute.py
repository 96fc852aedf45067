"""Whole grids against closed forms: many threads, budgets, blocks that wait for each other."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from tests.emulate.routines import element, routine, thread
from warpwatt.core.errors import InputError
from warpwatt.core.launch import Dim3, Launch
from warpwatt.emulate import functions
from warpwatt.emulate.arena import ARENA, Allocation, AllocationTable, ArenaMemory
from warpwatt.emulate.builder import Builder
from warpwatt.emulate.functional import execute
from warpwatt.emulate.ir import Op, Type
from warpwatt.emulate.memory import DeviceMemory
from warpwatt.emulate.run import Context, Limits, Stop


def begin() -> Builder:
    b = Builder()
    b.begin("entry")
    b.at(0)
    return b


def run(b, buffers, *, grid, block=(64,), limits=None, cooperative=False, **options):
    """Execute what a builder wrote on buffers, its parameters; return the outcome and the device."""
    b.exit()
    memory = DeviceMemory()
    words = [memory.place(name, array) for name, array in buffers.items()]
    bank = b"".join(word.to_bytes(8, "little") for word in words)
    launch = Launch(Dim3(grid), Dim3(*block), cooperative=cooperative)
    return execute(routine(b), Context(launch, {0: bank}, 1024), memory, limits, **options), memory


@pytest.mark.parametrize("threads", [1, 3])
def test_every_thread_writes_its_number_squared(threads):
    b = begin()
    b.store("global", element(b, 0, Type.I64), b.mul(thread(b), thread(b)))
    outcome, memory = run(b, {"out": np.zeros(1000 * 64, np.int64)}, grid=1000, threads=threads)
    assert outcome.stop is Stop.DONE
    assert (memory.array("out") == np.arange(64000) ** 2).all()


def test_atomics_of_threads_that_run_at_a_time_lose_nothing():
    b = begin()
    zero = b.const(Type.I64, 0)
    b.atomic("global", "add", element(b, 0, Type.I64, zero), thread(b))
    b.atomic("global", "add", element(b, 1, Type.F32, zero), b.const(Type.F32, 1.0))
    buffers = {"sum": np.zeros(1, np.int64), "count": np.zeros(1, np.float32)}
    _, memory = run(b, buffers, grid=2000, threads=4)
    assert memory.array("sum")[0] == sum(range(2000 * 64))
    assert memory.array("count")[0] == 2000 * 64


@pytest.mark.parametrize(("stride", "count"), [(1, 1), (1, 4), (3, 1), (0, 1), (5, 2), (-1, 1)])
@pytest.mark.parametrize("type_", [Type.I8, Type.I32, Type.F64])
def test_lanes_read_and_write_any_pattern(stride, count, type_):
    """Those done in line and those that are left to the run time, with some lanes off."""
    b = begin()
    index = b.mul(thread(b), b.const(Type.I64, stride * count))
    at = element(b, 0, type_, b.add(index, b.const(Type.I64, 320)))
    b.guard = b.compare("ult", b.and_(b.special("tid.x"), b.i32(7)), b.i32(5))
    values = b.load("global", at, type_, count)
    b.guard = None
    for number, value in enumerate(values):
        place = b.add(b.mul(thread(b), b.const(Type.I64, count)), b.const(Type.I64, number))
        b.store("global", element(b, 1, type_, place), value)
    dtype = {Type.I8: np.uint8, Type.I16: np.uint16, Type.I32: np.uint32, Type.F64: np.float64}[type_]
    source = np.arange(4000).astype(dtype)
    _, memory = run(b, {"in": source, "out": np.zeros(256 * count, dtype)}, grid=4)
    on = np.arange(256) % 64 % 8 < 5
    starts = 320 + np.arange(256) * stride * count
    wanted = np.where(on[:, None], source[starts[:, None] + np.arange(count)], 0)
    assert (memory.array("out").reshape(256, count) == wanted).all()


@pytest.mark.parametrize("width", [4, 8, 16])
@pytest.mark.parametrize("type_", [Type.I16, Type.I32, Type.F64])
def test_rows_of_threads_read_and_write_rows_and_columns(type_, width):
    """Threads (x, y) write in[y][x] + in[0][x] + in[y][0] to out[y][x], rows 100 elements apart."""
    b = begin()
    wide = {name: b.zext(b.special(f"tid.{name}"), Type.I64) for name in "xy"}
    row = b.mul(wide["y"], b.const(Type.I64, 100))
    places = (b.add(row, wide["x"]), wide["x"], row)
    at = [element(b, 0, type_, place) for place in places]
    values = [b.load("global", place, type_)[0] for place in at]
    add = Op.ADD if type_ is not Type.F64 else Op.FADD
    made = b.op(add, b.op(add, values[0], values[1]), values[2])
    b.store("global", element(b, 1, type_, places[0]), made)
    dtype = {Type.I16: np.uint16, Type.I32: np.uint32, Type.F64: np.float64}[type_]
    source = np.arange(6400).astype(dtype).reshape(64, 100)
    out = np.zeros_like(source)
    _, memory = run(b, {"in": source, "out": out}, grid=1, block=(width, 60 // width))
    out[: 60 // width, :width] = (source + source[:1] + source[:, :1])[: 60 // width, :width]
    assert (memory.array("out") == out).all()


def test_an_endless_loop_ends_with_the_budget():
    b = begin()
    b.begin("loop")
    b.at(1)
    b.branch("loop")
    b.begin("end")
    b.at(2)
    outcome, _ = run(b, {}, grid=3, limits=Limits(warp_instructions=10_000), threads=1)
    assert outcome.stop is Stop.INSTRUCTIONS
    assert 10_000 <= outcome.warp_instructions < 20_000


def test_an_endless_loop_ends_when_it_is_cancelled():
    b = begin()
    b.begin("loop")
    b.at(1)
    b.branch("loop")
    b.begin("end")
    b.at(2)
    asked = itertools.count()
    outcome, _ = run(b, {}, grid=3, threads=2, cancelled=lambda: next(asked) > 1)
    assert outcome.stop is Stop.INSTRUCTIONS


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("cooperative", [True, False])
def test_blocks_wait_for_each_other(cooperative, threads):
    """Each block adds one and spins until all have; the runtime is told so, or not."""
    b = begin()
    at = element(b, 0, Type.I32, b.const(Type.I64, 0))
    b.guard = b.compare("eq", b.special("tid.x"), b.i32(0))
    b.atomic("global", "add", at, b.i32(1))
    b.guard = None
    b.declare("seen", Type.I32)
    b.begin("spin")
    b.at(1)
    seen = b.load("global", element(b, 0, Type.I32, b.const(Type.I64, 0)), Type.I32)[0]
    b.set("seen", seen)
    b.branch("spin", b.compare("ult", seen, b.special("nctaid.x")))
    b.at(2)
    b.store("global", element(b, 1, Type.I32), b.get("seen"))
    buffers = {"arrived": np.zeros(1, np.uint32), "seen": np.zeros(20 * 64, np.uint32)}
    limits = Limits(warp_instructions=100_000_000)
    outcome, memory = run(b, buffers, grid=20, cooperative=cooperative, limits=limits, threads=threads)
    assert outcome.stop is Stop.DONE
    assert (memory.array("seen") == 20).all()


def test_warps_of_a_block_begin_together():
    """Eight warps count up from what they find in one place: none finds what another has ended with."""
    b = begin()
    zero, count = b.const(Type.I64, 0), 300
    b.declare("n", Type.I32)
    first = b.load("global", element(b, 0, Type.I32, zero), Type.I32)[0]
    b.declare("first", Type.I32)
    b.set("first", first)
    b.set("n", b.i32(0))
    b.begin("loop")
    b.at(1)
    b.set("n", b.add(b.get("n"), b.i32(1)))
    b.store("global", element(b, 0, Type.I32, b.const(Type.I64, 0)), b.add(b.get("first"), b.get("n")))
    b.branch("loop", b.compare("ult", b.get("n"), b.i32(count)))
    b.at(2)
    _, memory = run(b, {"out": np.zeros(1, np.uint32)}, grid=1, block=(256,), threads=1)
    assert count <= memory.array("out")[0] <= count + 8 * 16


def test_a_fault_names_the_first_block_at_fault():
    b = begin()
    b.store("global", element(b, 0, Type.I32), b.i32(1))
    outcome, memory = run(b, {"x": np.zeros(64 * 5 + 3, np.uint32)}, grid=7, threads=1)
    assert outcome.stop is Stop.FAULT
    assert outcome.fault is not None
    assert (outcome.fault.block, outcome.fault.thread, outcome.fault.reason) == (5, 3, "out of bounds")
    assert (memory.array("x")[: 64 * 5] == 1).all()


def test_an_error_in_a_runtime_function_is_raised(monkeypatch):
    def broken(*_):
        raise InputError("no such matrix")

    monkeypatch.setitem(functions.FUNCTIONS, "broken", broken)
    b = begin()
    b.call("broken", (), (Type.I32, 1), b.lane())
    with pytest.raises(InputError, match="no such matrix"):
        run(b, {}, grid=8)


def test_lanes_that_part_in_a_loop_meet_again():
    """The length of each number's Collatz sequence; warps of 32 different lengths."""
    b = begin()
    b.declare("x", Type.I64)
    b.declare("n", Type.I64)
    b.set("x", b.add(thread(b), b.const(Type.I64, 1)))
    b.set("n", b.const(Type.I64, 0))
    b.begin("loop")
    b.at(1)
    b.branch("done", b.compare("eq", b.get("x"), b.const(Type.I64, 1)))
    b.at(2)
    x, one = b.get("x"), b.const(Type.I64, 1)
    half = b.op(Op.LSHR, x, one)
    more = b.add(b.mul(x, b.const(Type.I64, 3)), one)
    b.set("x", b.select(b.compare("eq", b.and_(x, one), one), more, half))
    b.set("n", b.add(b.get("n"), one))
    b.branch("loop")
    b.begin("done")
    b.at(3)
    b.store("global", element(b, 0, Type.I64), b.get("n"))
    outcome, memory = run(b, {"out": np.zeros(256, np.int64)}, grid=4)
    assert outcome.stop is Stop.DONE
    assert memory.array("out").tolist() == [collatz(start) for start in range(1, 257)]


def collatz(x: int) -> int:
    steps = 0
    while x != 1:
        x, steps = 3 * x + 1 if x % 2 else x // 2, steps + 1
    return steps


@pytest.mark.parametrize(
    ("first", "reason", "thread"),
    [
        (256 + 4 * 40, None, 0),
        (256 + 4 * 41, "no such memory", 63),
        (2, "misaligned", 0),
        (0, "no such memory", 0),
    ],
)
def test_accesses_in_the_arena_are_held_to_allocations(first, reason, thread):
    """104 words lie from byte 256 of the arena on; 64 threads read words from ``first`` on."""
    b = begin()
    wide = b.zext(b.special("tid.x"), Type.I64)
    at = b.add(b.const(Type.I64, ARENA + first), b.mul(wide, b.const(Type.I64, 4)))
    b.load("global", at, Type.I32)
    b.exit()
    table = AllocationTable.of([Allocation(ARENA + 256, 104 * 4, "x"), Allocation(ARENA + 4096, 64, "y")])
    memory = ArenaMemory(np.zeros(8192, np.uint8), table)
    outcome = execute(routine(b), Context(Launch(Dim3(1), Dim3(64)), {0: b""}, 0), memory)
    if reason is None:
        assert outcome.stop is Stop.DONE
    else:
        assert outcome.fault is not None
        assert (outcome.fault.reason, outcome.fault.thread) == (reason, thread)
        assert outcome.fault.address == ARENA + first + 4 * thread


def test_only_instructions_that_ran_are_unknown():
    b = begin()
    b.branch("other", b.compare("ult", b.special("tid.x"), b.i32(100)))
    b.at(1)
    b.uncovered[1] = "skipped"
    b.begin("other")
    b.at(2)
    b.uncovered[2] = "done"
    outcome, _ = run(b, {}, grid=2)
    assert outcome.unknown == {2: "done"}
