"""Which parameters a program may read: the constant bank's bytes that its instructions take."""

from __future__ import annotations

import pytest

from tests.emulate.lift.sass.machine import instruction
from warpwatt.core.program import Level, Parameter, Program
from warpwatt.emulate.parameters import is_read

HIDDEN = Parameter("scratch", "u64", 8, 4, offset=4)


def reads_hidden(text: str) -> bool:
    """Whether an instruction that names the word at 0x160 may read the parameter behind it."""
    program = Program("k", Level.SASS, "sm_80", (instruction(text),), parameter_base=0x160)
    return is_read(program, HIDDEN, 4)


@pytest.mark.parametrize(
    "text",
    [
        "IMAD.WIDE R4, R2, c[0x0][0x160], R6",
        "IMAD.WIDE.U32 R4, P0, R2, c[0x0][0x160], R6",
        "IMAD R4, R2, c[0x0][0x160], R6",
    ],
)
def test_a_factor_has_four_bytes(text):
    assert not reads_hidden(text)


@pytest.mark.parametrize(
    "text",
    [
        "IMAD.WIDE R4, R2, 0x4, c[0x0][0x160]",
        "IMAD.WIDE.U32 R4, P0, R2, 0x4, c[0x0][0x160]",
        "DADD R4, R2, c[0x0][0x160]",
        "DFMA R4, R2, R6, c[0x0][0x160]",
    ],
)
def test_an_addend_of_a_wide_multiplication_and_a_double_have_eight(text):
    assert reads_hidden(text)
