"""Integer semantics against exact arithmetic with Python's whole numbers, lane by lane."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.emulate.lift.sass.machine import LANES, execute, values

if TYPE_CHECKING:
    from collections.abc import Callable

MASK = 2**32 - 1
WIDE = 2**64 - 1


def signed(value: int, bits: int = 32) -> int:
    """Return bits as a signed number."""
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def field(value: int, start: int, width: int, *, sign: bool) -> int:
    """Return a bit field as a number."""
    part = value >> start & ((1 << width) - 1)
    return signed(part, width) if sign else part


def permuted(a: int, selector: int, c: int) -> int:
    """Return PRMT's result by its definition."""
    source, result = (c << 32 | a).to_bytes(8, "little"), 0
    for i in range(4):
        nibble = selector >> 4 * i & 15
        byte = source[nibble & 7]
        result |= ((0xFF if byte >> 7 else 0) if nibble & 8 else byte) << 8 * i
    return result


def lut(table: int, a: int, b: int, c: int) -> int:
    """Return a function of three, bit by bit."""
    return sum((table >> ((a >> i & 1) * 4 + (b >> i & 1) * 2 + (c >> i & 1)) & 1) << i for i in range(32))


def lowest(a: int, b: int, *, sign: bool) -> int:
    """Return the minimum as bits."""
    return min(a, b, key=signed) if sign else min(a, b)


