from __future__ import annotations

import pytest
from hypothesis import assume, event, given, settings
from hypothesis import strategies as st

from warpwatt.core.arguments import Scalar
from warpwatt.core.launch import Dim3, Launch
from warpwatt.core.program import Address, Program
from warpwatt.isa.ptx import lower, parse
from warpwatt.program.counting import static_execution

from .nests import TooLongError, nests, ptx, run


def program_of(nest) -> Program:
    return lower(parse(ptx(nest)), "k")


def marks(execution) -> dict[int, tuple[float, float]]:
    found = {}
    for i in execution.program.instructions:
        if i.opcode == "st.global.u32" and execution.counts[i.index]:
            address = i.operands[0]
            assert isinstance(address, Address)
            count = execution.counts[i.index]
            found[address.offset // 4] = (count, pytest.approx(count * execution.lanes[i.index]))
    return found


def executed(nest, n, grid, block):
    """Return the static execution and what running every thread says."""
    try:
        expected = run(nest, n, grid, block)
    except TooLongError:
        assume(False)
    launch = Launch(Dim3(grid), Dim3(block), arguments={"n": Scalar(n)})
    return static_execution(program_of(nest), launch), expected


blocks = st.sampled_from([1, 7, 32, 40, 64])


@given(nests(leaves=False), st.integers(-2, 40), st.integers(1, 3), blocks)
@settings(max_examples=80, deadline=None)
def test_counts_of_loop_nests_equal_those_of_running_every_thread(nest, n, grid, block):
    execution, expected = executed(nest, n, grid, block)
    assert not execution.assumptions
    assert marks(execution) == expected


@given(nests(), st.integers(-2, 40), st.integers(1, 3), blocks)
@settings(max_examples=80, deadline=None)
def test_counts_with_breaks_and_returns_equal_those_of_running_every_thread(nest, n, grid, block):
    execution, expected = executed(nest, n, grid, block)
    if execution.assumptions:  # an inner loop that only some lanes would ever leave: honest, not exact
        event("assumed")
        assume(False)
    assert marks(execution) == expected
