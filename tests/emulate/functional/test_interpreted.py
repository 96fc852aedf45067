"""Which launches are interpreted, and that what goes over to machine code gives the same."""

from __future__ import annotations

import numpy as np
import pytest

from tests.emulate.functional.test_execute import begin, run
from tests.emulate.routines import element, thread
from warpwatt.emulate.functional import engine
from warpwatt.emulate.ir import Type
from warpwatt.emulate.native import steps
from warpwatt.emulate.run import Stop


def squares(grid: int):
    """Run a grid whose threads add the square of their number to an element, and count themselves."""
    b = begin()
    zero = b.const(Type.I64, 0)
    at = element(b, 0, Type.I64)
    b.store("global", at, b.add(b.load("global", at, Type.I64)[0], b.mul(thread(b), thread(b))))
    b.atomic("global", "add", element(b, 1, Type.I64, zero), b.const(Type.I64, 1))
    buffers = {"out": np.arange(grid * 64), "count": np.zeros(1, np.int64)}
    outcome, memory = run(b, buffers, grid=grid)
    assert outcome.stop is Stop.DONE
    assert (memory.array("out") == np.arange(grid * 64) + np.arange(grid * 64) ** 2).all()
    assert memory.array("count")[0] == grid * 64
    return outcome


def test_a_small_launch_needs_no_machine_code(monkeypatch, form):
    made = []
    compiled = engine._compiled

    def compile_(routine):
        made.append(routine)
        return compiled(routine)

    monkeypatch.setattr(engine, "_compiled", compile_)
    squares(20)
    assert bool(made) == (form == "machine code")


@pytest.mark.parametrize("patience", [-1, 0, 1, 3, 20, 1000])
def test_what_goes_over_to_machine_code_gives_the_same(monkeypatch, patience):
    """Before the first block, within it, between blocks, never: each thread runs once."""
    monkeypatch.setattr(steps, "PATIENCE", patience)
    assert squares(100).warp_instructions == squares(100).warp_instructions


def test_a_large_launch_is_compiled_after_its_first_block(monkeypatch, form):
    monkeypatch.setattr(steps, "PATIENCE", 50)
    runs = []
    real = engine._Worker._machine

    def machine(self, blocks, limits):
        runs.append(blocks)
        return real(self, blocks, limits)

    monkeypatch.setattr(engine._Worker, "_machine", machine)
    squares(3000)
    assert (runs[0] == (0,)) == (form == "steps")
    assert max(map(len, runs[1:])) > 1
