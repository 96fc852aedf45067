"""Ends of runs, waiting, and what only some kernels do; both engines where they can be compared."""

from __future__ import annotations

import numpy as np
import pytest

from tests.emulate.native.compare import compare
from tests.emulate.native.flows import LOCAL_WINDOW
from tests.emulate.native.programs import OUTPUT, environment, finish
from warpwatt.core.errors import InputError
from warpwatt.emulate import functions, native
from warpwatt.emulate.builder import Builder
from warpwatt.emulate.ir import Op, Type
from warpwatt.emulate.run import Limits, Stop


def writer() -> Builder:
    b = Builder()
    b.at(0)
    return b


def out(b: Builder, value):
    """Store a value of each thread of one block."""
    at = b.add(b.const(Type.I64, OUTPUT), b.shl(b.zext(b.special("tid.x"), Type.I64), 3))
    b.store("global", at, b.zext(value, Type.I64))


def stored(routine, threads=64, **options):
    context, memory = environment(1, threads)
    run = native.run(routine, context, memory, [0], **options)
    return run, memory.array("output").reshape(-1)[:threads]


def test_deadlock_names_a_thread_that_waits():
    b = writer()
    b.branch("on", b.compare("ult", b.special("tid.x"), b.i32(3)))
    b.at(1)
    b.barrier(b.i32(0), b.i32(64))
    b.at(2)
    b.exit()
    b.begin("on")
    b.at(3)
    b.exit()
    run = compare(finish(b, 4), lambda: environment(1), [0])
    assert run.stop is Stop.DEADLOCK
    assert run.fault is not None
    assert run.fault.thread == 3


def test_endless_loop_ends_with_the_budget():
    b = writer()
    b.begin("loop")
    b.at(1)
    b.branch("loop")
    run = compare(finish(b, 2), lambda: environment(1), [0], Limits(warp_instructions=1000), record=False)
    assert run.stop is Stop.INSTRUCTIONS
    assert run.executions.sum() == 1000


def test_warps_that_wait_for_each_other_take_turns():
    """Warp 0 spins until warp 1 has written a word of shared memory."""
    b = writer()
    b.branch("write", b.compare("eq", b.special("warpid"), b.i32(1)))
    b.begin("spin")
    b.at(1)
    b.branch("spin", b.compare("eq", b.load("shared", b.i32(0), Type.I32)[0], b.i32(0)))
    b.at(2)
    b.exit()
    b.begin("write")
    b.at(3)
    b.store("shared", b.i32(0), b.i32(1))
    b.exit()
    assert compare(finish(b, 4), lambda: environment(1), [0], record=False).stop is Stop.DONE


def test_trap_and_jump_to_nowhere():
    b = writer()
    b.guard = b.compare("eq", b.special("tid.x"), b.i32(5))
    b.trap()
    b.guard = None
    b.at(1)
    b.exit()
    run = compare(finish(b, 2), lambda: environment(1), [0])
    assert (run.stop, run.fault.thread, run.fault.reason) == (Stop.FAULT, 5, "trap")
    b = writer()
    b.branch_indirect(b.const(Type.I64, 0x123))
    run = compare(finish(b, 1), lambda: environment(1), [0])
    assert run.fault.address == 0x123


def test_indirect_jumps_go_where_each_lane_says():
    b = writer()
    odd = b.and_(b.lane(), b.i32(1))
    b.branch_indirect(b.add(b.i32(0x100), b.shl(odd, 4)))
    for place in (0, 1):
        b.begin(address=0x100 + 16 * place)
        b.at(1 + place)
        out(b, b.i32(10 + place))
        b.exit()
    routine = finish(b, 3)
    compare(routine, lambda: environment(1), [0])
    assert stored(routine)[1][:4].tolist() == [10, 11, 10, 11]


def test_lanes_that_broke_away_are_not_waited_for():
    b = writer()
    b.declare("gone", Type.I32, uniform=True)
    b.declare("all", Type.I32)
    b.set("all", b.active())
    b.branch("away", b.compare("ult", b.lane(), b.i32(4)))
    b.at(1)
    b.converge(b.get("all"), leavers="gone")
    out(b, b.active())
    b.exit()
    b.begin("away")
    b.at(2)
    b.set("gone", b.active())
    b.branch("end")
    b.begin("end")
    b.at(3)
    out(b, b.active())
    b.exit()
    routine = finish(b, 4)
    compare(routine, lambda: environment(1), [0])
    assert stored(routine)[1][[0, 4]].tolist() == [15, 0xFFFFFFF0]


def test_an_error_in_a_runtime_function_is_raised(monkeypatch):
    def broken(*_):
        raise InputError("no such matrix")

    monkeypatch.setitem(functions.FUNCTIONS, "broken", broken)
    b = writer()
    b.call("broken", (), (Type.I32, 1), b.lane())
    b.exit()
    with pytest.raises(InputError, match="no such matrix"):
        stored(finish(b, 1))


def test_a_runtime_function_gets_raw_bits_and_returns_them(monkeypatch):
    monkeypatch.setitem(functions.FUNCTIONS, "twice", lambda args, _mask, by: args * np.uint64(by[0]))
    b = writer()
    out(b, b.call("twice", (3,), (Type.I32, 1), b.lane())[0])
    b.exit()
    assert stored(finish(b, 1))[1][:3].tolist() == [0, 3, 6]


def test_a_very_long_block_has_enough_stack():
    b = writer()
    values = [b.add(b.lane(), b.i32(k)) for k in range(6000)]
    total = values[0]
    for value in values[1:]:
        total = b.op(Op.XOR, total, value)
    out(b, total)
    b.exit()
    wanted = np.bitwise_xor.reduce(np.arange(32)[:, None] + np.arange(6000), axis=1)
    assert (stored(finish(b, 1))[1][:32] == wanted).all()


@pytest.mark.parametrize("element", [Type.F16, Type.F32, Type.F64])
@pytest.mark.parametrize("operation", ["add", "min", "max", "exch"])
def test_atomics_on_floats(element, operation):
    b = writer()
    kinds = {Type.F16: Type.I16, Type.F32: Type.I32, Type.F64: Type.I64}
    value = b.convert(Op.SITOFP, element, b.sub(b.lane(), b.i32(7)))
    old = b.atomic("shared", operation, b.shl(b.and_(b.lane(), b.i32(1)), 3), value)
    out(
        b,
        b.cast_bits(old, kinds[element])
        if element is Type.F64
        else b.zext(b.cast_bits(old, kinds[element]), Type.I64),
    )
    b.exit()
    compare(finish(b, 1), lambda: environment(1), [0])


def test_an_address_far_above_all_memory_is_at_fault():
    """Also right behind an access that was good."""
    b = writer()
    b.load("global", b.const(Type.I64, OUTPUT), Type.I32)
    b.store("global", b.const(Type.I64, (1 << 64) - 16), b.lane())
    b.exit()
    run = compare(finish(b, 1), lambda: environment(1), [0])
    assert run.stop is Stop.FAULT
    assert run.fault.reason == "no such memory"


def test_a_request_in_local_and_global_memory_has_no_wavefronts():
    b = writer()
    odd = b.compare("eq", b.and_(b.lane(), b.i32(1)), b.i32(0))
    at = b.select(odd, b.const(Type.I64, LOCAL_WINDOW), b.const(Type.I64, OUTPUT))
    out(b, b.load("generic", at, Type.I32)[0])
    b.exit()
    run = compare(finish(b, 1), lambda: environment(1), [0])
    assert run.trace.access_wavefronts.tolist() == [0] * 4
