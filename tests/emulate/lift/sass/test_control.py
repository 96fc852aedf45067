"""Control flow of SASS on diverging lanes: regions, leaving them, calls, loops, barriers of the warp."""

from __future__ import annotations

import pytest

from tests.emulate.lift.sass.machine import LANES, start

PROLOGUE = [
    "S2R R2, SR_LANEID",
    "MOV R6, c[0x0][0x0]",
    "MOV R7, c[0x0][0x4]",
    "IMAD.WIDE.U32 R6, R2, 0x4, R6",
]
"""R2 is the lane, R7:R6 where it stores; the program goes on at 0x40."""
STORE = ["STG.E [R6.64], R0", "EXIT"]


def results(*lines: str) -> list[int]:
    """Run the prologue and these lines; what each lane stored."""
    run, found = start([*PROLOGUE, *lines])
    assert run.stop == "done", (run.stop, run.fault)
    assert not run.unknown
    return [int(word) for word in found]


def test_lanes_meet_again_behind_an_if() -> None:
    found = results(
        "BSSY B0, 0xa0",  # 40
        "ISETP.GT.AND P0, PT, R2, 0x7, PT",
        "@P0 BRA 0x90",
        "MOV R3, 0x1",
        "BRA 0x90",
        "BSYNC B0",  # 90
        "VOTE.ANY R0, PT, PT",
        *STORE,
    )
    assert found == [0xFFFFFFFF] * LANES


def test_lanes_that_left_a_region_are_not_waited_for() -> None:
    """Lanes 0-3 leave: the others meet without them, in a block behind which they come back."""
    found = results(
        "BSSY B0, 0xb0",  # 40
        "BSSY B1, 0xa0",
        "ISETP.LT.AND P0, PT, R2, 0x4, PT",
        "@P0 BREAK B1",
        "@P0 BRA 0xb0",
        "BSYNC B1",  # 90
        "VOTE.ANY R0, PT, PT",  # a0
        "BSYNC B0",  # b0
        *STORE,
    )
    assert found == [0] * 4 + [0xFFFFFFF0] * (LANES - 4)


def test_lanes_may_leave_after_others_began_to_wait() -> None:
    """The lanes that leave are in code behind the BSYNC, so the others stand there first."""
    found = results(
        "BSSY B0, 0xb0",  # 40
        "BSSY B1, 0x90",
        "ISETP.LT.AND P0, PT, R2, 0x4, PT",
        "@P0 BRA 0xd0",
        "BSYNC B1",  # 80
        "VOTE.ANY R0, PT, PT",
        "BRA 0xb0",
        "BSYNC B0",  # b0
        "BRA 0xf0",
        "BREAK B1",  # d0
        "BRA 0xb0",
        *STORE,  # f0
    )
    assert found == [0] * 4 + [0xFFFFFFF0] * (LANES - 4)


def test_a_lane_may_enter_again_after_it_left() -> None:
    """Three rounds: a lane that left in one takes part in the next, and lane 0 is waited for if late."""
    found = results(
        "MOV R1, RZ",  # 40
        "ISETP.EQ.AND P1, PT, R2, RZ, PT",
        "BSSY B0, 0xd0",  # 60: the loop
        "ISETP.EQ.AND P0, PT, R1, R2, PT",
        "@P0 BREAK B0",
        "@P0 BRA 0xd0",
        "@P1 BRA 0x130",  # a0
        "BSYNC B0",  # b0
        "VOTE.ANY R0, PT, PT",
        "IADD3 R1, R1, 0x1, RZ",  # d0
        "WARPSYNC.ALL",
        "ISETP.NE.AND P0, PT, R1, 0x3, PT",
        "@P0 BRA 0x60",
        *STORE,
        "BRA 0xb0",  # 130
    )
    everyone = 0xFFFFFFFF
    assert found == [everyone & ~4] * 2 + [everyone & ~2] + [everyone & ~4] * (LANES - 3)


def test_loops_run_as_often_as_each_lane_says() -> None:
    found = results(
        "MOV R0, RZ",
        "MOV R1, R2",
        "BSSY B0, 0xb0",
        "IADD3 R1, R1, -0x1, RZ",  # 70
        "ISETP.GE.AND P0, PT, R1, RZ, PT",
        "@P0 IADD3 R0, R0, 0x3, RZ",
        "@P0 BRA 0x70",
        "BSYNC B0",
        *STORE,
    )
    assert found == [3 * lane for lane in range(LANES)]


def test_calls_return_to_the_address_in_registers() -> None:
    """Odd lanes call from another place than even ones; the function doubles R0."""
    found = results(
        "MOV R0, R2",  # 40
        "LOP3.LUT P0, RZ, R2, 0x1, RZ, 0xc0, !PT",
        "MOV R5, 0x0",
        "@P0 BRA 0xb0",
        "MOV R4, 0xa0",
        "CALL.REL.NOINC 0xf0",  # 90
        "BRA 0xd0",
        "MOV R4, 0xd0",  # b0
        "CALL.REL.NOINC 0xf0",
        *STORE,  # d0
        "IADD3 R0, R0, R0, RZ",  # f0
        "RET.ABS.NODEC R4",
    )
    assert found == [2 * lane for lane in range(LANES)]


