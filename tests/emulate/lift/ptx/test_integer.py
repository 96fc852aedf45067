"""Integer arithmetic against Python's integers, which have no width."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.emulate.lift.ptx.harness import lanes, one
from tests.emulate.lift.ptx.numbers import masked, samples, signed

if TYPE_CHECKING:
    from collections.abc import Callable

COUNT = 256
KINDS = ("u16", "s16", "u32", "s32", "u64", "s64")
seeds = st.integers(0, 2**16)


def number(value: int, kind: str) -> int:
    """Return the number that a type reads in some bits."""
    bits = int(kind[1:])
    return signed(value, bits) if kind[0] == "s" else masked(value, bits)


def divide(x: int, y: int) -> int:
    """Return the quotient towards zero."""
    quotient = abs(x) // abs(y)
    return quotient if (x < 0) == (y < 0) else -quotient


def clamp(value: int, kind: str) -> int:
    """Hold a number to the range of a type."""
    bits = int(kind[1:])
    low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if kind[0] == "s" else (0, (1 << bits) - 1)
    return min(max(value, low), high)


TWO: dict[str, Callable[[int, int], int]] = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul.lo": lambda x, y: x * y,
    "min": min,
    "max": max,
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", TWO)
@settings(max_examples=3)
@given(seed=seeds)
def test_two_operands(name: str, kind: str, seed: int) -> None:
    bits = int(kind[1:])
    x, y = samples(bits, COUNT, seed), samples(bits, COUNT, seed + 1)
    found = one(f"{name}.{kind} %d, %a, %b;", f"b{bits}", (f"b{bits}", x), (f"b{bits}", y))
    assert found == [
        masked(TWO[name](number(a, kind), number(b, kind)), bits) for a, b in zip(x, y, strict=True)
    ]


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=3)
@given(seed=seeds)
def test_division(kind: str, seed: int) -> None:
    bits = int(kind[1:])
    x, y = samples(bits, COUNT, seed), [v or 1 for v in samples(bits, COUNT, seed + 1)]
    body = f"div.{kind} %d, %a, %b; rem.{kind} %r, %a, %b;"
    kinds = f"b{bits}"
    found = lanes(body, {"a": (kinds, x), "b": (kinds, y)}, {"d": kinds, "r": kinds})
    pairs = [(number(a, kind), number(b, kind)) for a, b in zip(x, y, strict=True)]
    assert found["d"] == [masked(divide(a, b), bits) for a, b in pairs]
    assert found["r"] == [masked(a - b * divide(a, b), bits) for a, b in pairs]


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=3)
@given(seed=seeds)
def test_upper_half_of_products(kind: str, seed: int) -> None:
    bits = int(kind[1:])
    x, y, z = (samples(bits, COUNT, seed + k) for k in range(3))
    inputs = {n: (f"b{bits}", v) for n, v in zip("abc", (x, y, z), strict=True)}
    body = f"mul.hi.{kind} %d, %a, %b; mad.hi.{kind} %r, %a, %b, %c; mad.lo.{kind} %s, %a, %b, %c;"
    found = lanes(body, inputs, dict.fromkeys("drs", f"b{bits}"))
    products = [number(a, kind) * number(b, kind) for a, b in zip(x, y, strict=True)]
    assert found["d"] == [masked(p >> bits, bits) for p in products]
    assert found["r"] == [masked((p >> bits) + c, bits) for p, c in zip(products, z, strict=True)]
    assert found["s"] == [masked(p + c, bits) for p, c in zip(products, z, strict=True)]


@pytest.mark.parametrize("kind", ["u16", "s16", "u32", "s32"])
@settings(max_examples=3)
@given(seed=seeds)
def test_wide_products(kind: str, seed: int) -> None:
    bits = int(kind[1:])
    x, y, z = samples(bits, COUNT, seed), samples(bits, COUNT, seed + 1), samples(2 * bits, COUNT, seed + 2)
    inputs = {"a": (f"b{bits}", x), "b": (f"b{bits}", y), "c": (f"b{2 * bits}", z)}
    body = f"mul.wide.{kind} %d, %a, %b; mad.wide.{kind} %r, %a, %b, %c;"
    found = lanes(body, inputs, dict.fromkeys("dr", f"b{2 * bits}"))
    products = [number(a, kind) * number(b, kind) for a, b in zip(x, y, strict=True)]
    assert found["d"] == [masked(p, 2 * bits) for p in products]
    assert found["r"] == [masked(p + c, 2 * bits) for p, c in zip(products, z, strict=True)]


@settings(max_examples=4)
@given(seed=seeds)
def test_saturation(seed: int) -> None:
    x, y, z = (samples(32, COUNT, seed + k) for k in range(3))
    inputs = {n: ("b32", v) for n, v in zip("abc", (x, y, z), strict=True)}
    body = "add.sat.s32 %d, %a, %b; sub.sat.s32 %r, %a, %b; mad.hi.sat.s32 %s, %a, %b, %c;"
    found = lanes(body, inputs, dict.fromkeys("drs", "b32"))
    triples = [tuple(signed(v, 32) for v in t) for t in zip(x, y, z, strict=True)]
    assert found["d"] == [masked(clamp(a + b, "s32"), 32) for a, b, _ in triples]
    assert found["r"] == [masked(clamp(a - b, "s32"), 32) for a, b, _ in triples]
    assert found["s"] == [masked(clamp((a * b >> 32) + c, "s32"), 32) for a, b, c in triples]


@pytest.mark.parametrize("kind", ["u32", "s32"])
@settings(max_examples=3)
@given(seed=seeds)
def test_24_bits(kind: str, seed: int) -> None:
    x, y, z = (samples(32, COUNT, seed + k) for k in range(3))
    inputs = {n: ("b32", v) for n, v in zip("abc", (x, y, z), strict=True)}
    body = f"mul24.lo.{kind} %d, %a, %b; mul24.hi.{kind} %r, %a, %b; mad24.lo.{kind} %s, %a, %b, %c;"
    found = lanes(body, inputs, dict.fromkeys("drs", "b32"))
    read = signed if kind == "s32" else masked
    products = [read(a, 24) * read(b, 24) for a, b in zip(x, y, strict=True)]
    assert found["d"] == [masked(p, 32) for p in products]
    assert found["r"] == [masked(p >> 16, 32) for p in products]
    assert found["s"] == [masked(p + c, 32) for p, c in zip(products, z, strict=True)]


@settings(max_examples=4)
@given(seed=seeds)
def test_carries_make_long_numbers(seed: int) -> None:
    x, y = samples(64, COUNT, seed), samples(64, COUNT, seed + 1)
    body = (
        "{ .reg .b32 %l<4>; .reg .b32 %h<4>; mov.b64 {%l1, %h1}, %a; mov.b64 {%l2, %h2}, %b;"
        "add.cc.u32 %l3, %l1, %l2; addc.cc.u32 %h3, %h1, %h2; addc.u32 %e, 0, 0; mov.b64 %d, {%l3, %h3};"
        "sub.cc.u32 %l3, %l1, %l2; subc.cc.u32 %h3, %h1, %h2; subc.u32 %f, 0, 0; mov.b64 %r, {%l3, %h3};"
        "add.cc.u64 %s, %a, %b; addc.u64 %t, 0, 0; }"
    )
    outputs = {"d": "b64", "e": "b32", "r": "b64", "f": "b32", "s": "b64", "t": "b64"}
    found = lanes(body, {"a": ("b64", x), "b": ("b64", y)}, outputs)
    pairs = list(zip(x, y, strict=True))
    assert found["d"] == found["s"] == [masked(a + b, 64) for a, b in pairs]
    assert found["e"] == found["t"] == [(a + b) >> 64 for a, b in pairs]
    assert found["r"] == [masked(a - b, 64) for a, b in pairs]
    assert found["f"] == [masked(-1, 32) if a < b else 0 for a, b in pairs]


@settings(max_examples=3)
@given(seed=seeds)
def test_carries_of_products(seed: int) -> None:
    x, y, z = samples(32, COUNT, seed), samples(32, COUNT, seed + 1), samples(64, COUNT, seed + 2)
    body = (
        "{ .reg .b32 %l<3>; .reg .b32 %h<3>; mov.b64 {%l1, %h1}, %c;"
        "mad.lo.cc.u32 %l2, %a, %b, %l1; madc.hi.u32 %h2, %a, %b, %h1; mov.b64 %d, {%l2, %h2}; }"
    )
    found = lanes(body, {"a": ("b32", x), "b": ("b32", y), "c": ("b64", z)}, {"d": "b64"})
    assert found["d"] == [masked(a * b + c, 64) for a, b, c in zip(x, y, z, strict=True)]


def leading(value: int, kind: str) -> int:
    """Return the highest bit that differs from the sign."""
    read = number(value, kind)
    return masked((read if read >= 0 else ~read).bit_length() - 1, 32)


@pytest.mark.parametrize("bits", [32, 64])
@settings(max_examples=4)
@given(seed=seeds)
def test_counts_of_bits(bits: int, seed: int) -> None:
    x = samples(bits, COUNT, seed)
    body = (
        f"popc.b{bits} %d, %a; clz.b{bits} %e, %a; bfind.u{bits} %f, %a; bfind.s{bits} %g, %a;"
        f"bfind.shiftamt.u{bits} %h, %a; brev.b{bits} %r, %a;"
    )
    found = lanes(body, {"a": (f"b{bits}", x)}, dict.fromkeys("defgh", "b32") | {"r": f"b{bits}"})
    assert found["d"] == [v.bit_count() for v in x]
    assert found["e"] == [bits - v.bit_length() for v in x]
    assert found["f"] == [leading(v, f"u{bits}") for v in x]
    assert found["g"] == [leading(v, f"s{bits}") for v in x]
    assert found["h"] == [bits - v.bit_length() if v else 0xFFFFFFFF for v in x]
    assert found["r"] == [int(f"{v:0{bits}b}"[::-1], 2) for v in x]


def extract(value: int, start: int, length: int, kind: str) -> int:
    """Return ``bfe`` bit by bit (PTX ISA, pseudocode of bfe)."""
    bits = int(kind[1:])
    start, length = start & 255, length & 255
    sign_at = min(start + length - 1, bits - 1)
    sign = 0 if kind[0] == "u" or length == 0 else value >> sign_at & 1
    result = 0
    for i in range(bits):
        inside = i < length and start + i < bits
        result |= (value >> (start + i) & 1 if inside else sign) << i
    return result


def insert(field: int, into: int, start: int, length: int, bits: int) -> int:
    """Return ``bfi`` bit by bit."""
    for i in range(length & 255):
        at = (start & 255) + i
        if at < bits:
            into = into & ~(1 << at) | (field >> i & 1) << at
    return into


@pytest.mark.parametrize("kind", ["u32", "s32", "u64", "s64"])
@settings(max_examples=4)
@given(seed=seeds)
def test_bit_fields(kind: str, seed: int) -> None:
    bits = int(kind[1:])
    x, y = samples(bits, COUNT, seed), samples(bits, COUNT, seed + 1)
    start, length = ([v % 80 for v in samples(32, COUNT, seed + k)] for k in (2, 3))
    inputs = {"a": (f"b{bits}", x), "b": (f"b{bits}", y), "c": ("b32", start), "e": ("b32", length)}
    body = f"bfe.{kind} %d, %a, %c, %e; bfi.b{bits} %r, %a, %b, %c, %e;"
    found = lanes(body, inputs, dict.fromkeys("dr", f"b{bits}"))
    rows = list(zip(x, y, start, length, strict=True))
    assert found["d"] == [extract(a, s, n, kind) for a, _, s, n in rows]
    assert found["r"] == [insert(a, b, s, n, bits) for a, b, s, n in rows]


def nth_set(mask: int, base: int, n: int) -> int:
    """Return ``fns`` as PTX ISA's pseudocode says."""
    if n == 0:
        return base if mask >> base & 1 else 0xFFFFFFFF
    at, step = base, 1 if n > 0 else -1
    left = abs(n)
    while 0 <= at < 32:
        left -= mask >> at & 1
        if left == 0:
            return at
        at += step
    return 0xFFFFFFFF


