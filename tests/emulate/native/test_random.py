"""Random routines give the same on both engines, bit for bit."""

from __future__ import annotations

from random import Random

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.emulate.native.compare import compare
from tests.emulate.native.programs import Writer, environment

QUIET = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))


@QUIET
@given(st.integers(0, 2**32), st.integers(5, 60), st.sampled_from((64, 40, 7)))
def test_straight_line(seed, length, threads):
    writer = Writer(Random(seed))
    writer.inputs()
    for _ in range(length):
        writer.operation()
    writer.outputs()
    compare(writer.routine(), lambda: environment(seed, threads), [0, 1])
