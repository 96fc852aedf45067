import pytest

from warpwatt.core.program import Address, Level, Register, Vector
from warpwatt.isa.sass.operands import parse_operand
from warpwatt.render.listing import operand_text

SPELLINGS = (
    "R2", "RZ", "UR4", "-R3", "|R3|", "-|R3|.reuse", "~R7", "!P0", "UPT", "R2.H0_H0", "R4.64",
    "SR_TID.X", "B0", "0x10", "-0x4", "1.5", "+INF", "c[0x0][0x160]", "-c[0x0][0x168]", "|c[0x3][0x8]|",
    "c[0x0][R3+0x20]", "[R2]", "[R2+0x10]", "[R2-0x10]", "[R2.X4+0x8]", "[R2.64+UR4]",
    "desc[UR4][R2.64+0x8]", "cx[UR6][0x10]", "`(.L_x_2)", "[UR5]", "[0x40]",
)  # fmt: skip


@pytest.mark.parametrize("text", SPELLINGS)
def test_sass_operands_survive_the_round_trip(text):
    operand = parse_operand(text)
    assert parse_operand(operand_text(operand, Level.SASS)) == operand


@pytest.mark.parametrize("text", [s for s in SPELLINGS if s not in ("[R2.X4+0x8]",)])
def test_sass_operands_look_as_they_did(text):
    assert operand_text(parse_operand(text), Level.SASS) == text


def test_ptx_operands():
    vector = Vector((Register("%f1"), Register("%f2")))
    assert operand_text(vector, Level.PTX) == "{%f1, %f2}"
    assert operand_text(Address(Register("%rd1"), 16), Level.PTX) == "[%rd1+16]"
