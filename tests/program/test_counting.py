from __future__ import annotations

from typing import Any

import pytest
from hypothesis import assume, event, given, settings
from hypothesis import strategies as st

from tests.operations import grows_linearly
from warpwatt.core.arguments import Scalar
from warpwatt.core.errors import ArgumentError
from warpwatt.core.launch import Dim3, Launch
from warpwatt.core.program import Address, Program
from warpwatt.isa.ptx import lower, parse
from warpwatt.program.counting import static_execution

from .nests import TooLongError, nests, ptx, run


def program_of(nest) -> Program:
    return lower(parse(ptx(nest)), "k")


def marks(execution) -> dict[int, tuple[float, Any]]:
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


# Programs by hand -------------------------------------------------------------------------------------------

HEAD = """.version 9.0
.target sm_90
.address_size 64
.extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);
.visible .entry k(.param .u64 p, .param .u32 n) {
.reg .pred %p<9>; .reg .b32 %r<9>; .reg .b64 %d<9>; .reg .f32 %f<9>;
ld.param.u64 %d1, [p]; ld.param.u32 %r1, [n]; mov.u32 %r2, %tid.x;
"""


def execution_of(body: str, n: float = 10, grid: int = 1, block: int = 32):
    program = lower(parse(HEAD + body + "\n}"), "k")
    return static_execution(program, Launch(Dim3(grid), Dim3(block), arguments={"n": Scalar(n)}))


def test_irreducible_cycles_are_counted_once_and_said():
    execution = execution_of(
        """setp.lt.s32 %p1, %r2, 7; @%p1 bra B;
A: add.s32 %r3, %r2, 1;
B: ld.global.u32 %r4, [%d1]; setp.eq.s32 %p2, %r4, 0; @%p2 bra A; ret;"""
    )
    assert any("several entries" in a.message for a in execution.assumptions)


def test_endless_loops_are_assumed():
    execution = execution_of("A: add.s32 %r3, %r3, 1; bra A;")
    assert execution.loops[0].known is False
    assert execution.assumptions


def test_indirect_branches_reach_all_targets():
    execution = execution_of(
        """T: .branchtargets A, B, C;
ld.global.u32 %r3, [%d1]; brx.idx %r3, T;
A: st.global.u32 [%d1], %r1; ret;
B: st.global.u32 [%d1], %r1; ret;
C: st.global.u32 [%d1], %r1; ret;"""
    )
    stores = [i.index for i in execution.program.instructions if i.opcode == "st.global.u32"]
    assert [execution.counts[i] for i in stores] == [1, 1, 1]
    assert sum(execution.lanes[i] for i in stores) == pytest.approx(32)


def test_predicated_instructions_execute_with_fewer_lanes():
    execution = execution_of("setp.lt.s32 %p1, %r2, %r1; @%p1 st.global.u32 [%d1], %r1; ret;", n=5)
    store = next(i.index for i in execution.program.instructions if i.opcode == "st.global.u32")
    assert (execution.counts[store], execution.lanes[store]) == (1, 5)


def test_values_selected_by_predicates_bound_loops():
    execution = execution_of(
        """setp.lt.s32 %p1, %r1, 20; selp.b32 %r3, 4, 9, %p1; @!%p1 add.s32 %r3, %r3, 100; mov.u32 %r4, 0;
A: add.s32 %r4, %r4, 1; setp.lt.s32 %p2, %r4, %r3; @%p2 bra A; ret;"""
    )
    assert execution.loops[0].trips == 4


def test_the_count_of_a_later_loop_follows_from_an_earlier_one():
    execution = execution_of(
        """mov.u32 %r3, 0;
A: add.s32 %r3, %r3, 4; add.s32 %r4, %r3, 4; setp.le.s32 %p1, %r4, %r1; @%p1 bra A;
B: add.s32 %r3, %r3, 1; setp.lt.s32 %p2, %r3, %r1; @%p2 bra B; ret;""",
        n=103,
    )
    assert [loop.trips for loop in execution.loops] == [25, 3]


def test_signed_halving_by_shifts_is_followed():
    execution = execution_of(
        """mov.u32 %r3, %r1;
A: shr.u32 %r4, %r3, 31; add.s32 %r5, %r3, %r4; shr.s32 %r3, %r5, 1;
setp.gt.s32 %p1, %r3, 0; @%p1 bra A; ret;""",
        n=1000,
    )
    assert execution.loops[0].trips == 10


def test_float_counters_are_followed():
    execution = execution_of(
        """mov.f32 %f1, 0f00000000;
A: add.f32 %f1, %f1, 0f3F000000; setp.lt.f32 %p1, %f1, 0f40800000; @%p1 bra A; ret;"""
    )
    assert execution.loops[0].trips == 8


def test_two_running_values_are_compared():
    execution = execution_of(
        """mov.u32 %r3, 0; mov.u32 %r4, %r1;
A: add.s32 %r3, %r3, 1; sub.s32 %r4, %r4, 2; setp.lt.s32 %p1, %r3, %r4; @%p1 bra A; ret;""",
        n=30_000,
    )
    assert execution.loops[0].trips == 10_000


def test_calls_without_a_body_are_said():
    execution = execution_of(
        """{ .param .b64 a; .param .b64 b; .param .b32 r; st.param.b64 [a], %d1; st.param.b64 [b], %d1;
call.uni (r), vprintf, (a, b); } ret;"""
    )
    assert any("vprintf" in a.message for a in execution.assumptions)


def test_partial_warps_have_fewer_lanes():
    execution = execution_of("st.global.u32 [%d1], %r1; ret;", grid=3, block=40)
    assert execution.counts[-1] == 6
    assert execution.lanes[-1] == 20


@pytest.mark.parametrize("shape", ["ifs", "loops"])
def test_work_is_about_linear(shape):
    def analyse(count: int) -> None:
        piece = {
            "ifs": "setp.lt.s32 %p1, %r3, {i}; @%p1 bra L{i}; add.s32 %r3, %r3, 1; bar.sync 0; L{i}:",
            "loops": "mov.u32 %r5, 0; L{i}: add.s32 %r5, %r5, 1; setp.lt.s32 %p1, %r5, %r1; @%p1 bra L{i};",
        }[shape]
        execution_of("mov.u32 %r3, 0;" + "".join(piece.format(i=i) for i in range(count)) + "ret;")

    assert grows_linearly(analyse, 60, 8)


def test_sizes_added_to_byte_addresses_are_not_taken_for_pointers():
    text = """.version 9.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 p, .param .u64 n) {
.reg .pred %p<9>; .reg .b64 %d<9>; .reg .b16 %h<9>;
ld.param.u64 %d1, [p]; ld.param.u64 %d2, [n]; mov.u64 %d3, 0;
A: add.s64 %d4, %d1, %d2; sub.s64 %d4, %d4, %d3; ld.global.u8 %h1, [%d4];
add.s64 %d3, %d3, 1; setp.lt.u64 %p1, %d3, %d2; @%p1 bra A; ret; }"""
    with pytest.raises(ArgumentError, match=r"argument 1 \(u64\)"):
        static_execution(lower(parse(text), "k"), Launch(Dim3(), Dim3(32)))
