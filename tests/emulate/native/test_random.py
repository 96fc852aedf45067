"""Random routines give the same on both engines, bit for bit."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.emulate.native.compare import compare
from tests.emulate.native.flows import FlowWriter
from tests.emulate.native.programs import Writer, environment
from warpwatt.emulate.ir import Type
from warpwatt.emulate.native import steps
from warpwatt.emulate.run import Limits, Stop

QUIET = settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))


@QUIET
@given(st.integers(0, 2**32), st.integers(5, 60), st.sampled_from((64, 40, 7)))
def test_straight_line(seed, length, threads):
    writer = Writer(Random(seed))
    writer.inputs()
    for _ in range(length):
        writer.operation()
    writer.outputs()
    compare(writer.routine(), lambda: environment(seed, threads), [0, 1])


@settings(QUIET, max_examples=40)
@given(st.integers(0, 2**32), st.integers(5, 60), st.sampled_from((64, 40, 7)))
def test_steps_in_a_straight_line(seed, length, threads):
    """Without half precision, of which there are no steps."""
    writer = Writer(Random(seed), (Type.F32, Type.F64))
    writer.inputs()
    for _ in range(length):
        writer.operation()
    writer.outputs()
    compare(writer.routine(), lambda: environment(seed, threads), [0, 1])


@QUIET
@given(st.integers(0, 2**32), st.integers(5, 25), st.sampled_from((0, 1, 5)))
def test_what_turns_out_long_goes_on_as_machine_code(seed, statements, patience):
    routine = FlowWriter(Random(seed)).routine(statements)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(steps, "PATIENCE", patience)
        compare(routine, lambda: environment(seed, 64, shared=8192), [0, 1])


@QUIET
@given(st.integers(0, 2**32), st.integers(5, 25), st.sampled_from((64, 40, 96)))
def test_control_flow_and_memory(seed, statements, threads):
    routine = FlowWriter(Random(seed)).routine(statements)
    run = compare(routine, lambda: environment(seed, threads, shared=4096 + 4096), [0, 1])
    assert run.stop is Stop.DONE or run.fault is not None


@QUIET
@given(st.integers(0, 2**32), st.integers(5, 25))
def test_faults(seed, statements):
    routine = FlowWriter(Random(seed), faults=True).routine(statements)
    compare(routine, lambda: environment(seed, 64), [0, 1])


@QUIET
@given(st.integers(0, 2**32), st.integers(1, 400))
def test_budget(seed, budget):
    routine = FlowWriter(Random(seed)).routine(12)
    compare(routine, lambda: environment(seed, 64, shared=8192), [1, 0], Limits(warp_instructions=budget))
