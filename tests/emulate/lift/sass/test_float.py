"""Single and double precision: against exact arithmetic, rounded once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.emulate.lift.sass.exact import applied, floats, same
from tests.emulate.lift.sass.machine import LANES, execute

if TYPE_CHECKING:
    from collections.abc import Callable
    from fractions import Fraction

ROUNDINGS = {"": "rn", ".RZ": "rz", ".RM": "rm", ".RP": "rp"}
EXACT: dict[str, tuple[Callable[..., Fraction], str]] = {
    "ADD": (lambda x, y: x + y, "R1, R2"),
    "MUL": (lambda x, y: x * y, "R1, R2"),
    "FMA": (lambda x, y, z: x * y + z, "R1, R2, R3"),
}


def single(
    text: str, *inputs: np.ndarray, predicates: dict | None = None, target: str = "sm_90"
) -> np.ndarray:
    """Return R0 as floats after one instruction on R1, R2, R3."""
    given = {f"R{k + 1}": v.view(np.uint32) for k, v in enumerate(inputs)} | (predicates or {})
    return execute([text], given, ["R0"], target=target)["R0"].view(np.float32)


def double(text: str, *inputs: np.ndarray) -> np.ndarray:
    """Return R0 and R1 as doubles after one instruction on the pairs R2, R4, R6."""
    words = {2 * k + 2: v.view(np.uint32).reshape(-1, 2) for k, v in enumerate(inputs)}
    given = {f"R{at + half}": pair[:, half] for at, pair in words.items() for half in (0, 1)}
    found = execute([text], given, ["R0", "R1"])
    return np.stack([found["R0"], found["R1"]], 1).copy().view(np.float64).ravel()


def flushed(values: np.ndarray) -> np.ndarray:
    tiny = np.abs(values) < np.finfo(values.dtype).tiny
    return np.where(tiny, np.copysign(values.dtype.type(0), values), values)


@pytest.mark.parametrize("suffix", ROUNDINGS)
@pytest.mark.parametrize("name", EXACT)
@pytest.mark.parametrize("seed", [1, 2])
def test_arithmetic_is_rounded_once(name, suffix, seed):
    function, operands = EXACT[name]
    inputs = [floats(np.float32, 10 * seed + k, LANES) for k in range(operands.count("R"))]
    wanted = applied(function, function, ROUNDINGS[suffix], *inputs)
    found = single(f"F{name}{suffix} R0, {operands}", *inputs)
    judged = wanted != 0 if suffix == ".RM" else np.full(LANES, True)  # the zero of a sum is -0 there
    assert (same(found, wanted) | ~judged).all()


@pytest.mark.parametrize(
    ("suffix", "scale"), [("D2", 1 / 2), ("D4", 1 / 4), ("D8", 1 / 8), ("M2", 2), ("M8", 8)]
)
def test_products_are_scaled_before_they_are_rounded(suffix, scale):
    x, y = np.random.default_rng(0).normal(size=(2, LANES)).astype(np.float32)
    wanted = (x.astype(np.float64) * y * scale).astype(np.float32)
    assert same(single(f"FMUL.{suffix} R0, R1, R2", x, y), wanted).all()


@pytest.mark.parametrize("name", EXACT)
def test_double_arithmetic_is_rounded_once(name):
    function, operands = EXACT[name]
    inputs = [floats(np.float64, 20 + k, LANES) for k in range(operands.count("R"))]
    operands = operands.replace("R3", "R6").replace("R2", "R4").replace("R1", "R2")
    found = double(f"D{name} R0, {operands}", *inputs)
    assert same(found, applied(function, function, "rn", *inputs)).all()


def test_denormals_are_flushed_and_results_clamped():
    x, y = floats(np.float32, 1, LANES), floats(np.float32, 2, LANES)
    with np.errstate(all="ignore"):
        total = flushed(flushed(x) + flushed(y))
        assert same(single("FADD.FTZ R0, R1, R2", x, y), total).all()
        clamped = np.where(np.isnan(total), 0, np.clip(total, 0, 1)).astype(np.float32) + np.float32(0)
    assert same(single("FADD.FTZ.SAT R0, R1, R2", x, y), clamped).all()


def test_signs_and_bars_of_operands():
    x, y = floats(np.float32, 3, LANES), floats(np.float32, 4, LANES)
    with np.errstate(all="ignore"):
        assert same(single("FADD R0, -|R1|, R2.reuse", x, y), -np.abs(x) + y).all()
        assert same(single("FMUL R0, R1, -1.5", x), x * np.float32(-1.5)).all()


def test_minimum_prefers_numbers_and_orders_zeros():
    x = np.resize(np.array([0.0, -0.0, np.nan, 1, np.nan, -3, np.inf], np.float32), LANES)
    y = np.resize(np.array([-0.0, 0.0, 2, np.nan, np.nan, -4, 1], np.float32), LANES)
    least = np.resize(np.array([-0.0, -0.0, 2, 1, np.nan, -4, 1], np.float32), LANES)
    most = np.resize(np.array([0.0, 0.0, 2, 1, np.nan, -3, np.inf], np.float32), LANES)
    assert same(single("FMNMX R0, R1, R2, PT", x, y), least).all()
    assert same(single("FMNMX R0, R1, R2, !PT", x, y), most).all()
    nan = np.isnan(x) | np.isnan(y)
    assert (np.isnan(single("FMNMX.NAN R0, R1, R2, PT", x, y)) == nan).all()
    assert same(single("FMNMX3 R0, R1, R2, 0.5, PT", x, y), np.fmin(least, np.float32(0.5))).all()


@pytest.mark.parametrize("name", ["LT", "EQ", "LE", "GT", "NE", "GE"])
def test_comparisons_with_and_without_nan(name):
    x, y = floats(np.float32, 5, LANES), floats(np.float32, 6, LANES)
    y = np.where(np.arange(LANES) % 4 == 0, x, y)
    nan = np.isnan(x) | np.isnan(y)
    ordered = {"LT": x < y, "EQ": x == y, "LE": x <= y, "GT": x > y, "NE": x != y, "GE": x >= y}[name] & ~nan
    given = {"R1": x.view(np.uint32), "R2": y.view(np.uint32), "P3": np.arange(LANES) % 2}
    third = np.arange(LANES) % 2 == 1
    for suffix, holds in (("", ordered), ("U", ordered | nan)):
        found = execute([f"FSETP.{name}{suffix}.AND P0, P1, R1, R2, P3"], given, ["P0", "P1"])
        assert (found["P0"] == (holds & third)).all()
        assert (found["P1"] == (~holds & third)).all()
        found = execute([f"FSET.BF.{name}{suffix}.OR R0, R1, R2, !P3"], given, ["R0"])
        assert (found["R0"].view(np.float32) == (holds | ~third)).all()


def test_choice_of_the_smaller_double():
    x = np.resize(np.array([0.0, -0.0, np.nan, 1, np.nan, -3]), LANES)
    y = np.resize(np.array([-0.0, 0.0, 2, np.nan, np.nan, -4]), LANES)
    words = {
        f"R{2 + 2 * k + h}": v.view(np.uint32).reshape(-1, 2)[:, h]
        for k, v in ((0, x), (1, y))
        for h in (0, 1)
    }
    found = execute(["DSETP.MIN.AND P0, P1, R2, R4, PT"], words, ["P0", "P1"])
    both = np.isnan(x) & np.isnan(y)
    assert (found["P1"] == both).all()
    wanted = np.resize([0, 1, 0, 1, 1, 0], LANES)
    assert (found["P0"] == wanted)[~both].all()


def test_packed_floats():
    x = [floats(np.float32, 30 + k, LANES) for k in range(6)]
    given = {f"R{k + 2}": v.view(np.uint32) for k, v in enumerate(x)}
    text = "FFMA2 R0, R2.F32x2.HI_LO, R4.F32, R6.F32x2.LO_HI.NP"
    found = execute([text], given, ["R0", "R1"], target="sm_100")
    exact, plain = EXACT["FMA"][0], lambda a, b, c: a * b + c
    low = applied(exact, plain, "rn", x[0], x[2], x[5])
    high = applied(exact, plain, "rn", x[1], x[2], -x[4])
    assert same(found["R0"].view(np.float32), low).all()
    assert same(found["R1"].view(np.float32), high).all()


@pytest.mark.parametrize(
    ("name", "function"),
    [("RCP", lambda x: 1 / x), ("RSQ", lambda x: 1 / np.sqrt(x)), ("SQRT", np.sqrt), ("EX2", np.exp2),
     ("LG2", np.log2), ("SIN", lambda x: np.sin(2 * np.pi * x)), ("COS", lambda x: np.cos(2 * np.pi * x)),
     ("TANH", np.tanh)],
)  # fmt: skip
def test_special_functions(name, function):
    x = np.where(np.arange(LANES) < 16, floats(np.float32, 7, LANES), np.linspace(0.1, 7, LANES)).astype(
        np.float32
    )
    keep = (np.abs(x) < 1e4) | ~np.isfinite(x) if name in ("SIN", "COS") else np.full(LANES, True)
    with np.errstate(all="ignore"):
        flush = np.asarray if name == "TANH" else flushed
        wanted = flush(function(flush(x).astype(np.float64)).astype(np.float32))
    found = single(f"MUFU.{name} R0, R1", x)
    close = np.isclose(found, wanted, rtol=2e-6, atol=2e-7 if name in ("SIN", "COS") else 0, equal_nan=True)
    assert (close | ~keep)[~np.isnan(x) | np.isnan(found)].all()


def test_literals_of_double_functions_are_high_words():
    """Divisions by constants: nvdisasm prints 0x3f1a36e2, the high word of 1e-4, as the double it begins."""
    given = np.array([0x3F1A36E2], np.uint32)
    found = single("MUFU.RCP64H R0, 9.9999946542084217072e-05", np.zeros(LANES, np.float32))
    from_register = single("MUFU.RCP64H R0, R1", np.repeat(given, LANES).view(np.float32))
    assert found.view(np.uint32).tolist() == from_register.view(np.uint32).tolist()
    halves = np.array([0, found.view(np.uint32)[0]], np.uint32)
    assert halves.view(np.float64)[0] == pytest.approx(1e4, rel=1e-5)


def test_a_modifier_nobody_declared_is_uncovered():
    with pytest.raises(AssertionError, match="FADD"):
        single("FADD.XYZ R0, R1, R2", *[floats(np.float32, 8, LANES)] * 2)
    with pytest.raises(AssertionError, match="FMNMX"):
        single("FMNMX.XORSIGN R0, R1, R2, PT", *[floats(np.float32, 8, LANES)] * 2)
    with pytest.raises(AssertionError, match="FADD"):
        single("FADD R0, R1.H0_H0, R2", *[floats(np.float32, 8, LANES)] * 2)