@settings(max_examples=4)
@given(seed=seeds)
def test_find_nth_set(seed: int) -> None:
    mask = samples(32, COUNT, seed)
    base, n = (
        [v % 32 for v in samples(32, COUNT, seed + 1)],
        [v % 21 - 10 for v in samples(32, COUNT, seed + 2)],
    )
    inputs = (("b32", mask), ("b32", base), ("b32", [masked(v, 32) for v in n]))
    found = one("fns.b32 %d, %a, %b, %c;", "b32", *inputs)
    assert found == [nth_set(*row) for row in zip(mask, base, n, strict=True)]


@pytest.mark.parametrize(("a_kind", "b_kind"), [("u32", "u32"), ("s32", "s32"), ("s32", "u32")])
@settings(max_examples=3)
@given(seed=seeds)
def test_dot_products(a_kind: str, b_kind: str, seed: int) -> None:
    x, y, z = (samples(32, COUNT, seed + k) for k in range(3))
    inputs = {n: ("b32", v) for n, v in zip("abc", (x, y, z), strict=True)}
    kinds = f"{a_kind}.{b_kind}"
    body = f"dp4a.{kinds} %d, %a, %b, %c; dp2a.lo.{kinds} %e, %a, %b, %c; dp2a.hi.{kinds} %f, %a, %b, %c;"
    found = lanes(body, inputs, dict.fromkeys("def", "b32"))

    def parts(value: int, kind: str, bits: int) -> list[int]:
        read = signed if kind == "s32" else masked
        return [read(value >> at, bits) for at in range(0, 32, bits)]

    def dot(left: list[int], right: list[int], total: int) -> int:
        return masked(total + sum(p * q for p, q in zip(left, right, strict=False)), 32)

    rows = list(zip(x, y, z, strict=True))
    assert found["d"] == [dot(parts(a, a_kind, 8), parts(b, b_kind, 8), c) for a, b, c in rows]
    assert found["e"] == [dot(parts(a, a_kind, 16), parts(b, b_kind, 8)[:2], c) for a, b, c in rows]
    assert found["f"] == [dot(parts(a, a_kind, 16), parts(b, b_kind, 8)[2:], c) for a, b, c in rows]


