"""The table: whatever is not known is uncovered and says so; nothing is ignored and nothing raises."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.emulate.lift.sass.machine import instruction
from tests.emulate.lift.sass.test_integer import CASES, PREDICATES, WIDE_CASES
from warpwatt.core.launch import Dim3, Launch
from warpwatt.core.program import Level, Program
from warpwatt.emulate.builder import Builder
from warpwatt.emulate.lift.sass.code import addressed, flat
from warpwatt.emulate.lift.sass.constants import launch_constants
from warpwatt.emulate.lift.sass.table import find, lift_instruction

if TYPE_CHECKING:
    from collections.abc import Sequence

TEXTS = sorted(CASES | WIDE_CASES | PREDICATES)
OPERANDS = (
    "R1",
    "-R2",
    "~R3",
    "|R4|",
    "RZ",
    "UR5",
    "P1",
    "!P2",
    "PT",
    "0x7",
    "1.5",
    "c[0x0][0x8]",
    "[R2.64]",
    "B0",
    "R1.H0_H0",
)


def lifted(text: str) -> Builder:
    """Return the builder after one instruction."""
    one = instruction(text)
    builder = Builder()
    builder.begin()
    builder.at(0)
    lift_instruction(builder, one, Program("test", Level.SASS, "sm_90", (one,)))
    return builder


@pytest.mark.parametrize("text", TEXTS)
def test_what_is_known_is_covered(text: str) -> None:
    assert not lifted(text).uncovered


@pytest.mark.parametrize("text", TEXTS)
def test_an_unknown_modifier_makes_it_uncovered(text: str) -> None:
    opcode, _, operands = text.partition(" ")
    assert lifted(f"{opcode}.STRANGE {operands}").uncovered == {0: f"{opcode}.STRANGE"}


@given(st.sampled_from(TEXTS), st.lists(st.sampled_from(OPERANDS), max_size=8))
def test_any_operands_are_covered_or_not_but_never_raise(text: str, operands: Sequence[str]) -> None:
    lifted(f"{text.split(maxsplit=1)[0]} {', '.join(operands)}")


@pytest.mark.parametrize(
    "text",
    [
        "IADD3.X R0, -R1, R2, RZ, P0, !PT",
        "IADD3 R0, P0, R1, R2, R3",
        "MOV R0, R1, 0x3",
        "SGXT R0, R1, c[0x1b][0x0]",
        "LEA R0, R1, R2, R3",
        "VIADD.16x2 R0, -R1, R2",
        "P2R R0, PR, RZ, 0x80",
        "CALL.ABS.NOINC vprintf",
        "S2R R0, SR_STRANGE",
    ],
)
def test_forms_that_no_probe_has_shown_are_uncovered(text: str) -> None:
    assert lifted(text).uncovered


def test_the_entry_that_needs_most_is_found() -> None:
    wide, plain = find("IMAD.WIDE.U32"), find("IMAD.U32")
    assert wide is not None
    assert plain is not None
    assert wide.function is not plain.function
    assert find("IMAD.WIDE.MOV") is None


def test_functions_follow_the_kernel_at_their_addresses() -> None:
    called = Program("f", Level.SASS, "sm_90", (instruction("RET.ABS.NODEC R4"),), address=0x40)
    body = ("CALL.REL.NOINC f", "EXIT")
    kernel = Program(
        "k",
        Level.SASS,
        "sm_90",
        tuple(instruction(t, i) for i, t in enumerate(body)),
        functions={"f": called},
    )
    whole = flat(kernel)
    assert [i.opcode for i in whole.instructions] == ["CALL.REL.NOINC", "EXIT", "NOP", "NOP", "RET.ABS.NODEC"]
    assert [i.index for i in whole.instructions] == list(range(5))
    assert whole.labels == {"k": 0, "f": 4, "L_0000": 0, "L_0010": 1, "L_0040": 4}
    assert addressed(whole) == {1}


@pytest.mark.parametrize("target", ["sm_70", "sm_75", "sm_80", "sm_86", "sm_90", "sm_100", "sm_120"])
def test_bank_0_lies_in_front_of_the_parameters(target: str) -> None:
    bank = launch_constants(target, Launch(Dim3(3, 5, 7), Dim3(32, 2, 4), dynamic_shared=48), 0x280, 11)
    words = [int.from_bytes(bank[k : k + 4], "little") for k in range(0, len(bank), 4)]
    assert len(bank) <= {"sm_90": 0x210, "sm_100": 0x384, "sm_120": 0x384}.get(target, 0x160)
    assert {3, 5, 7, 32, 2, 4, 48, 0x280, 11} <= set(words)