# Inputs R2 R3 R4 R5 (a b c d; pairs x = R3:R2, y = R5:R4), P1 P2; the result is R0 unless said.
CASES: dict[str, Callable[[int, int, int, int, int, int], int]] = {
    "IADD3 R0, R2, R3, R4": lambda a, b, c, d, p, q: a + b + c,
    "IADD3 R0, -R2, R3, -R4": lambda a, b, c, d, p, q: b - a - c,
    "IADD3 R0, R2, 0x7b, RZ": lambda a, b, c, d, p, q: a + 123,
    "IADD3 R0, R2, -0x7b, RZ": lambda a, b, c, d, p, q: a - 123,
    "IADD3.X R0, R2, ~R3, RZ, P1, !PT": lambda a, b, c, d, p, q: a + (MASK - b) + p,
    "IADD3.X R0, R2, R3, R4, P1, P2": lambda a, b, c, d, p, q: a + b + c + p + q,
    "IADD3 R0, PT, PT, R2, R3, -R4": lambda a, b, c, d, p, q: a + b - c,
    "IADD R0, R2, -R3": lambda a, b, c, d, p, q: a - b,
    "IADD.X R0, R2, R3, P1": lambda a, b, c, d, p, q: a + b + p,
    "VIADD R0, R2, 0xffffffff": lambda a, b, c, d, p, q: a - 1,
    "VIADD.S32.ISAT R0, R2, -R3": lambda a, b, c, d, p, q: min(
        max(signed(a) - signed(b), -(2**31)), 2**31 - 1
    ),
    "IMAD R0, R2, R3, R4": lambda a, b, c, d, p, q: a * b + c,
    "IMAD R0, R2, -R3, -R4": lambda a, b, c, d, p, q: -a * b - c,
    "IMAD.SHL.U32 R0, R2, 0x10, RZ": lambda a, b, c, d, p, q: a << 4,
    "IMAD.MOV.U32 R0, RZ, RZ, R4": lambda a, b, c, d, p, q: c,
    "IMAD.IADD R0, R2, 0x1, -R4": lambda a, b, c, d, p, q: a - c,
    "IMAD.X R0, R2, 0x1, ~R4, P1": lambda a, b, c, d, p, q: a + (MASK - c) + p,
    "IMAD.HI.U32 R0, R2, R3, R4": lambda a, b, c, d, p, q: (a * b + (d << 32 | c)) >> 32,
    "IMAD.HI R0, R2, R3, RZ": lambda a, b, c, d, p, q: (signed(a) * signed(b)) >> 32,
    "LEA R0, R2, R3, 0x5": lambda a, b, c, d, p, q: (a << 5) + b,
    "LEA R0, -R2, R3, 0x5": lambda a, b, c, d, p, q: b - (a << 5),
    "LEA.HI R0, R2, R3, R4, 0x5": lambda a, b, c, d, p, q: ((c << 32 | a) << 5 >> 32) + b,
    "LEA.HI.X R0, R2, R3, R4, 0x3, P1": lambda a, b, c, d, p, q: ((c << 32 | a) << 3 >> 32) + b + p,
    "LEA.HI.SX32 R0, R2, R3, 0x3": lambda a, b, c, d, p, q: (signed(a) << 3 >> 32) + b,
    "LEA.HI.X.SX32 R0, R2, R3, 0x1, P1": lambda a, b, c, d, p, q: (signed(a) << 1 >> 32) + b + p,
    "LOP3.LUT R0, R2, R3, R4, 0x96, !PT": lambda a, b, c, d, p, q: a ^ b ^ c,
    "LOP3.LUT R0, R2, ~R3, R4, 0xc0, !PT": lambda a, b, c, d, p, q: a & ~b,
    "SHF.L.U32 R0, R2, R3, RZ": lambda a, b, c, d, p, q: a << b if b < 32 else 0,
    "SHF.L.W.U32 R0, R2, R3, RZ": lambda a, b, c, d, p, q: a << (b & 31),
    "SHF.L.U32.HI R0, R2, R3, R4": lambda a, b, c, d, p, q: (c << 32 | a) << min(b, 32) >> 32,
    "SHF.L.W.U32.HI R0, R2, R3, R4": lambda a, b, c, d, p, q: (c << 32 | a) << (b & 31) >> 32,
    "SHF.L.U64.HI R0, R2, R3, R4": lambda a, b, c, d, p, q: (c << 32 | a) << min(b, 64) >> 32,
    "SHF.R.U32.HI R0, RZ, R3, R4": lambda a, b, c, d, p, q: c >> min(b, 32),
    "SHF.R.S32.HI R0, RZ, R3, R4": lambda a, b, c, d, p, q: signed(c) >> min(b, 32),
    "SHF.L.U32.HI R0, R2, 0x20, R4": lambda a, b, c, d, p, q: a,
    "SHF.R.S32.HI R0, RZ, 0x20, R4": lambda a, b, c, d, p, q: signed(c) >> 32,
    "SHF.R.W.U32 R0, R2, R3, R4": lambda a, b, c, d, p, q: (c << 32 | a) >> (b & 31),
    "SHF.R.U32 R0, R2, R3, R4": lambda a, b, c, d, p, q: (c << 32 | a) >> min(b, 32),
    "SHF.R.U64 R0, R2, R3, R4": lambda a, b, c, d, p, q: (c << 32 | a) >> min(b, 64),
    "SHF.R.S64 R0, R2, R3, R4": lambda a, b, c, d, p, q: signed(c << 32 | a, 64) >> min(b, 64),
    "SGXT R0, R2, 0x9": lambda a, b, c, d, p, q: field(a, 0, 9, sign=True),
    "SGXT.U32 R0, R2, R3": lambda a, b, c, d, p, q: a & ((1 << min(b, 32)) - 1),
    "BMSK.W R0, R2, R3": lambda a, b, c, d, p, q: ((1 << (b & 31)) - 1) << (a & 31),
    "BMSK R0, R2, R3": lambda a, b, c, d, p, q: ((1 << min(b, 32)) - 1) << a if a < 32 else 0,
    "POPC R0, R2": lambda a, b, c, d, p, q: a.bit_count(),
    "POPC R0, ~R2": lambda a, b, c, d, p, q: 32 - a.bit_count(),
    "BREV R0, R2": lambda a, b, c, d, p, q: int(f"{a:032b}"[::-1], 2),
    "FLO.U32 R0, R2": lambda a, b, c, d, p, q: a.bit_length() - 1,
    "FLO.U32.SH R0, R2": lambda a, b, c, d, p, q: 32 - a.bit_length() if a else -1,
    "FLO R0, R2": lambda a, b, c, d, p, q: (a if a < 2**31 else MASK - a).bit_length() - 1,
    "PRMT R0, R2, R3, R4": lambda a, b, c, d, p, q: permuted(a, b, c),
    "PRMT R0, R2, 0x9c47, R4": lambda a, b, c, d, p, q: permuted(a, 0x9C47, c),
    "PRMT R0, R2, 0x5410, R4": lambda a, b, c, d, p, q: permuted(a, 0x5410, c),
    "IABS R0, R2": lambda a, b, c, d, p, q: abs(signed(a)),
    "IMNMX R0, R2, R3, PT": lambda a, b, c, d, p, q: lowest(a, b, sign=True),
    "IMNMX.U32 R0, R2, R3, P1": lambda a, b, c, d, p, q: min(a, b) if p else max(a, b),
    "VIMNMX.RELU R0, PT, PT, R2, R3, PT": lambda a, b, c, d, p, q: max(signed(lowest(a, b, sign=True)), 0),
    "VIMNMX3 R0, R2, R3, R4, PT": lambda a, b, c, d, p, q: lowest(lowest(a, b, sign=True), c, sign=True),
    "VIADDMNMX.U32 R0, R2, R3, R4, PT": lambda a, b, c, d, p, q: min((a + b) & MASK, c),
    "IDP.4A.S8.U8 R0, R2, R3, R4": lambda a, b, c, d, p, q: c
    + sum(field(a, 8 * i, 8, sign=True) * field(b, 8 * i, 8, sign=False) for i in range(4)),
    "IDP.2A.HI.U16.S8 R0, R2, R3, R4": lambda a, b, c, d, p, q: c
    + sum(field(a, 16 * i, 16, sign=False) * field(b, 16 + 8 * i, 8, sign=True) for i in range(2)),
    "VABSDIFF.U32 R0, R2, R3, R4": lambda a, b, c, d, p, q: abs(a - b) + c,
    "SEL R0, R2, R3, !P1": lambda a, b, c, d, p, q: b if p else a,
    "P2R R0, PR, R2, 0x6": lambda a, b, c, d, p, q: a & ~6 | p << 1 | q << 2,
    "MOV R0, c[0x0][0x8]": lambda a, b, c, d, p, q: 0x0807_0605,
    "IADD3 R0, R2, -c[0x0][0x8], RZ": lambda a, b, c, d, p, q: a - 0x0807_0605,
}  # fmt: skip
BANK = bytes(range(-3 % 256, 256)) + bytes(range(61))

