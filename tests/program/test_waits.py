"""What waits: found in PTX as compilers write it."""

from __future__ import annotations

import pytest

from warpwatt.core.program import Immediate, Instruction, Level, Program
from warpwatt.isa.ptx import lower, parse
from warpwatt.program.waits import Poll, clock_loops, polls, retries, sleeps

HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 x)\n{\n"
REGISTERS = ".reg .pred %p<9>;\n.reg .b32 %r<9>;\n.reg .b64 %rd<9>;\nld.param.u64 %rd1, [x];\n"


def program(body: str) -> Program:
    return lower(parse(HEAD + REGISTERS + body + "\nret;\n}\n"), "k")


def test_sleeps_of_constants_are_known() -> None:
    found = sleeps(program("mov.u32 %r1, 500; nanosleep.u32 100; nanosleep.u32 %r1; nanosleep.u32 %r2;"))
    assert list(found.values()) == pytest.approx([100e-9, 500e-9, None])


@pytest.mark.parametrize(
    ("work", "watches"), [("", True), ("ld.global.u32 %r3, [%rd1];", False), ("bar.sync 0;", False)]
)
def test_a_loop_that_reads_the_clock_and_does_nothing_else_watches_it(work: str, watches: bool) -> None:
    loop = f"L: mov.u64 %rd2, %clock64; {work} setp.lt.s64 %p1, %rd2, 9000; @%p1 bra L;"
    assert bool(clock_loops(program(loop))) == watches


@pytest.mark.parametrize(
    ("loop", "found"),
    [
        pytest.param("atom.global.cas.b32 %r1, [%rd1], 0, 1; setp.ne.s32 %p1, %r1, 0;", [True], id="lock"),
        pytest.param("ld.volatile.global.u32 %r1, [%rd1]; setp.eq.s32 %p1, %r1, 0;", [False], id="flag"),
        pytest.param("atom.global.add.u32 %r1, [%rd1], 0; setp.eq.s32 %p1, %r1, 0;", [False], id="add of 0"),
        pytest.param("atom.global.add.u32 %r1, [%rd1], 1; setp.lt.s32 %p1, %r1, 9;", [], id="work queue"),
        pytest.param(
            "mov.u32 %r2, %r1; atom.global.cas.b32 %r1, [%rd1], %r2, 7; setp.ne.s32 %p1, %r1, %r2;",
            [], id="retried compare-and-swap",
        ),
        pytest.param("ld.global.u64 %rd1, [%rd1]; setp.ne.s64 %p1, %rd1, 0;", [], id="linked list"),
        pytest.param(
            "add.s32 %r2, %r2, 1; ld.global.u32 %r1, [%rd1]; setp.lt.s32 %p1, %r2, %r1;", [], id="bound"
        ),
    ],
)  # fmt: skip
def test_loops_that_wait_for_others(loop: str, found: list[bool]) -> None:
    made = program(f"L: {loop} @%p1 bra L;")
    assert [poll.locks for poll in polls(made)] == found
    assert all(isinstance(poll, Poll) and made.instructions[poll.index].memory for poll in polls(made))


@pytest.mark.parametrize(
    ("loop", "found"),
    [
        pytest.param("mov.u32 %r2, %r1; atom.shared.cas.b32 %r1, [%rd1], %r2, 7;", True, id="retried"),
        pytest.param("atom.global.cas.b32 %r1, [%rd1], 0, 1; mov.u32 %r2, 0;", False, id="lock"),
        pytest.param(
            "add.s64 %rd1, %rd1, 4; mov.u32 %r2, 0; atom.global.cas.b32 %r1, [%rd1], 0, 1;",
            False, id="next place of a hash table",
        ),
    ],
)  # fmt: skip
def test_compare_and_swaps_that_are_retried(loop: str, found: bool) -> None:
    made = program(f"mov.u32 %r1, 0; L: {loop} setp.ne.s32 %p1, %r1, %r2; @%p1 bra L;")
    swaps = [i.index for i in made.instructions if ".cas." in i.opcode]
    assert sorted(retries(made)) == (swaps if found else [])


def test_sleep_beside_a_barrier_object_asks_for_no_time():
    code = tuple(
        Instruction(i, f"NANOSLEEP{m}", (Immediate(100, "0x64"),)) for i, m in enumerate(("", ".SYNCS"))
    )
    assert sleeps(Program("k", Level.SASS, "sm_100", code)) == pytest.approx({0: 100e-9})