def test_relative_jumps_through_registers_count_from_the_next_instruction() -> None:
    found = results(
        "LOP3.LUT R4, R2, 0x1, RZ, 0xc0, !PT",  # 40
        "IMAD.SHL.U32 R4, R4, 0x20, RZ",
        "MOV R5, RZ",
        "BRX R4, 0x0",  # 70: to 80 or a0
        "MOV R0, 0x5",  # 80
        "BRA 0xb0",
        "MOV R0, 0x6",  # a0
        *STORE,
    )
    assert found == [5, 6] * (LANES // 2)


def test_a_jump_to_no_code_is_a_fault() -> None:
    run, _ = start([*PROLOGUE, "MOV R4, RZ", "MOV R5, RZ", "CALL.ABS.NOINC R4", *STORE])
    assert run.stop == "fault"


def test_functions_of_the_system_are_uncovered_and_return_zero() -> None:
    call = ["MOV R2, c[0x4][0x8]", "MOV R4, 0x7", "CALL.ABS.NOINC R2", "MOV R0, R4"]
    run, found = start([*PROLOGUE, *call, *STORE])
    assert run.stop == "done"
    assert run.unknown == {6: "CALL.ABS.NOINC"}
    assert found.tolist() == [0] * LANES


def test_diverged_lanes_take_the_slow_path() -> None:
    """BRA.DIV jumps where not all lanes of the mask are there; WARPSYNC.COLLECTIVE gathers them."""
    found = results(
        "MOV R0, RZ",  # 40
        "UMOV UR4, 0xffffffff",
        "MOV R3, 0xffffffff",
        "ISETP.LT.AND P0, PT, R2, 0x4, PT",
        "@P0 BRA 0xb0",
        "IADD3 R0, R0, 0x1, RZ",
        "BRA.DIV UR4, 0xd0",  # a0
        "BRA.DIV UR4, 0xd0",  # b0
        "EXIT",
        "WARPSYNC.COLLECTIVE R3, 0xe0",  # d0
        "VOTE.ANY R1, PT, PT",
        "IADD3 R0, R0, R1, RZ",
        *STORE,
    )
    assert found == [0xFFFFFFFF] * 4 + [0] * (LANES - 4)


def test_lanes_meet_before_what_they_do_together() -> None:
    """WARPSYNC.EXCLUSIVE, before REDUX where the compiler does not know who is there."""
    found = results(
        "MOV R0, RZ",  # 40
        "MOV R3, 0xffffffff",
        "ISETP.LT.AND P0, PT, R2, 0x4, PT",
        "@P0 BRA 0x90",
        "IADD3 R0, R0, 0x1, RZ",
        "WARPSYNC.EXCLUSIVE R3",  # 90
        "VOTE.ANY R1, PT, PT",
        "IADD3 R0, R0, R1, RZ",
        *STORE,
    )
    assert found == [0xFFFFFFFF] * 4 + [0] * (LANES - 4)


def test_a_saved_barrier_works_when_it_is_restored() -> None:
    found = results(
        "BSSY B6, 0xb0",  # 40
        "BMOV.32.CLEAR R8, B6",
        "BSSY B6, 0x80",
        "BSYNC B6",
        "BMOV.32 B6, R8",
        "ISETP.GT.AND P0, PT, R2, 0x7, PT",
        "@P0 BRA 0xc0",
        "MOV R3, 0x1",
        "BSYNC B6",  # c0
        "VOTE.ANY R0, PT, PT",
        *STORE,
    )
    assert found == [0xFFFFFFFF] * LANES


def test_lanes_that_left_a_barrier_stay_out_when_it_is_restored() -> None:
    found = results(
        "BSSY B7, 0xf0",  # 40
        "BSSY B6, 0xe0",
        "ISETP.LT.AND P0, PT, R2, 0x8, PT",
        "@P0 BRA 0xe0",
        "BREAK B6",  # 80
        "BMOV.32.CLEAR R8, B6",
        "BSSY B6, 0xb0",
        "BSYNC B6",
        "BMOV.32 B6, R8",
        "BRA 0xf0",
        "BSYNC B6",  # e0
        "BSYNC B7",
        "VOTE.ANY R0, PT, PT",
        *STORE,
    )
    assert found == [0xFFFFFFFF] * LANES


@pytest.mark.parametrize(("kind", "wanted"), [("POPC", 8), ("OR", 1), ("AND", 0)])
def test_reductions_of_a_barrier(kind: str, wanted: int) -> None:
    found = results(
        "ISETP.LT.AND P0, PT, R2, 0x8, PT",
        f"BAR.RED.{kind}.DEFER_BLOCKING 0x0, P0",
        "B2R.RESULT R0, P1",
        *([] if kind == "POPC" else ["SEL R0, RZ, 0x1, !P1"]),
        *STORE,
    )
    assert found == [wanted] * LANES


def test_one_lane_is_elected() -> None:
    found = results(
        "MOV R0, RZ", "ISETP.GT.AND P1, PT, R2, 0x4, PT", "@P1 ELECT P0, URZ, PT", "@P0 MOV R0, 0x1", *STORE
    )
    assert found == [int(lane == 5) for lane in range(LANES)]


@pytest.mark.parametrize(
    ("register", "wanted"),
    [
        ("SR_LANEID", lambda k: k), ("SR_TID.X", lambda k: k), ("SR_EQMASK", lambda k: 1 << k),
        ("SR_LTMASK", lambda k: (1 << k) - 1), ("SR_LEMASK", lambda k: (2 << k) - 1),
        ("SR_GTMASK", lambda k: 0xFFFFFFFF & ~((2 << k) - 1)),
        ("SR_GEMASK", lambda k: 0xFFFFFFFF & ~((1 << k) - 1)),
        ("SR_CTAID.X", lambda _: 0), ("SR_SWINHI", lambda _: 0xF000),
    ],
)  # fmt: skip
def test_special_registers(register: str, wanted: object) -> None:
    assert callable(wanted)
    assert results(f"S2R R0, {register}", *STORE) == [wanted(lane) for lane in range(LANES)]