WIDE_CASES: dict[str, Callable[[int, int, int, int, int, int], int]] = {
    "IMAD.WIDE R0, R2, R3, R4": lambda a, b, x, y, p, q: signed(a) * signed(b) + y,
    "IMAD.WIDE.U32 R0, R2, R3, R4": lambda a, b, x, y, p, q: a * b + y,
    "IMAD.WIDE.U32 R0, R2, R3, -R4": lambda a, b, x, y, p, q: a * b - y,
    "IADD.64 R0, R2, -R4": lambda a, b, x, y, p, q: x - y,
    "IADD.64 R0, R2, -0x5": lambda a, b, x, y, p, q: x - 5,
    "UIADD3.64 UR0, UPT, UPT, UR2, UR4, URZ": lambda a, b, x, y, p, q: x + y,
    "SEL.64 R0, R2, R4, P1": lambda a, b, x, y, p, q: x if p else y,
    "MOV.64 R0, R4": lambda a, b, x, y, p, q: y,
    "IMNMX.S64 PT, PT, R0, R2, R4, PT, !PT": lambda a, b, x, y, p, q: min(x, y, key=lambda v: signed(v, 64)),
}  # fmt: skip

PREDICATES: dict[str, Callable[[int, int, int, int, int, int], int]] = {
    "IADD3 R0, P0, R2, R3, RZ": lambda a, b, c, d, p, q: a + b > MASK,
    "IADD3 R0, P0, R2, -R3, RZ": lambda a, b, c, d, p, q: a >= b,
    "IADD R0, P0, R2, R3": lambda a, b, c, d, p, q: a + b > MASK,
    "LEA R0, P0, R2, R3, 0x3": lambda a, b, c, d, p, q: (a << 3 & MASK) + b > MASK,
    "IMAD.WIDE.U32 R0, P0, R2, R3, R4": lambda a, b, c, d, p, q: a * b + (d << 32 | c) > WIDE,
    "ISETP.LT.AND P0, PT, R2, R3, P1": lambda a, b, c, d, p, q: signed(a) < signed(b) and p,
    "ISETP.GE.U32.OR P0, PT, R2, R3, !P1": lambda a, b, c, d, p, q: a >= b or not p,
    "ISETP.NE.XOR P0, PT, R2, R3, P1": lambda a, b, c, d, p, q: (a != b) != p,
    "ISETP.EQ.AND PT, P0, R2, R3, P1": lambda a, b, c, d, p, q: a != b and p,
    "ISETP.GT.U64.AND P0, PT, R2, R4, PT": lambda a, b, c, d, p, q: (b << 32 | a) > (d << 32 | c),
    "ISETP.LE.S64.AND P0, PT, R2, R4, PT": lambda a, b, c, d, p, q: (
        signed(b << 32 | a, 64) <= signed(d << 32 | c, 64)
    ),
    "LOP3.LUT P0, RZ, R2, R3, RZ, 0xc0, !PT": lambda a, b, c, d, p, q: a & b != 0,
    "LOP3.LUT.PAND P0, RZ, R2, R3, R4, 0xe8, P1": lambda a, b, c, d, p, q: lut(0xE8, a, b, c) != 0 and p,
    "PLOP3.LUT P0, PT, P1, P2, PT, 0x2a, 0x0": lambda a, b, c, d, p, q: 0x2A >> (4 * p + 2 * q + 1) & 1,
    "PLOP3.LUT PT, P0, P1, !P2, PT, 0x0, 0x4d": lambda a, b, c, d, p, q: (
        0x4D >> (4 * p + 2 * (1 - q) + 1) & 1
    ),
    "PLOP3.LUT P0, PT, R2.SIGN, R3.SIGN, P1, 0x1b, 0x0": lambda a, b, c, d, p, q: (
        0x1B >> (4 * (a >> 31) + 2 * (b >> 31) + p) & 1
    ),
    "FLO.U32 R0, P0, R2": lambda a, b, c, d, p, q: a != 0,
    "R2P PR, R2, 0x1": lambda a, b, c, d, p, q: a & 1,
    "R2P PR, R2.B1, 0x7f": lambda a, b, c, d, p, q: a >> 8 & 1,
    "R2P PR, R2.B3, 0x1": lambda a, b, c, d, p, q: a >> 24 & 1,
}  # fmt: skip


