"""Conversions and comparisons against exact numbers."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.emulate.lift.ptx.harness import lanes, one
from tests.emulate.lift.ptx.numbers import float_samples, is_nan, masked, rounded, samples, signed, to_float
from tests.emulate.lift.ptx.test_integer import clamp, number
from tests.emulate.lift.ptx.test_real import BITS

if TYPE_CHECKING:
    from collections.abc import Callable

COUNT = 128
seeds = st.integers(0, 2**16)
INTEGERS = ("u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64")


def register(kind: str) -> str:
    """Return the type of a register that holds a type; there are none of 8 bits."""
    return f"b{max(16, int(kind.lstrip('bfsu')))}"


@pytest.mark.parametrize("source", INTEGERS)
@settings(max_examples=2)
@given(seed=seeds)
def test_integers_to_integers(source: str, seed: int) -> None:
    width = int(register(source)[1:])
    x = samples(width, COUNT, seed)
    body = "".join(f"cvt.{to}.{source} %d{to}, %a; cvt.sat.{to}.{source} %e{to}, %a;" for to in INTEGERS)
    outputs = {f"{d}{to}": register(to) for to in INTEGERS for d in "de"}
    found = lanes(body, {"a": (register(source), x)}, outputs)
    for to in INTEGERS:
        wide = int(register(to)[1:])
        values = [number(v, source) for v in x]
        assert found[f"d{to}"] == [masked(number(v, to), wide) for v in values], to
        assert found[f"e{to}"] == [masked(clamp(v, to), wide) for v in values], to


@pytest.mark.parametrize("to", ["f16", "f32", "f64"])
@pytest.mark.parametrize("source", INTEGERS)
def test_integers_to_floats(source: str, to: str) -> None:
    x = samples(int(register(source)[1:]), COUNT, 4)
    modes = ("rn", "rz", "rm", "rp")
    body = "".join(f"cvt.{m}.{to}.{source} %d{m}, %a;" for m in modes)
    found = lanes(body, {"a": (register(source), x)}, {f"d{m}": f"b{BITS[to]}" for m in modes})
    for mode in modes:
        assert found[f"d{mode}"] == [rounded(Fraction(number(v, source)), to, mode) for v in x]


ROUND: dict[str, Callable[[Fraction], int]] = {
    "rzi": math.trunc,
    "rni": round,
    "rmi": math.floor,
    "rpi": math.ceil,
}


@pytest.mark.parametrize("source", ["f16", "f32", "f64"])
@pytest.mark.parametrize("to", INTEGERS)
def test_floats_to_integers(source: str, to: str) -> None:
    x = float_samples(source, COUNT, 3)
    body = "".join(f"cvt.{m}.{to}.{source} %d{m}, %a;" for m in ROUND)
    found = lanes(body, {"a": (f"b{BITS[source]}", x)}, {f"d{m}": register(to) for m in ROUND})
    wide = int(register(to)[1:])
    for mode, function in ROUND.items():
        for bits, result in zip(x, found[f"d{mode}"], strict=True):
            value = to_float(bits, source)
            if math.isnan(value):
                wanted = 0
            elif math.isinf(value):
                wanted = clamp(int(math.copysign(1 << 70, value)), to)
            else:
                wanted = clamp(function(Fraction(value)), to)
            assert result == masked(wanted, wide), (mode, value)


NARROWING = [("f16", "f32"), ("f16", "f64"), ("f32", "f64"), ("bf16", "f32")]


@pytest.mark.parametrize(("to", "source"), NARROWING)
@settings(max_examples=3)
@given(seed=seeds)
def test_narrowing(to: str, source: str, seed: int) -> None:
    modes = ("rn", "rz") if to in ("f16", "bf16") else ("rn", "rz", "rm", "rp")
    x = float_samples(source, COUNT, seed)
    body = "".join(f"cvt.{m}.{to}.{source} %d{m}, %a;" for m in modes)
    found = lanes(body, {"a": (f"b{BITS[source]}", x)}, {f"d{m}": f"b{BITS[to]}" for m in modes})
    for mode in modes:
        for bits, result in zip(x, found[f"d{mode}"], strict=True):
            value = to_float(bits, source)
            if math.isnan(value):
                assert is_nan(result, to)
            elif math.isinf(value):
                assert to_float(result, to) == value
            else:
                sign = bits >> (BITS[source] - 1)
                assert result == rounded(Fraction(value), to, mode, sign), (mode, hex(bits))


@pytest.mark.parametrize(("source", "to"), [(t, s) for t, s in NARROWING])
def test_widening_is_exact(source: str, to: str) -> None:
    x = float_samples(source, COUNT, 9)
    found = one(f"cvt.{to}.{source} %d, %a;", f"b{BITS[to]}", (f"b{BITS[source]}", x))
    for bits, result in zip(x, found, strict=True):
        same = to_float(bits, source) == to_float(result, to)
        assert same or (is_nan(bits, source) and is_nan(result, to))


@pytest.mark.parametrize("kind", ["f32", "f64"])
def test_floats_to_whole_floats(kind: str) -> None:
    x = float_samples(kind, COUNT, 13)
    bits = f"b{BITS[kind]}"
    body = "".join(f"cvt.{m}.{kind}.{kind} %d{m}, %a;" for m in ROUND)
    found = lanes(body, {"a": (bits, x)}, {f"d{m}": bits for m in ROUND})
    for mode, function in ROUND.items():
        for pattern, result in zip(x, found[f"d{mode}"], strict=True):
            value = to_float(pattern, kind)
            if math.isfinite(value):
                assert to_float(result, kind) == function(Fraction(value))


def test_packed_conversions() -> None:
    x, y = float_samples("f32", COUNT, 1), float_samples("f32", COUNT, 2)
    for kind in ("f16", "bf16"):
        found = one(f"cvt.rn.{kind}x2.f32 %d, %a, %b;", "b32", ("b32", x), ("b32", y))
        high = one(f"cvt.rn.{kind}.f32 %d, %a;", "b16", ("b32", x))
        low = one(f"cvt.rn.{kind}.f32 %d, %a;", "b16", ("b32", y))
        assert found == [q | p << 16 for p, q in zip(high, low, strict=True)]


def test_packed_integers() -> None:
    x, y, z = (samples(32, COUNT, k) for k in range(3))
    inputs = {n: ("b32", v) for n, v in zip("abc", (x, y, z), strict=True)}
    body = "cvt.pack.sat.s16.s32 %d, %a, %b; cvt.pack.sat.u8.s32.b32 %e, %a, %b, %c;"
    found = lanes(body, inputs, dict.fromkeys("de", "b32"))
    rows = [(signed(a, 32), signed(b, 32), c) for a, b, c in zip(x, y, z, strict=True)]
    held = [(masked(clamp(a, "s16"), 16), masked(clamp(b, "s16"), 16)) for a, b, _ in rows]
    assert found["d"] == [a << 16 | b for a, b in held]
    assert found["e"] == [masked(c << 16 | clamp(a, "u8") << 8 | clamp(b, "u8"), 32) for a, b, c in rows]


def test_special_forms() -> None:
    x = [0x47800000, 0xC7800000, 0xBF800000, 0x7FC00000, 0x3F800001, 0x3F801000]
    body = (
        "cvt.rn.satfinite.f16.f32 %d, %a; cvt.rn.relu.f16.f32 %e, %a; cvt.rna.tf32.f32 %f, %a;"
        "cvt.sat.f32.f32 %g, %a;"
    )
    found = lanes(body, {"a": ("b32", x)}, {"d": "b16", "e": "b16", "f": "b32", "g": "b32"})
    assert found["d"][:3] == [0x7BFF, 0xFBFF, 0xBC00]
    assert found["e"][:4] == [0x7C00, 0, 0, 0x7FFF]
    assert found["f"][4:] == [0x3F800000, 0x3F802000]
    assert found["g"] == [0x3F800000, 0, 0, 0, 0x3F800000, 0x3F800000]


COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")


def holds(name: str, x: float, y: float) -> bool:
    """Return a comparison, ordered or not."""
    if name in ("num", "nan"):
        return (math.isnan(x) or math.isnan(y)) == (name == "nan")
    ordered = not (math.isnan(x) or math.isnan(y))
    base = name.removesuffix("u")
    found = {"eq": x == y, "ne": x != y, "lt": x < y, "le": x <= y, "gt": x > y, "ge": x >= y}[base]
    return (found and ordered) if base == name else (found or not ordered)


@pytest.mark.parametrize("kind", ["u16", "s16", "u32", "s32", "u64", "s64"])
def test_comparison_of_integers(kind: str) -> None:
    bits = int(kind[1:])
    x, y = samples(bits, COUNT, 1), samples(bits, COUNT, 2)
    y[::5] = x[::5]
    body = "".join(f"setp.{c}.{kind} %p{c}, %a, %b;" for c in COMPARISONS)
    found = lanes(body, {"a": (f"b{bits}", x), "b": (f"b{bits}", y)}, {f"p{c}": "pred" for c in COMPARISONS})
    for c in COMPARISONS:
        rows = zip(x, y, strict=True)
        assert found[f"p{c}"] == [int(holds(c, number(a, kind), number(b, kind))) for a, b in rows]


@pytest.mark.parametrize("kind", ["f16", "bf16", "f32", "f64"])
def test_comparison_of_floats(kind: str) -> None:
    x, y = float_samples(kind, COUNT, 1), float_samples(kind, COUNT, 2)
    y[::5] = x[::5]
    names = (*COMPARISONS, *(f"{c}u" for c in COMPARISONS), "num", "nan")
    body = "".join(f"setp.{c}.{kind} %p{c}, %a, %b;" for c in names)
    bits = f"b{BITS[kind]}"
    found = lanes(body, {"a": (bits, x), "b": (bits, y)}, {f"p{c}": "pred" for c in names})
    for c in names:
        rows = zip(x, y, strict=True)
        assert found[f"p{c}"] == [int(holds(c, to_float(a, kind), to_float(b, kind))) for a, b in rows], c


def test_joined_comparisons_and_selection() -> None:
    x, y = [1, 5, 7, 2], [3, 5, 1, 2]
    body = (
        "{ .reg .pred %q; setp.gt.u32 %q, %a, 4; setp.lt.and.u32 %d|%e, %a, %b, %q;"
        " setp.lt.or.u32 %f, %a, %b, !%q;"
        "setp.eq.xor.u32 %g, %a, %b, %q; selp.b32 %h, %a, %b, %q; slct.s32.s32 %i, %a, %b, -1;"
        "set.lt.u32.u32 %j, %a, %b; set.lt.f32.u32 %k, %a, %b; }"
    )
    outputs = dict.fromkeys("defg", "pred") | dict.fromkeys("hijk", "b32")
    found = lanes(body, {"a": ("b32", x), "b": ("b32", y)}, outputs)
    q = [0, 1, 1, 0]
    less = [1, 0, 0, 0]
    assert found["d"] == [p & s for p, s in zip(less, q, strict=True)]
    assert found["e"] == [(1 - p) & s for p, s in zip(less, q, strict=True)]
    assert found["f"] == [p | 1 - s for p, s in zip(less, q, strict=True)]
    assert found["g"] == [int(a == b) ^ s for a, b, s in zip(x, y, q, strict=True)]
    assert found["h"] == [a if s else b for a, b, s in zip(x, y, q, strict=True)]
    assert found["i"] == y
    assert found["j"] == [0xFFFFFFFF * p for p in less]
    assert found["k"] == [0x3F800000 * p for p in less]


def test_packed_comparisons() -> None:
    x, y = [0x3C004000, 0x7E000000], [0x40003C00, 0x00000000]
    body = "{ setp.lt.f16x2 %p|%q, %a, %b; set.lt.f16x2.f16x2 %d, %a, %b; set.gt.u32.f16x2 %e, %a, %b; }"
    found = lanes(
        body, {"a": ("b32", x), "b": ("b32", y)}, {"p": "pred", "q": "pred", "d": "b32", "e": "b32"}
    )
    assert found["p"] == [0, 0]
    assert found["q"] == [1, 0]
    assert found["d"] == [0x3C000000, 0]
    assert found["e"] == [0x0000FFFF, 0]


def test_signed_helper() -> None:
    assert signed(0xFF, 8) == -1
