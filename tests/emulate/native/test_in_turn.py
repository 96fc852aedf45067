"""Blocks that run in turn within one call do what they do when each is started by itself."""

from __future__ import annotations

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from tests.emulate.native.compare import differences, memory_differences
from tests.emulate.native.flows import FlowWriter
from tests.emulate.native.programs import environment
from tests.emulate.native.test_random import QUIET
from warpwatt.emulate import native
from warpwatt.emulate.budget import Budget
from warpwatt.emulate.run import Limits, Run, Stop

UNITS = ((2,), (0,), (3,), (1,))


def one_by_one(start: native.Session, budget: Budget) -> list[Run]:
    found: list[Run] = []
    while len(found) < len(UNITS) and not budget.spent and all(run.stop is Stop.DONE for run in found):
        found.append(start(UNITS[len(found)], budget.limits))
        budget = budget.after(found[-1])
    return found


@QUIET
@given(
    seed=st.integers(0, 2**32),
    warp_instructions=st.sampled_from((300, 2000, 1 << 20)),
    trace_bytes=st.sampled_from((4000, 40_000, 1 << 20)),
    fewest=st.integers(1, 4),
    faults=st.booleans(),
)
def test_blocks_in_turn_are_as_blocks_one_by_one(seed, warp_instructions, trace_bytes, fewest, faults):
    budget = Budget.of(Limits(warp_instructions, trace_bytes), fewest)
    routine = FlowWriter(Random(seed), faults=faults).routine(12)
    (context, ours), (_, theirs) = (environment(seed, 40, 4, 8192) for _ in range(2))
    wanted = one_by_one(native.Session(routine, context, theirs, record=True), budget)
    start, found = native.Session(routine, context, ours, record=True), list[Run]()
    while len(found) < len(wanted):  # where traces leave no room for another, there is one more turn
        for run in start.in_turn(UNITS[len(found) :], budget):
            found.append(run)
            budget = budget.after(run)
    assert not [text for pair in zip(found, wanted, strict=True) for text in differences(*pair)]
    assert not memory_differences(ours, theirs)