@pytest.mark.parametrize("kind", ["u16", "s32", "u64"])
def test_sad_neg_abs(kind: str) -> None:
    bits = int(kind[1:])
    x, y, z = (samples(bits, COUNT, k) for k in range(3))
    found = one(f"sad.{kind} %d, %a, %b, %c;", f"b{bits}", *((f"b{bits}", v) for v in (x, y, z)))
    rows = zip(x, y, z, strict=True)
    assert found == [masked(c + abs(number(a, kind) - number(b, kind)), bits) for a, b, c in rows]
    body = f"neg.s{bits} %d, %a; abs.s{bits} %e, %a;"
    found_two = lanes(body, {"a": (f"b{bits}", x)}, dict.fromkeys("de", f"b{bits}"))
    assert found_two["d"] == [masked(-v, bits) for v in x]
    assert found_two["e"] == [masked(abs(signed(v, bits)), bits) for v in x]


def test_packed_halves() -> None:
    x, y = samples(32, COUNT, 1), samples(32, COUNT, 2)
    body = "add.s16x2 %d, %a, %b; min.s16x2 %e, %a, %b; max.u16x2 %f, %a, %b;"
    found = lanes(body, {"a": ("b32", x), "b": ("b32", y)}, dict.fromkeys("def", "b32"))
    rows = list(zip(x, y, strict=True))

    def halves(a: int, b: int, function: Callable[[int, int], int]) -> int:
        return sum(masked(function(a >> at & 0xFFFF, b >> at & 0xFFFF), 16) << at for at in (0, 16))

    assert found["d"] == [halves(a, b, lambda p, q: p + q) for a, b in rows]
    assert found["e"] == [halves(a, b, lambda p, q: min(signed(p, 16), signed(q, 16))) for a, b in rows]
    assert found["f"] == [halves(a, b, max) for a, b in rows]


def test_packed_video() -> None:
    x, y, z = (samples(32, COUNT, k) for k in range(3))
    inputs = {n: ("b32", v) for n, v in zip("abc", (x, y, z), strict=True)}
    body = "vabsdiff4.u32.u32.u32.add %d, %a, %b, %c; vadd4.u32.u32.u32.sat %e, %a, %b, %c;"
    found = lanes(body, inputs, dict.fromkeys("de", "b32"))
    rows = list(zip(x, y, z, strict=True))
    split = [[(a >> at & 255, b >> at & 255) for at in (0, 8, 16, 24)] for a, b, _ in rows]
    assert found["d"] == [
        masked(c + sum(abs(p - q) for p, q in s), 32) for s, (_, _, c) in zip(split, rows, strict=True)
    ]
    assert found["e"] == [sum(min(p + q, 255) << 8 * k for k, (p, q) in enumerate(s)) for s in split]
