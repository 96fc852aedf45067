"""Which routines run as steps, and when they become machine code."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.emulate.native.programs import (
    FLOAT_BINARY,
    FLOAT_COMPARE,
    INT_BINARY,
    INT_COMPARE,
    INTS,
    WHOLE,
    environment,
    finish,
)
from warpwatt.emulate import native
from warpwatt.emulate.builder import Builder
from warpwatt.emulate.ir import Op, Routine, Type
from warpwatt.emulate.native import engine, steps
from warpwatt.emulate.native.step_values import functions

SINGLE = (Type.F32, Type.F64)


def routine_of(op: Op, type_: Type) -> Routine:
    b = Builder()
    b.at(0)
    b.op(op, b.const(type_, 1), b.const(type_, 2))
    b.exit()
    return finish(b, 1)


@pytest.mark.parametrize(
    ("ops", "types"),
    [((*INT_BINARY, *INT_COMPARE), INTS), ((*FLOAT_BINARY, *FLOAT_COMPARE, Op.FMIN, Op.FMAX), SINGLE)],
)
def test_every_operation_on_two_numbers_has_steps(ops, types):
    lacking = [(o, t) for o in ops for t in types if engine.written(routine_of(o, t), record=False) is None]
    assert not lacking


def test_operations_on_one_number_have_steps():
    named = {f"{op} {t}" for op in (Op.POPC, Op.CLZ, Op.BREV) for t in INTS}
    named |= {f"{op} {t}" for op in (*WHOLE, Op.FSQRT, Op.FNEG, Op.FABS) for t in SINGLE}
    assert named <= set(functions())


def test_half_precision_is_compiled():
    assert engine.written(routine_of(Op.FADD, Type.F16), record=False) is None


def loop(trips: int) -> Routine:
    b = Builder()
    b.declare("n", Type.I32)
    b.at(0)
    b.set("n", b.i32(0))
    b.begin("loop")
    b.at(1)
    b.set("n", b.add(b.get("n"), b.i32(1)))
    b.branch("loop", b.compare("ult", b.get("n"), b.i32(trips)))
    b.at(2)
    b.exit()
    return finish(b, 3)


def test_only_what_runs_often_is_compiled(monkeypatch):
    seen: list[Routine] = []
    compiled = engine.compiled

    def watched(routine: Routine, *, record: bool) -> object:
        seen.append(routine)
        return compiled(routine, record=record)

    monkeypatch.setattr(engine, "compiled", watched)
    monkeypatch.setattr(steps, "PATIENCE", 100)
    context, memory = environment(1)
    runs = []
    for trips in (20, 2000):
        routine = loop(trips)
        runs.append(native.run(routine, context, memory, [0]))
        assert bool(seen) is (trips == 2000)
    assert [run.executions[1] for run in runs] == [40, 4000]


def test_patience_is_shared_by_all_runs_of_a_routine(monkeypatch):
    monkeypatch.setattr(steps, "PATIENCE", 1000)
    context, memory = environment(1)
    routine = loop(20)
    left = [0]
    written = engine.written(routine, record=False)
    assert written is not None
    for _ in range(3):
        native.run(routine, context, memory, [0])
        left.append(int(written.patience[0]))
    assert left[1] - left[2] == left[2] - left[3] > 0


def test_nothing_of_llvm_is_imported_for_steps():
    code = """
import sys
from tests.emulate.native.test_steps import environment, loop, native
native.run(loop(2), *environment(1), [0])
print(any(name.startswith("llvmlite") for name in sys.modules))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
