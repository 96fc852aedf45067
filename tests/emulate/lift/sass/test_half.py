"""Packed halves and conversions: against exact arithmetic."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.emulate.lift.sass.exact import applied, bfloat, floats, nearest, same
from tests.emulate.lift.sass.machine import LANES, execute

if TYPE_CHECKING:
    from collections.abc import Callable


def packed(text: str, *inputs: np.ndarray) -> np.ndarray:
    """Return the 16-bit halves of R0, low first, after an instruction on packed R1, R2, R3."""
    given = {f"R{k + 1}": v.view(np.uint32) for k, v in enumerate(inputs)}
    return execute([text], given, ["R0"])["R0"].view(np.uint16)


def halves(seed: int) -> np.ndarray:
    return floats(np.float16, seed, 2 * LANES)


def bfloats(seed: int) -> np.ndarray:
    return (floats(np.float32, seed, 2 * LANES).view(np.uint32) >> 16).astype(np.uint16)


def of_bfloat(patterns: np.ndarray) -> np.ndarray:
    return (patterns.astype(np.uint32) << 16).view(np.float32)


OPERATIONS: dict[str, tuple[Callable[..., Fraction], str]] = {
    "HADD2": (lambda x, y: x + y, "R1, R2"),
    "HMUL2": (lambda x, y: x * y, "R1, R2"),
    "HFMA2": (lambda x, y, z: x * y + z, "R1, R2, R3"),
    "HFMA2.MMA": (lambda x, y, z: x * y + z, "R1, R2, R3"),
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_half_arithmetic(name):
    function, operands = OPERATIONS[name]
    inputs = [halves(k) for k in range(operands.count("R"))]
    found = packed(f"{name} R0, {operands}", *inputs).view(np.float16)
    assert same(found, applied(function, function, "rn", *inputs)).all()


def test_a_single_float_is_rounded_to_both_halves():
    singles = floats(np.float32, 7, LANES)
    found = packed("HADD2 R0, -RZ.H0_H0, R1.F32", singles).view(np.float16)
    with np.errstate(over="ignore"):
        assert same(found, np.repeat(singles.astype(np.float16), 2)).all()


@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_bfloat_arithmetic_is_rounded_once(name, seed):
    function, operands = OPERATIONS[name]
    inputs = [bfloats(10 * seed + k) for k in range(operands.count("R"))]
    found = packed(f"{name}.BF16_V2 R0, {operands}", *inputs)
    for lane, numbers in enumerate(zip(*map(of_bfloat, inputs), strict=True)):
        if np.isfinite(numbers).all() and function(*(Fraction(float(n)) for n in numbers)):
            assert found[lane] == bfloat(function(*(Fraction(float(n)) for n in numbers))), numbers
        else:
            with np.errstate(all="ignore"):
                wanted = function(*(np.float64(n) for n in numbers))
            got = of_bfloat(found[lane : lane + 1])[0]
            assert (math.isnan(wanted) and math.isnan(got)) or np.float32(wanted) == got


def test_bfloat_sum_of_a_tie_and_a_speck():
    tie, speck = bfloat(Fraction(1)), bfloat(Fraction(1, 2**120))
    x = np.full(2 * LANES, bfloat(1 + Fraction(1, 128)), np.uint16)  # times 1.5: a tie
    y = np.full(2 * LANES, bfloat(Fraction(3, 2)), np.uint16)
    up = packed("HFMA2.BF16_V2 R0, R1, R2, R3", x, y, np.full(2 * LANES, speck, np.uint16))
    down = packed("HFMA2.BF16_V2 R0, R1, R2, -R3", x, y, np.full(2 * LANES, speck, np.uint16))
    assert tie
    assert (up == down + 1).all()


def test_swizzles_signs_and_literals():
    x, y, z = (halves(20 + k) for k in range(3))
    low, high = (np.repeat(v.reshape(-1, 2)[:, k], 2) for v, k in ((x, 0), (y, 1)))
    fma = OPERATIONS["HFMA2"][0]
    found = packed("HFMA2 R0, R1.H0_H0, -R2.H1_H1, |R3|", x, y, z).view(np.float16)
    assert same(found, applied(fma, fma, "rn", low, -high, np.abs(z))).all()
    pair = np.tile(np.array([-2.25, 1.5], np.float16), LANES)  # written high first
    found = packed("HFMA2 R0, R1, 1.5, -2.25, R3", x, y, z).view(np.float16)
    assert same(found, applied(fma, fma, "rn", x, pair, z)).all()
    move = packed("HFMA2.MMA R0, -RZ, RZ, 1.875, 5.9604644775390625e-08")
    assert (move.view(np.uint32) == 0x3F800001).all()


def test_half_comparisons():
    x, y = halves(30), halves(31)
    assert (packed("HSET2.LT.AND R0, R1, R2, PT", x, y) == np.where(x < y, 0xFFFF, 0)).all()
    assert (packed("HSET2.BF.GEU.AND R0, R1, R2, PT", x, y).view(np.float16) == ~(x < y)).all()
    given = {"R1": x.view(np.uint32), "R2": y.view(np.uint32)}
    found = execute(["HSETP2.GT.AND P0, P1, R1, R2.H0_H0, PT"], given, ["P0", "P1"])
    pairs = x.reshape(-1, 2) > y.reshape(-1, 2)[:, :1]
    assert (found["P0"] == pairs[:, 0]).all()
    assert (found["P1"] == pairs[:, 1]).all()
    least = packed("HMNMX2 R0, R1, R2, PT", x, y).view(np.float16)
    assert (same(least, np.fmin(x, y)) | ((x == 0) & (y == 0))).all()


def convert(text: str, source: np.ndarray) -> np.ndarray:
    """Return the words R0 and R1 after a conversion of R2, or of R2 and R3 for 64 bits."""
    if source.itemsize < 4:
        source = source.view(np.uint16).astype(np.uint32)
    words = source.view(np.uint32).reshape(LANES, -1)
    given = {f"R{2 + k}": words[:, k] for k in range(words.shape[1])}
    found = execute([text], given | ({"R1": np.zeros(LANES)}), ["R0", "R1"])
    return np.stack([found["R0"], found["R1"]], 1).copy()


WHOLE: dict[str, Callable[[float], int]] = {
    "": round,
    ".TRUNC": math.trunc,
    ".FLOOR": math.floor,
    ".CEIL": math.ceil,
}


@pytest.mark.parametrize("how", WHOLE)
@pytest.mark.parametrize("to", ["S32", "U32", "S64", "U64", "S8", "U16"])
@pytest.mark.parametrize("source", ["F32", "F64", "F16"])
def test_floats_to_integers(how, to, source):
    type_ = {"F16": np.float16, "F32": np.float32, "F64": np.float64}[source]
    x = floats(type_, 40, LANES)
    bits, signed = int(to[1:]), to[0] == "S"
    least, most = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)
    found = convert(f"F2I.{to}.{source}{how}.NTZ R0, R2", x)
    for lane, value in enumerate(x.tolist()):
        whole = 0 if math.isnan(value) else value if math.isinf(value) else WHOLE[how](value)
        wanted = int(min(max(whole, least), most))
        assert int(found[lane].view(np.uint64)[0]) % 2 ** max(bits, 32) == wanted % 2 ** max(bits, 32)


def test_nan_to_integer_without_ntz():
    nan = np.full(LANES, np.nan)
    assert (convert("F2I.F64.TRUNC R0, R2", nan)[:, 0] == 0x80000000).all()


@pytest.mark.parametrize("source", ["S32", "U32", "S64", "U64", "S16", "U8"])
@pytest.mark.parametrize("to", ["F32", "F64", "F16"])
def test_integers_to_floats(source, to):
    bits = int(source[1:])
    type_ = np.dtype(("int" if source[0] == "S" else "uint") + source[1:]).type
    draw = np.random.default_rng(50)
    info = np.iinfo(type_)
    x = draw.integers(info.min, info.max, LANES, dtype=type_, endpoint=True) >> draw.integers(
        0, bits, LANES
    ).astype(type_)
    float_ = {"F16": np.float16, "F32": np.float32, "F64": np.float64}[to]
    wide = x.astype(np.int32) if bits < 32 else x
    found = convert(f"I2F.{to}.{source} R0, R2", wide.view(np.uint64 if bits == 64 else np.uint32))
    patterns = found.view(np.uint64).ravel() if to == "F64" else found[:, 0]
    wanted = [nearest(Fraction(int(v)), float_) for v in x]
    assert (
        patterns.astype({"F16": np.uint16, "F32": np.uint32, "F64": np.uint64}[to]).view(float_) == wanted
    ).all()


def test_parts_of_a_register_to_floats():
    x = np.arange(LANES, dtype=np.uint32) * 0x01234567
    assert (convert("I2F.U8 R0, R2.B2", x)[:, 0].view(np.float32) == (x >> 16 & 0xFF)).all()
    assert (
        convert("I2F.S16 R0, R2.H1", x)[:, 0].view(np.float32) == (x >> 16).astype(np.uint16).view(np.int16)
    ).all()


def test_floats_to_shorter_ones():
    x, y = floats(np.float32, 60, LANES), floats(np.float32, 61, LANES)

    def half(values: np.ndarray, mode: str) -> list[np.float16]:
        with np.errstate(over="ignore"):
            return [
                nearest(Fraction(float(v)), np.float16, mode) if np.isfinite(v) and v else np.float16(v)
                for v in values
            ]

    for suffix, mode in (("", "rn"), (".RZ", "rz")):
        given = {"R2": x.view(np.uint32), "R3": y.view(np.uint32)}
        word = execute([f"F2FP.F16.F32.PACK_AB{suffix} R0, R2, R3"], given, ["R0"])["R0"]
        pair = word.view(np.float16).reshape(-1, 2)
        assert same(pair[:, 1].copy(), np.array(half(x, mode))).all()
        assert same(pair[:, 0].copy(), np.array(half(y, mode))).all()


@pytest.mark.parametrize(
    ("name", "largest", "bits", "least"),
    [
        ("E4M3", 448, 4, -6),
        ("E5M2", 57344, 3, -14),
        ("E3M2", 28, 3, -2),
        ("E2M3", 7.5, 4, 0),
        ("E2M1", 6, 2, 0),
    ],
)
def test_floats_of_8_6_and_4_bits(name, largest, bits, least):
    from tests.emulate.lift.sass.exact import rounded
    from warpwatt.emulate.formats import BITS, decode

    x = np.where(
        np.arange(LANES) % 2, floats(np.float32, 70, LANES), np.exp2(np.linspace(-18, 17, LANES)) * 1.1
    )
    x = x.astype(np.float32)
    width, given = BITS[name.lower()], {"R2": x.view(np.uint32), "R3": (-x).view(np.uint32)}
    pack = f"F2FP.SATFINITE.{name}.F32.PACK_AB_MERGE_C"
    word = execute([f"{pack} R0, R2, R3, RZ"], given, ["R0"])["R0"]
    values = decode((word >> width & (1 << width) - 1).astype(np.uint64), name.lower())
    nan = math.nan if name in ("E4M3", "E5M2") else float(largest)
    wanted = [
        nan if math.isnan(v) else math.copysign(largest, v) if math.isinf(v)
        else max(-largest, min(largest, float(rounded(Fraction(float(v)), bits, least, Fraction(2**127)))))
        for v in x
    ]  # fmt: skip
    assert np.array_equal(values, wanted, equal_nan=True)
    back = execute([f"F2FP.F16.{name}.UNPACK_B R0, R2"], {"R2": word}, ["R0"])["R0"].view(np.float16)
    assert np.array_equal(back.reshape(-1, 2)[:, 1].astype(np.float64), values, equal_nan=True)
    merged = execute([f"{pack} R0, R2, R3, R4"], {**given, "R4": word}, ["R0"])["R0"]
    assert np.array_equal(merged, word | (word << 2 * width).astype(np.uint32))


def test_scales_are_exponents():
    """Microscaling formats 1.0: E8M0 counts from -127, 255 is not a number; ``cvt`` rounds up or to zero."""
    x = np.abs(floats(np.float32, 71, LANES))
    x[:8] = [0.0, 2.0**-130, 2.0**-127, 1.5 * 2.0**-127, 1.0, 3.0, math.inf, math.nan]
    exponent = [math.nan if math.isnan(v) else math.log2(v) if v else -math.inf for v in x.astype(np.float64)]
    for mode, whole in (("RP", math.ceil), ("RZ", math.floor)):
        text = f"F2FP.SATFINITE.E8.F32.PACK_AB_MERGE_C.{mode} R0, R2, R3, RZ"
        word = execute([text], {"R2": (-x).view(np.uint32), "R3": np.zeros(LANES, np.uint32)}, ["R0"])["R0"]
        wanted = [
            255 if math.isnan(e) else max(0, min(254, 127 + whole(max(-200.0, min(200.0, e)))))
            for e in exponent
        ]
        assert (word >> 8).tolist() == wanted
        back = execute(["F2FP.BF16.E8.UNPACK_B R0, R2"], {"R2": word}, ["R0"])["R0"] >> 16
        powers = of_bfloat(back.astype(np.uint16)).astype(np.float64)
        assert np.array_equal(
            powers, [math.nan if k == 255 else 2.0 ** (k - 127) for k in wanted], equal_nan=True
        )