def _inputs(seed: int) -> list[list[int]]:
    columns = [values(seed + k).tolist() for k in range(4)]
    return [*columns, [v & 1 for v in values(seed + 4).tolist()], [v & 1 for v in values(seed + 5).tolist()]]


def _run(text: str, seed: int, outputs: list[str]) -> tuple[list[list[int]], dict[str, list[int]]]:
    given = _inputs(seed)
    names = ["R2", "R3", "R4", "R5", "P1", "P2"]
    if text.startswith("U"):  # one value for the warp
        given = [[column[0]] * LANES for column in given]
        names = ["U" + name for name in names]
    found = execute([text], dict(zip(names, given, strict=True)), outputs, constants=BANK)
    return given, {name: array.tolist() for name, array in found.items()}


@pytest.mark.parametrize("text", CASES)
@pytest.mark.parametrize("seed", [10, 20])
def test_results_are_exact(text: str, seed: int) -> None:
    given, found = _run(text, seed, ["R0"])
    assert found["R0"] == [CASES[text](*row) & MASK for row in zip(*given, strict=True)]


@pytest.mark.parametrize(
    "text", [t for t in CASES if t.startswith(("IADD3", "LOP3", "SHF", "LEA", "PRMT", "IMAD"))]
)
def test_uniform_twins_do_the_same(text: str) -> None:
    twin = "U" + text.replace(" R", " UR").replace("~R", "~UR").replace("-R", "-UR").replace("PT", "UPT")
    twin = twin.replace(" P1", " UP1").replace(" P2", " UP2")
    given, found = _run(twin, 30, ["UR0"])
    assert found["UR0"] == [CASES[text](*row) & MASK for row in zip(*given, strict=True)]


