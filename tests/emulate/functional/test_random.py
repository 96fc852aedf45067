"""Random routines leave the same memory as on the counting engine, bit by bit, and fail where it does.

Both where lanes' registers are LLVM's values and where they lie in the warp's record, as in long routines.
"""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.emulate.native.compare import memory_differences
from tests.emulate.native.flows import FlowWriter
from tests.emulate.native.programs import Writer, environment
from warpwatt.emulate import native
from warpwatt.emulate.functional import Outcome, engine, execute, text
from warpwatt.emulate.run import Stop

if TYPE_CHECKING:
    from collections.abc import Callable

    from warpwatt.emulate.ir import Routine
    from warpwatt.emulate.memory import DeviceMemory
    from warpwatt.emulate.run import Context

QUIET = settings(max_examples=3, deadline=None, suppress_health_check=list(HealthCheck))


@pytest.fixture(autouse=True, params=[False, True], ids=["values", "record"])
def form(request, monkeypatch):
    """Let routines have one form, however long they are."""
    monkeypatch.setattr(text, "MOST_PARKED", -1 if request.param else 10**9)
    monkeypatch.setattr(engine, "_FIRST_TURN", 0)  # warps take turns as on the counting engine


def compare(routine: Routine, make: Callable[[], tuple[Context, DeviceMemory]]) -> Outcome:
    """Execute two blocks on both engines; what can be seen afterwards must be equal."""
    (context, ours), (_, theirs) = make(), make()
    outcome = execute(routine, context, ours, blocks=[0, 1], threads=1)
    run = native.run(routine, context, theirs, [0, 1])
    assert (outcome.stop, outcome.fault) == (run.stop, run.fault)
    if run.stop is Stop.DONE:
        assert outcome.warp_instructions >= run.executions.sum()  # blocks without any count as one
        assert not memory_differences(ours, theirs)
    return outcome


@QUIET
@given(st.integers(0, 2**32), st.integers(5, 60), st.sampled_from((64, 40, 7)))
def test_straight_line(seed, length, threads):
    writer = Writer(Random(seed))
    writer.inputs()
    for _ in range(length):
        writer.operation()
    writer.outputs()
    compare(writer.routine(), lambda: environment(seed, threads))


@QUIET
@given(st.integers(0, 2**32), st.integers(5, 25), st.sampled_from((64, 40, 96)))
def test_control_flow_and_memory(seed, statements, threads):
    routine = FlowWriter(Random(seed), shuffles=False).routine(statements)
    compare(routine, lambda: environment(seed, threads, shared=8192))


@QUIET
@given(st.integers(0, 2**32), st.integers(5, 25))
def test_faults(seed, statements):
    routine = FlowWriter(Random(seed), faults=True, shuffles=False).routine(statements)
    compare(routine, lambda: environment(seed, 64))
