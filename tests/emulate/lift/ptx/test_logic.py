"""Logic, shifts, bytes and moves against bit-by-bit definitions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.emulate.lift.ptx.harness import lanes, one
from tests.emulate.lift.ptx.numbers import masked, samples, signed

if TYPE_CHECKING:
    from collections.abc import Callable

COUNT = 128
seeds = st.integers(0, 2**16)


@pytest.mark.parametrize("bits", [16, 32, 64])
def test_bitwise(bits: int) -> None:
    x, y = samples(bits, COUNT, 1), samples(bits, COUNT, 2)
    body = (
        f"and.b{bits} %d, %a, %b; or.b{bits} %e, %a, %b; xor.b{bits} %f, %a, %b; not.b{bits} %g, %a;"
        f" cnot.b{bits} %h, %a;"
    )
    kind = f"b{bits}"
    found = lanes(body, {"a": (kind, x), "b": (kind, y)}, dict.fromkeys("defgh", kind))
    rows = list(zip(x, y, strict=True))
    assert found["d"] == [a & b for a, b in rows]
    assert found["e"] == [a | b for a, b in rows]
    assert found["f"] == [a ^ b for a, b in rows]
    assert found["g"] == [masked(~a, bits) for a in x]
    assert found["h"] == [int(a == 0) for a in x]


@pytest.mark.parametrize("first", range(0, 256, 32))
def test_every_table_of_three(first: int) -> None:
    x, y, z = ([v] * 1 for v in (0b11110000, 0b11001100, 0b10101010))
    names = [f"d{t}" for t in range(first, first + 32)]
    body = "".join(f"lop3.b32 %{n}, %a, %b, %c, {n[1:]};" for n in names)
    found = lanes(body, {"a": ("b32", x), "b": ("b32", y), "c": ("b32", z)}, dict.fromkeys(names, "b32"))
    # Bit r of the inputs is row r of the table; above them all rows are row 0.
    for name in names:
        table = int(name[1:])
        assert found[name][0] & 255 == table
        assert found[name][0] >> 8 == (0xFFFFFF if table & 1 else 0)


@pytest.mark.parametrize("kind", ["b16", "s16", "b32", "s32", "b64", "s64"])
@settings(max_examples=3)
@given(seed=seeds)
def test_shifts(kind: str, seed: int) -> None:
    bits = int(kind[1:])
    x = samples(bits, COUNT, seed)
    amount = [v if v % 3 else v % (bits + 4) for v in samples(32, COUNT, seed + 1)]
    body = f"shl.b{bits} %d, %a, %b; shr.{kind} %e, %a, %b; shr.{kind} %f, %a, 5; shl.b{bits} %g, %a, 65;"
    found = lanes(body, {"a": (f"b{bits}", x), "b": ("b32", amount)}, dict.fromkeys("defg", f"b{bits}"))
    read = signed if kind[0] == "s" else masked
    rows = [(a, min(n, bits)) for a, n in zip(x, amount, strict=True)]
    assert found["d"] == [masked(a << n, bits) for a, n in rows]
    assert found["e"] == [masked(read(a, bits) >> n, bits) for a, n in rows]
    assert found["f"] == [masked(read(a, bits) >> 5, bits) for a in x]
    assert found["g"] == [0] * COUNT


@settings(max_examples=4)
@given(seed=seeds, constant=st.integers(0, 40))
def test_funnel(seed: int, constant: int) -> None:
    x, y, n = samples(32, COUNT, seed), samples(32, COUNT, seed + 1), samples(32, COUNT, seed + 2)
    forms = [(left, wrap, by) for left in "lr" for wrap in ("wrap", "clamp") for by in ("%c", str(constant))]
    names = [f"d{k}" for k in range(len(forms))]
    body = "".join(
        f"shf.{left}.{wrap}.b32 %{d}, %a, %b, {by};" for d, (left, wrap, by) in zip(names, forms, strict=True)
    )
    inputs = {"a": ("b32", x), "b": ("b32", y), "c": ("b32", n)}
    found = lanes(body, inputs, dict.fromkeys(names, "b32"))
    for name, (left, wrap, by) in zip(names, forms, strict=True):
        for at, (low, high, own) in enumerate(zip(x, y, n, strict=True)):
            amount = constant if by != "%c" else own
            amount = amount & 31 if wrap == "wrap" else min(amount, 32)
            both = high << 32 | low
            wanted = masked((both << amount) >> 32 if left == "l" else both >> amount, 32)
            assert found[name][at] == wanted, (left, wrap, by)


def permuted(low: int, high: int, selector: int) -> int:
    """Return ``prmt`` as PTX ISA says."""
    both, result = high << 32 | low, 0
    for at in range(4):
        nibble = selector >> 4 * at & 15
        byte = both >> 8 * (nibble & 7) & 255
        if nibble & 8:
            byte = 255 if byte >> 7 else 0
        result |= byte << 8 * at
    return result


@settings(max_examples=5)
@given(seed=seeds, selectors=st.lists(st.integers(0, 0xFFFF), min_size=6, max_size=6))
def test_permute(seed: int, selectors: list[int]) -> None:
    x, y, s = samples(32, COUNT, seed), samples(32, COUNT, seed + 1), samples(16, COUNT, seed + 2)
    selectors = [*selectors, 0x5410, 0x7632, 0x0123, 0x3340, 0x3210, 0x7654]
    names = [f"d{k}" for k in range(len(selectors))]
    body = "prmt.b32 %r, %a, %b, %c;"
    body += "".join(f"prmt.b32 %{n}, %a, %b, {v};" for n, v in zip(names, selectors, strict=True))
    inputs = {"a": ("b32", x), "b": ("b32", y), "c": ("b32", s)}
    found = lanes(body, inputs, dict.fromkeys([*names, "r"], "b32"))
    rows = list(zip(x, y, s, strict=True))
    assert found["r"] == [permuted(*row) for row in rows]
    for name, selector in zip(names, selectors, strict=True):
        assert found[name] == [permuted(a, b, selector) for a, b, _ in rows]


MODES: dict[str, Callable[[int, int], int]] = {
    "f4e": lambda c, i: c + i,
    "b4e": lambda c, i: (c - i) % 8,
    "rc8": lambda c, _i: c,
    "ecl": max,
    "ecr": min,
    "rc16": lambda c, i: (c % 2) * 2 + i % 2,
}
"""Byte number i of the result of ``prmt`` with a mode."""


@pytest.mark.parametrize("mode", MODES)
def test_permute_modes(mode: str) -> None:
    x, y, s = ([v] * 4 for v in (0x33221100, 0x77665544, 0))
    s = [0, 1, 2, 3]
    found = one(f"prmt.b32.{mode} %d, %a, %b, %c;", "b32", ("b32", x), ("b32", y), ("b32", s))
    assert found == [sum(0x11 * MODES[mode](c, i) << 8 * i for i in range(4)) for c in s]


def test_moves_pack_and_unpack() -> None:
    x = samples(64, COUNT, 3)
    body = (
        "{ .reg .b32 %l; .reg .b32 %h; .reg .b16 %q<4>; mov.b64 {%l, %h}, %a; mov.b64 %d, {%h, %l};"
        "mov.b64 {%q0, %q1, %q2, %q3}, %a; mov.b64 %e, {%q3, %q2, %q1, %q0}; mov.b64 {_, %f}, %a;"
        "mov.b64 {%g, _}, %a; }"
    )
    found = lanes(body, {"a": ("b64", x)}, {"d": "b64", "e": "b64", "f": "b32", "g": "b32"})
    assert found["d"] == [v >> 32 | masked(v, 32) << 32 for v in x]
    assert found["e"] == [sum((v >> 16 * k & 0xFFFF) << 16 * (3 - k) for k in range(4)) for v in x]
    assert found["f"] == [v >> 32 for v in x]
    assert found["g"] == [masked(v, 32) for v in x]


def test_literals() -> None:
    body = (
        "mov.b32 %d, 0f3FC00000; mov.u64 %e, -2; mov.b64 %f, 0d4000000000000000; mov.b32 %g, WARP_SZ;"
        "mov.b32 %h, 0f7FC12345; mov.u16 %i, 0xFFFF;"
    )
    outputs = {"d": "b32", "e": "b64", "f": "b64", "g": "b32", "h": "b32", "i": "b16"}
    found = {n: v[0] for n, v in lanes(body, {"a": ("b32", [0])}, outputs).items()}
    assert found == {
        "d": 0x3FC00000, "e": 2**64 - 2, "f": 1 << 62, "g": 32, "h": 0x7FC12345, "i": 0xFFFF,
    }  # fmt: skip


def test_guards_keep_the_old_value() -> None:
    body = (
        "{ .reg .pred %p; setp.lt.u32 %p, %a, 3; mov.u32 %d, 7; @%p mov.u32 %d, 9; @!%p add.u32 %d, %d, 1; }"
    )
    assert one(body, "b32", ("b32", [0, 2, 3, 9])) == [9, 9, 8, 8]


def test_bit_masks_and_extension() -> None:
    x, y = [5, 31, 40, 0], [3, 1, 2, 40]
    body = (
        "bmsk.clamp.b32 %d, %a, %b; bmsk.wrap.b32 %e, %a, %b;"
        "szext.clamp.s32 %f, -1, %b; szext.wrap.u32 %g, -1, %b;"
    )
    found = lanes(body, {"a": ("b32", x), "b": ("b32", y)}, dict.fromkeys("defg", "b32"))
    assert found["d"] == [0xE0, 1 << 31, 0, 0xFFFFFFFF]
    assert found["e"] == [0xE0, 1 << 31, 0x300, 0xFF]
    assert found["f"] == [0xFFFFFFFF] * 4
    assert found["g"] == [7, 1, 3, 255]