@pytest.mark.parametrize("text", WIDE_CASES)
def test_64_bit_results_are_exact(text: str) -> None:
    prefix = "UR" if text.startswith("U") else "R"
    given, found = _run(text, 40, [f"{prefix}0", f"{prefix}1"])
    rows = [(a, b, b << 32 | a, d << 32 | c, p, q) for a, b, c, d, p, q in zip(*given, strict=True)]
    wanted = [WIDE_CASES[text](*row) & WIDE for row in rows]
    assert [h << 32 | low for low, h in zip(*found.values(), strict=True)] == wanted


@pytest.mark.parametrize("text", PREDICATES)
@pytest.mark.parametrize("seed", [50, 60])
def test_predicates_are_exact(text: str, seed: int) -> None:
    given, found = _run(text, seed, ["P0"])
    assert found["P0"] == [int(PREDICATES[text](*row)) for row in zip(*given, strict=True)]


@pytest.mark.parametrize("table", range(256))
def test_every_table_of_three_operands(table: int) -> None:
    given = [values(70 + k) for k in range(3)]
    inputs = dict(zip(("R2", "R3", "R4"), given, strict=True))
    found = execute([f"LOP3.LUT R0, R2, R3, R4, {table:#x}, !PT"], inputs, ["R0"])
    rows = zip(*(g.tolist() for g in given), strict=True)
    assert found["R0"].tolist() == [lut(table, *row) for row in rows]


@pytest.mark.parametrize("compare", ["LT", "LE", "GT", "GE", "EQ", "NE"])
@pytest.mark.parametrize("kind", ["", ".U32"])
def test_compare_of_two_words(compare: str, kind: str) -> None:
    """The low words are compared without a sign, then the high ones with .EX."""
    given = _inputs(80)[:4]
    given[3][::2] = given[1][::2]
    lines = [
        f"ISETP.{compare}.U32.AND P0, PT, R2, R4, PT",
        f"ISETP.{compare}{kind}.AND.EX P3, PT, R3, R5, PT, P0",
    ]
    found = execute(lines, dict(zip(("R2", "R3", "R4", "R5"), given, strict=True)), ["P3"])
    sign = (lambda v: v) if kind else (lambda v: signed(v, 64))
    relation = {
        "LT": "__lt__",
        "LE": "__le__",
        "GT": "__gt__",
        "GE": "__ge__",
        "EQ": "__eq__",
        "NE": "__ne__",
    }
    wanted = [
        int(getattr(sign(b << 32 | a), relation[compare])(sign(d << 32 | c)))
        for a, b, c, d in zip(*given, strict=True)
    ]
    assert found["P3"].tolist() == wanted


def test_carries_of_three_words_add_up() -> None:
    """Whatever each of the two carries of IADD3 says, together they carry the sum on."""
    given = _inputs(90)[:4]
    lines = ["IADD3 R0, P0, P3, R2, R3, R4", "IADD3.X R1, RZ, RZ, R5, P0, P3"]
    found = execute(lines, dict(zip(("R2", "R3", "R4", "R5"), given, strict=True)), ["R0", "R1"])
    total = [(a + b + c + (d << 32)) & WIDE for a, b, c, d in zip(*given, strict=True)]
    assert [h << 32 | low for low, h in zip(*(v.tolist() for v in found.values()), strict=True)] == total


def test_a_guard_keeps_the_old_value() -> None:
    given = _inputs(100)
    found = execute(["@!P1 IADD3 R2, R2, R3, RZ"], {"R2": given[0], "R3": given[1], "P1": given[4]}, ["R2"])
    wanted = [a if p else (a + b) & MASK for a, b, p in zip(given[0], given[1], given[4], strict=True)]
    assert found["R2"].tolist() == wanted
