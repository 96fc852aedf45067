"""Launches computed in the arena: what takes long waits until something needs its results."""

import math
import struct

import numpy as np
import pytest

from warpwatt.core.launch import Dim3, Launch
from warpwatt.core.program import Kernel, Resources
from warpwatt.emulate.arena import ARENA
from warpwatt.emulate.functional import engine
from warpwatt.isa.ptx import lower, parse
from warpwatt.run import execution
from warpwatt.run.codes import Memory
from warpwatt.run.execution import Executor
from warpwatt.run.launches import Request
from warpwatt.run.memory import Allocations, Arena, Block

X, Y = ARENA, ARENA + 4096
SPIN = """.version 9.0
.target sm_90
.address_size 64
.entry k(.param .u64 x, .param .u64 y) {
  .reg .b32 %r<4>; .reg .b64 %d<4>; .reg .pred %p;
  ld.param.u64 %d1, [x]; ld.param.u64 %d2, [y];
  mov.u32 %r1, 0;
again: ld.volatile.global.u32 %r2, [%d1]; add.u32 %r1, %r1, 1; setp.lt.u32 %p, %r1, %r2; @%p bra again;
  st.global.u32 [%d2], %r1; ret; }
"""
TURNS = 3_000_000
"""About 0.15 s, of which 1 ms passes between looks at whether patience has ended."""


@pytest.fixture
def executor(monkeypatch):
    monkeypatch.setattr(engine, "_PATIENCE", 1e-3)
    arena, allocations = Arena(1 << 30), Allocations()
    allocations.add(Block(X, 4096, Memory.DEVICE))
    allocations.add(Block(Y, 4096, Memory.DEVICE))
    arena.bytes_at(X, 4).view("<u4")[:] = TURNS
    yield Executor(arena, allocations, budget=100.0)
    arena.close()


def launch(number, destination):
    parameters = struct.pack("<QQ", X, destination)
    return Request(number, 1, "k", Launch(Dim3(1), Dim3(32)), parameters, 0)


def written(executor):
    return int(executor.arena.bytes_at(Y, 4).view("<u4")[0])


def test_a_long_launch_waits_until_its_results_are_needed(executor):
    kernel = Kernel("k", "k", "sm_90", Resources(registers=8), ptx=lower(parse(SPIN), "k"))
    module = object()
    assert executor.execute(kernel, launch(1, Y), module, patience=1e-6) is None
    assert executor.postponed == {1}
    begun = executor.instructions
    assert executor.execute(kernel, launch(1, Y), module, patience=1e-6) is None
    assert (executor.instructions, written(executor)) == (begun, 0)  # not begun a second time
    executor.execute(kernel, launch(1, Y), module, patience=math.inf)
    assert (executor.postponed, written(executor), executor.skipped) == (set(), TURNS, 0)
    executor.execute(kernel, launch(2, Y), module, patience=1e-6)
    assert executor.repeated == 1


def test_a_launch_in_place_is_not_left_half_way(executor):
    kernel = Kernel("k", "k", "sm_90", Resources(registers=8), ptx=lower(parse(SPIN), "k"))
    executor.execute(kernel, launch(1, X + 64), object(), patience=1e-6)
    assert int(np.asarray(executor.arena.bytes_at(X + 64, 4)).view("<u4")[0]) == TURNS


def test_what_a_launch_would_have_written_is_lost_where_it_is_not_computed(executor):
    kernel = Kernel("k", "k", "sm_90", Resources(registers=8), ptx=lower(parse(SPIN), "k"))
    here, there, any_memory = frozenset({X}), frozenset({Y}), None
    lost = executor.allocations.why_lost
    executor.execute(kernel, launch(1, Y), object())
    assert not any(map(lost, (here, there, any_memory)))
    executor.budget = 0.0
    executor.execute(kernel, launch(2, Y + 64), object())
    assert executor.first_not_computed.startswith("launch 2")
    assert [bool(lost(where)) for where in (here, there, any_memory)] == [False, True, True]
    executor.execute(kernel, launch(3, X + 64), object())
    assert lost(here)


def test_a_postponed_launch_that_the_budget_no_longer_allows_waits_no_more(executor):
    kernel = Kernel("k", "k", "sm_90", Resources(registers=8), ptx=lower(parse(SPIN), "k"))
    executor.execute(kernel, launch(1, Y), object(), patience=1e-6)
    executor.budget = 0.0
    executor.execute(kernel, launch(1, Y), object(), patience=math.inf)
    assert (executor.postponed, executor.skipped) == (set(), 1)
    assert executor.allocations.why_lost({Y}).startswith("launch 1, k: the budget")


@pytest.mark.parametrize(("writes", "elsewhere"), [("st.global.u32 [%d3], 1;", True), ("", False)])
def test_a_launch_that_may_have_written_anything_loses_everything(executor, monkeypatch, writes, elsewhere):
    """It stores where a pointer in memory leads, or only where its parameter does."""
    text = f"ld.param.u64 %d1, [y]; ld.global.u64 %d3, [%d1]; {writes} st.global.u32 [%d1], 1; ret; }}"
    head = SPIN.partition("ld.param")[0]
    kernel = Kernel("k", "k", "sm_90", Resources(registers=8), ptx=lower(parse(head + text), "k"))

    def fails(*_: object, **__: object) -> None:
        raise OverflowError("a bug")

    monkeypatch.setattr(execution, "execute", fails)
    executor.execute(kernel, launch(1, Y), object())
    assert "OverflowError" in executor.allocations.why_lost({Y})
    assert bool(executor.allocations.why_lost({X})) == elsewhere
    executor.allocations.overwritten(X, 4096)
    executor.allocations.overwritten(Y, 4095)
    assert not executor.allocations.why_lost({X})
    assert executor.allocations.why_lost({Y})
