"""Control codes, operands, register widths and tensor shapes: one instruction at a time."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warpwatt.core.program import Access, Address, ControlCode, Guard, Immediate, Register, Symbol, Vector
from warpwatt.isa.sass import decode_control
from warpwatt.isa.sass.lower import flops_of
from warpwatt.isa.sass.opcodes import lookup, table, tile
from warpwatt.isa.sass.operands import parse_operand, parse_operands
from warpwatt.isa.sass.registers import find_registers


def slow_control(word: int) -> ControlCode:
    """Read the code off the binary digits, most significant first, as the published figures draw it."""
    digits = format(word, "0128b")
    code = digits[2:23]  # bits 125 down to 105
    reuse, wait, read_barrier, write_barrier, yields, stall = (
        int(code[a:b], 2) for a, b in ((0, 4), (4, 10), (10, 13), (13, 16), (16, 17), (17, 21))
    )
    return ControlCode(
        stall, yields == 0, None if write_barrier == 7 else write_barrier,
        None if read_barrier == 7 else read_barrier, wait, reuse,
    )  # fmt: skip


@given(st.integers(0, 2**128 - 1))
def test_control_code_is_read_bit_by_bit(word):
    assert decode_control(word) == slow_control(word)


@pytest.mark.parametrize(
    ("text", "operand"),
    [
        ("R0", Register("R0")),
        ("-R24", Register("R24", negated=True)),
        ("~R3.reuse", Register("R3", modifiers=("not", "reuse"))),
        ("-|R3|.reuse", Register("R3", True, ("abs", "reuse"))),
        ("R8.reuse.H0_H0", Register("R8", modifiers=("reuse", "H0_H0"))),
        ("!PT", Register("PT", negated=True)),
        ("UP2", Register("UP2")),
        ("SR_TID.X", Register("SR_TID.X")),
        ("SRZ", Register("SRZ")),
        ("B7", Register("B7")),
        ("0x1f", Immediate(31, "0x1f")),
        ("-0x10", Immediate(-16, "-0x10")),
        ("+INF ", Immediate(float("inf"), "+INF")),
        ("1.5e-3", Immediate(0.0015, "1.5e-3")),
        ("3", Immediate(3.0, "3")),
        ("c[0x0][0x160]", Address(Symbol("c[0x0]"), 0x160)),
        ("-c[0x0][0x160]", Address(Symbol("c[0x0]"), 0x160, modifiers=("neg",))),
        ("c[0x2][R0+0x18]", Address(Symbol("c[0x2]"), 0x18, Register("R0"))),
        ("cx[UR4][0x8]", Address(Symbol("cx[UR4]"), 8)),
        ("[R2+-0x2]", Address(Register("R2"), -2)),
        ("[R2.X4+UR5+0x10]", Address(Register("UR5"), 16, Register("R2", modifiers=("X4",)), 4)),
        ("[R17.X16]", Address(None, 0, Register("R17", modifiers=("X16",)), 16)),
        ("[R24.64+UR4+0x8]", Address(Register("R24", modifiers=("64",)), 8, Register("UR4"))),
        ("desc[UR4][R2.64+0x8]", Address(Register("R2", modifiers=("64",)), 8, modifiers=("desc[UR4]",))),
        ("gdesc[UR14]", Address(Register("UR14"), modifiers=("gdesc",))),
        ("tmem[UR8+0x10]", Address(Register("UR8"), 16, modifiers=("tmem",))),
        ("{5,4}", Vector((Symbol("5"), Symbol("4")))),
        ("2D", Symbol("2D")),
        ("gsb0", Symbol("gsb0")),
        ("$__internal_0_$f", Symbol("$__internal_0_$f")),
    ],
)
def test_operand(text, operand):
    found = parse_operand(text)
    if text == "{5,4}":
        assert [e.value for e in found.elements] == [5, 4]
    else:
        assert found == operand


@given(st.text(alphabet="RUPcdes[]{}0x1f+-.|,~! X4ZT", max_size=30))
def test_any_text_becomes_operands(text):
    parse_operands(text)


# opcode, operands, guard -> writes, reads; widths as NVIDIA's compiler uses them in the probes.
CASES = [
    ("FFMA", "R0,R1,c[0x0][0x160],-R2", "", "R0", "R1 R2"),
    ("DFMA", "R12,R24,-UR4,R10", "", "R12 R13", "R24 R25 UR4 UR5 R10 R11"),
    ("DSETP.MAX.AND", "P0,P1,R16,R12,PT", "", "P0 P1", "R16 R17 R12 R13"),
    ("IMAD.WIDE", "R2,R5,0x4,R8", "", "R2 R3", "R5 R8 R9"),
    ("IMAD.WIDE.U32", "R2,P0,R5,R6,R8", "", "R2 R3 P0", "R5 R6 R8 R9"),
    ("IMAD.HI.U32", "R3,R3,R5,R2", "", "R3", "R3 R5 R2"),
    ("IADD3", "R8,P0,PT,R0,UR4,RZ", "", "R8 P0", "R0 UR4"),
    ("IADD3.X", "R11,PT,PT,RZ,R11,RZ,P0,!PT", "", "R11", "R11 P0"),
    ("LOP3.LUT", "P1,R6,R2,0x80000000,RZ,0xc0,!PT", "", "P1 R6", "R2"),
    ("ISETP.GE.AND", "P0,PT,R2,0x2,P3", "", "P0", "R2 P3"),
    ("PLOP3.LUT", "P0,PT,P1,P2,PT,0x80,0x8", "", "P0", "P1 P2"),
    ("SEL", "R4,R7,R4,P0", "@P1", "R4", "P1 R4 R7 P0"),
    ("MOV", "R4,R5", "@!P2", "R4", "P2 R4 R5"),
    ("SHFL.UP", "P0,R7,R2,0x1,RZ", "", "P0 R7", "R2"),
    ("VOTE.ANY", "R0,PT,P1", "", "R0", "P1"),
    ("VOTE.ALL", "P0,P1", "", "P0", "P1"),
    ("VIMNMX", "R13,PT,PT,R8,R13,!PT", "", "R13", "R8 R13"),
    ("FCHK", "P2,R3,R6", "", "P2", "R3 R6"),
    ("P2R", "R2,RZ,0x5", "", "R2", "P0 P2"),
    ("R2P", "PR,R11,0x3", "", "P0 P1", "R11"),
    ("F2F.F64.F32", "R16,R0", "", "R16 R17", "R0"),
    ("F2F.F32.F64", "R6,R8", "", "R6", "R8 R9"),
    ("F2I.S64.F64.TRUNC", "R6,R8", "", "R6 R7", "R8 R9"),
    ("F2I.F64", "R3,R8", "", "R3", "R8 R9"),
    ("I2F.F64", "R24,R3", "", "R24 R25", "R3"),
    ("CS2R", "R2,SRZ", "", "R2 R3", ""),
    ("CS2R.32", "R4,SR_CLOCKLO", "", "R4", "SR_CLOCKLO"),
    ("LDG.E.128.CONSTANT", "R8,desc[UR6][R28.64]", "", "R8 R9 R10 R11", "UR6 UR7 R28 R29"),
    ("LDG.E.SYS", "R0,[R6]", "", "R0", "R6 R7"),
    ("LDG.E.U8", "R0,[R6.U32+UR4]", "", "R0", "R6 UR4 UR5"),
    ("STG.E.64", "desc[UR4][R4.64+0x8],R16", "", "", "UR4 UR5 R4 R5 R16 R17"),
    ("LDS.U.64", "R6,[R17.X4+UR5+0x80]", "", "R6 R7", "UR5 R17"),
    ("STS.128", "[R3],R4", "", "", "R3 R4 R5 R6 R7"),
    ("LDC.64", "R4,c[0x2][R0+0x18]", "", "R4 R5", "R0"),
    ("ATOMG.E.CAS.64.STRONG.GPU", "PT,R2,desc[UR4][R8.64],R4,R6", "", "R2 R3", "UR4 UR5 R8 R9 R4 R5 R6 R7"),
    ("ATOMS.CAST.SPIN", "P0,[R10],R12,R13", "", "P0", "R10 R12 R13"),
    ("RED.E.ADD.F64.RN.STRONG.GPU", "[R8.64],R12", "", "", "R8 R9 R12 R13"),
    ("LDGSTS.E.BYPASS.128", "[R7],desc[UR4][R2.64]", "", "", "R7 UR4 UR5 R2 R3"),
    ("LDSM.16.M88.4", "R8,[R9]", "", "R8 R9 R10 R11", "R9"),
    ("HMMA.16816.F32", "R12,R8,R4,RZ", "", "R12 R13 R14 R15", "R8 R9 R10 R11 R4 R5"),
    ("HMMA.16816.F16", "R12,R8,R4,R2", "", "R12 R13", "R8 R9 R10 R11 R4 R5 R2 R3"),
    ("IMMA.8816.S8.S8", "R14,R0.ROW,R11.COL,RZ", "", "R14 R15", "R0 R11"),
    ("DMMA.884", "R4,R2,R6,RZ", "", "R4 R5 R6 R7", "R2 R3 R6 R7"),
    ("HGMMA.64x16x16.F32", "R24,gdesc[UR4],R24,gsb0", "", " ".join(f"R{i}" for i in range(24, 32)),
     "UR4 UR5 UR6 UR7 " + " ".join(f"R{i}" for i in range(24, 32))),
    ("LDTM.x4", "R4,tmem[UR8]", "", "R4 R5 R6 R7", "UR8"),
    ("UBLKCP.S.G", "[UR8],[UR4],UR6", "", "", "UR8 UR9 UR4 UR5 UR6"),
    ("UTMALDG.2D", "[UR8],[UR4]", "", "", "UR8 UR9 UR10 UR11 UR4 UR5"),
    ("TEX.LL", "R8,R6,R2,R12,UR4,0x0,2D", "", "R8 R9 R6 R7", "R2 R3 R12 UR4 UR5"),
    ("TEX.SCR.LL", "RZ,R9,R8,R6,0x0,0x58,3D,0x1", "", "R9", "R8 R9 R6 R7"),
    ("SULD.D.BA.2D.STRONG.SM.TRAP", "R13,[R20],UR4", "", "R13", "R20 R21 UR4 UR5"),
    ("SUST.D.BA.2D.64.STRONG.SM.TRAP", "[R18],R6,UR4", "", "", "R18 R19 R6 R7 UR4 UR5"),
    ("BSSY", "B0,0x220", "", "B0", ""),
    ("BSYNC", "B0", "", "", "B0"),
    ("BMOV.32.CLEAR", "R25,B8", "", "R25 B8", "B8"),
    ("BRX", "R4,-0xd0", "", "", "R4 R5"),
    ("CALL.ABS.NOINC", "R8", "", "", "R8 R9"),
]  # fmt: skip


@pytest.mark.parametrize(("opcode", "text", "guard", "writes", "reads"), CASES)
def test_registers(opcode, text, guard, writes, reads):
    operands = parse_operands(text)
    predicate = Guard(guard.strip("@!"), "!" in guard) if guard else None
    entry = lookup(opcode)
    written, read = find_registers(opcode, entry, operands, predicate)
    assert (set(written), set(read)) == (set(writes.split()), set(reads.split()))


@pytest.mark.parametrize(
    ("opcode", "text", "flops"),
    [
        ("FFMA", "R1,R2,R3,R4", 2),
        ("FFMA", "R1,-RZ,RZ,R4", 0),
        ("HFMA2.MMA", "R1,R2,R3,1.875,0", 4),
        ("HFMA2.MMA", "R1,-RZ,RZ,1.875,0", 0),  # how compilers for sm_80 move a constant
    ],
)
def test_a_product_of_zeros_is_a_move(opcode, text, flops):
    entry = lookup(opcode)
    assert entry is not None
    assert flops_of(opcode, entry, parse_operands(text)) == flops


@pytest.mark.parametrize(
    ("opcode", "shape", "registers"),
    [
        # PTX ISA, chapter "Matrix fragments for mma": registers of D, A, B per thread
        ("HMMA.1688.F32", (16, 8, 8), (4, 2, 1)),
        ("HMMA.16816.F32.BF16", (16, 8, 16), (4, 4, 2)),
        ("HMMA.1688.F32.TF32", (16, 8, 8), (4, 4, 2)),
        ("HMMA.SP.16832.F32", (16, 8, 32), (4, 4, 4)),
        ("IMMA.16832.S8.S8", (16, 8, 32), (4, 4, 2)),
        ("IMMA.16864.S4.S4", (16, 8, 64), (4, 4, 2)),
        ("BMMA.168256.AND.POPC", (16, 8, 256), (4, 4, 2)),
        ("DMMA.8x8x4", (8, 8, 4), (4, 2, 2)),
        ("QMMA.16832.F32.E4M3.E5M2", (16, 8, 32), (4, 4, 2)),
        ("OMMA.SF.16864.F32.E2M1.E2M1.E8", (16, 8, 64), (4, 4, 2)),
    ],
)
def test_tile(opcode, shape, registers):
    found = tile(opcode)
    m, n, k = shape
    assert (found.d, found.a, found.b) == registers
    assert found.flops == 2 * m * n * k / 32


def test_table_is_consistent():
    names = [(base, modifiers) for base, rows in table().items() for modifiers, _ in rows]
    assert len(names) == len(set(names))
    for rows in table().values():
        for _, entry in rows:
            assert (entry.space is None) == (entry.access is None)
            assert entry.writes in {"first", "none", "one", "predicates", "two", "most", "all"}
            assert isinstance(entry.width, tuple) or entry.width in {
                "memory", "matrices", "fragments", "group", "columns", "texture", "surface", "bulk"
            }  # fmt: skip


def test_unknown_opcode_has_no_entry():
    assert lookup("FROBNICATE.X") is None


@pytest.mark.parametrize(
    ("opcode", "access"),
    [("UBLKCP.S.G", Access.COPY), ("UBLKCP.S.G.MULTICAST", Access.COPY), ("UBLKCP.G.S", Access.STORE)],
)
def test_a_bulk_copy_names_its_destination_first(opcode, access):
    assert lookup(opcode).access is access
