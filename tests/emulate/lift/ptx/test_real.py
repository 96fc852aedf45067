"""Floating-point PTX against fractions rounded once; NaN and infinities against the rules."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.emulate.lift.ptx.harness import lanes, one
from tests.emulate.lift.ptx.numbers import FORMATS, float_samples, is_nan, rounded, to_float

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

COUNT = 192
KINDS = tuple(FORMATS)
BITS = {"f16": 16, "bf16": 16, "f32": 32, "f64": 64}
seeds = st.integers(0, 2**16)


def exact(values: Sequence[float], function: Callable[..., Fraction], kind: str, mode: str) -> int | None:
    """Return the rounded result for finite operands; None where it is not finite or an exact zero."""
    if not all(math.isfinite(v) for v in values):
        return None
    try:
        result = function(*(Fraction(v) for v in values))
    except ZeroDivisionError:
        return None
    return None if result == 0 else rounded(result, kind, mode)


def agree(found: int, wanted: int | None, special: float, kind: str) -> bool:
    """Compare bits with an exact result, or where there is none with what float64 arithmetic makes of it."""
    if wanted is not None:
        return found == wanted
    value = to_float(found, kind)
    return math.isnan(value) if math.isnan(special) else value == special


OPERATIONS: dict[str, tuple[int, Callable[..., Fraction], Callable[..., np.float64]]] = {
    "add": (2, lambda x, y: x + y, np.add),
    "sub": (2, lambda x, y: x - y, np.subtract),
    "mul": (2, lambda x, y: x * y, np.multiply),
    "fma": (3, lambda x, y, z: x * y + z, lambda x, y, z: x * y + z),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", OPERATIONS)
@settings(max_examples=3)
@given(seed=seeds)
def test_arithmetic_rounds_once(name: str, kind: str, seed: int) -> None:
    count, function, special = OPERATIONS[name]
    modes = ("rn", "rz", "rm", "rp") if kind in ("f32", "f64") else ("rn",)
    values = [float_samples(kind, COUNT, seed + k) for k in range(count)]
    inputs = dict(zip("abc", ((f"b{BITS[kind]}", v) for v in values), strict=False))
    args = ", ".join(f"%{n}" for n in inputs)
    body = "".join(f"{name}.{m}.{kind} %d{m}, {args};" for m in modes)
    found = lanes(body, inputs, {f"d{m}": f"b{BITS[kind]}" for m in modes})
    with np.errstate(all="ignore"):
        for mode in modes:
            for at, row in enumerate(zip(*values, strict=True)):
                numbers = [to_float(v, kind) for v in row]
                wanted = exact(numbers, function, kind, mode)
                other = float(special(*(np.float64(v) for v in numbers)))
                assert agree(found[f"d{mode}"][at], wanted, other, kind), (mode, [hex(v) for v in row])


@pytest.mark.parametrize("kind", ["f32", "f64"])
@pytest.mark.parametrize("mode", ["rn", "rz", "rm", "rp"])
@settings(max_examples=2)
@given(seed=seeds)
def test_division_and_reciprocal(kind: str, mode: str, seed: int) -> None:
    x, y = float_samples(kind, COUNT, seed), float_samples(kind, COUNT, seed + 1)
    bits = f"b{BITS[kind]}"
    body = f"div.{mode}.{kind} %d, %a, %b; rcp.{mode}.{kind} %r, %b;"
    found = lanes(body, {"a": (bits, x), "b": (bits, y)}, {"d": bits, "r": bits})
    with np.errstate(all="ignore"):
        for at, (p, q) in enumerate(zip(x, y, strict=True)):
            top, bottom = to_float(p, kind), to_float(q, kind)
            wanted = exact([top, bottom], lambda s, t: s / t, kind, mode)
            assert agree(found["d"][at], wanted, float(np.float64(top) / np.float64(bottom)), kind)
            wanted = exact([bottom], lambda t: 1 / t, kind, mode)
            assert agree(found["r"][at], wanted, float(1 / np.float64(bottom)), kind)


@pytest.mark.parametrize("kind", ["f32", "f64"])
def test_roots(kind: str) -> None:
    x = float_samples(kind, COUNT, 5)
    bits = f"b{BITS[kind]}"
    found = one(f"sqrt.rn.{kind} %d, %a;", bits, (bits, x))
    for value, result in zip(x, found, strict=True):
        number = to_float(value, kind)
        if number < 0 or math.isnan(number):
            assert is_nan(result, kind)
        elif math.isfinite(number) and number > 0:
            # The result is the nearest: its neighbours' midpoints enclose the root.
            low, high = (Fraction(to_float(result + k, kind)) for k in (-1, 1))
            middle = Fraction(to_float(result, kind))
            assert ((low + middle) / 2) ** 2 <= Fraction(number) <= ((high + middle) / 2) ** 2


def lesser(x: int, y: int, kind: str, *, largest: bool, nan: bool) -> int | None:
    """Return ``min`` or ``max`` of two patterns; None for a NaN."""
    if is_nan(x, kind) or is_nan(y, kind):
        if nan or (is_nan(x, kind) and is_nan(y, kind)):
            return None
        return y if is_nan(x, kind) else x
    top = 1 << (BITS[kind] - 1)

    def key(v: int) -> tuple[float, bool]:
        return to_float(v, kind), not v & top

    return max(x, y, key=key) if largest else min(x, y, key=key)


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=3)
@given(seed=seeds)
def test_extremes(kind: str, seed: int) -> None:
    x, y = float_samples(kind, COUNT, seed), float_samples(kind, COUNT, seed + 1)
    bits = f"b{BITS[kind]}"
    nan = ".NaN" if kind != "f64" else ""
    body = f"min.{kind} %d, %a, %b; max.{kind} %e, %a, %b;"
    body += f"min{nan}.{kind} %f, %a, %b; max{nan}.{kind} %g, %a, %b;"
    found = lanes(body, {"a": (bits, x), "b": (bits, y)}, dict.fromkeys("defg", bits))
    for at, (p, q) in enumerate(zip(x, y, strict=True)):
        for name, largest, strict in (
            ("d", False, False),
            ("e", True, False),
            ("f", False, True),
            ("g", True, True),
        ):
            wanted = lesser(p, q, kind, largest=largest, nan=strict and bool(nan))
            result = found[name][at]
            assert is_nan(result, kind) if wanted is None else result == wanted


def test_magnitudes_with_the_sign_of_the_product() -> None:
    x, y = float_samples("f32", COUNT, 1), float_samples("f32", COUNT, 2)
    found = one("min.xorsign.abs.f32 %d, %a, %b;", "b32", ("b32", x), ("b32", y))
    for p, q, result in zip(x, y, found, strict=True):
        wanted = lesser(p & 0x7FFFFFFF, q & 0x7FFFFFFF, "f32", largest=False, nan=False)
        if wanted is not None:
            assert result == wanted | (p ^ q) & 0x80000000


@pytest.mark.parametrize("kind", KINDS)
def test_signs(kind: str) -> None:
    x, y = float_samples(kind, COUNT, 7), float_samples(kind, COUNT, 8)
    top = 1 << (BITS[kind] - 1)
    bits = f"b{BITS[kind]}"
    body = f"neg.{kind} %d, %a; abs.{kind} %e, %a;"
    copies = kind in ("f32", "f64")
    body += f"copysign.{kind} %f, %a, %b;" if copies else f"mov.{bits} %f, %a;"
    found = lanes(body, {"a": (bits, x), "b": (bits, y)}, dict.fromkeys("def", bits))
    assert found["d"] == [v ^ top for v in x]
    assert found["e"] == [v & ~top for v in x]
    assert found["f"] == ([a & top | b & ~top for a, b in zip(x, y, strict=True)] if copies else x)


def test_saturation_and_flushing() -> None:
    x = [0x3F000000, 0x40000000, 0xBF800000, 0x7FC00000, 0x00000001, 0x80000001, 0x7F800000]
    body = "{ add.sat.f32 %d, %a, 0f00000000; mul.ftz.f32 %e, %a, 0f3F800000; abs.ftz.f32 %f, %a; }"
    found = lanes(body, {"a": ("b32", x)}, dict.fromkeys("def", "b32"))
    assert found["d"] == [0x3F000000, 0x3F800000, 0, 0, 1, 0, 0x3F800000]
    assert found["e"][4:6] == [0, 0x80000000]
    assert found["f"][4:6] == [0, 0]


PROPERTIES: dict[str, Callable[[float, float], bool]] = {
    "finite": lambda x, _tiny: math.isfinite(x),
    "infinite": lambda x, _tiny: math.isinf(x),
    "number": lambda x, _tiny: not math.isnan(x),
    "notanumber": lambda x, _tiny: math.isnan(x),
    "normal": lambda x, tiny: math.isfinite(x) and abs(x) >= tiny,
    "subnormal": lambda x, tiny: x != 0 and abs(x) < tiny,
}


@pytest.mark.parametrize("kind", ["f32", "f64"])
def test_properties(kind: str) -> None:
    x = float_samples(kind, COUNT, 11)
    bits = f"b{BITS[kind]}"
    body = "".join(f"testp.{p}.{kind} %{p}, %a;" for p in PROPERTIES)
    found = lanes(body, {"a": (bits, x)}, dict.fromkeys(PROPERTIES, "pred"))
    tiny = 2.0 ** (-126 if kind == "f32" else -1022)
    for name, holds in PROPERTIES.items():
        assert found[name] == [int(holds(to_float(v, kind), tiny)) for v in x], name


@pytest.mark.parametrize("kind", ["f16x2", "bf16x2"])
def test_pairs_are_two_halves(kind: str) -> None:
    half = kind.removesuffix("x2")
    parts = [[float_samples(half, COUNT, 20 + 2 * k + j) for j in range(2)] for k in range(3)]
    whole = [[low | high << 16 for low, high in zip(*p, strict=True)] for p in parts]
    found = one(f"fma.rn.{kind} %d, %a, %b, %c;", "b32", *(("b32", v) for v in whole))
    for j in range(2):
        inputs = [("b16", p[j]) for p in parts]
        wanted = one(f"fma.rn.{half} %d, %a, %b, %c;", "b16", *inputs)
        got = [v >> 16 * j & 0xFFFF for v in found]
        assert all(g == w or (is_nan(g, half) and is_nan(w, half)) for g, w in zip(got, wanted, strict=True))


FUNCTIONS: dict[str, Callable[[float], float]] = {
    "ex2.approx": lambda x: 2.0**x,
    "lg2.approx": lambda x: math.log2(abs(x) + 1e-3),
    "sin.approx": math.sin,
    "cos.approx": math.cos,
    "tanh.approx": math.tanh,
    "rsqrt.approx": lambda x: 1 / math.sqrt(abs(x) + 1e-3),
    "rcp.approx": lambda x: 1 / x,
    "sqrt.approx": lambda x: math.sqrt(abs(x) + 1e-3),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name: str) -> None:
    numbers = np.linspace(-9.7, 9.9, 64).astype(np.float32)
    if name.partition(".")[0] in ("lg2", "rsqrt", "sqrt"):
        given = (np.abs(numbers) + np.float32(1e-3)).astype(np.float32)
    else:
        given = numbers
    found = one(f"{name}.f32 %d, %a;", "b32", ("b32", given.view(np.uint32).tolist()))
    wanted = [FUNCTIONS[name](float(v)) for v in numbers]
    assert np.array(found, np.uint32).view(np.float32) == pytest.approx(wanted, rel=1e-5, abs=1e-6)


def test_two_floats_in_one_register() -> None:
    x, y = float_samples("f32", 64, 1), float_samples("f32", 64, 2)
    pairs = [a | b << 32 for a, b in zip(x, y, strict=True)]
    found = one("add.rn.f32x2 %d, %a, %a;", "b64", ("b64", pairs))
    single = [one("add.rn.f32 %d, %a, %a;", "b32", ("b32", v)) for v in (x, y)]
    assert found == [a | b << 32 for a, b in zip(*single, strict=True)]
