from __future__ import annotations

import operator

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from warpwatt.program.progression import NEVER, first_comparison, first_multiple

COMPARE = {name: getattr(operator, name) for name in ("lt", "le", "gt", "ge", "eq", "ne")}
byte = st.integers(0, 255)


def brute_force(op: str, first: int, step: int, bound: int, signed: bool) -> int:
    def read(x: int) -> int:
        return x - 256 if signed and x >= 128 else x

    for k in range(257):
        if COMPARE[op](read((first + k * step) % 256), read(bound)):
            return k
    return int(NEVER)


@given(st.sampled_from(sorted(COMPARE)), byte, byte, byte, st.booleans())
def test_first_comparison_equals_stepping_through_all_values(op, first, step, bound, signed):
    starts, steps, bounds = (np.array([x], np.uint64) for x in (first, step, bound))
    found = first_comparison(op, starts, steps, bounds, bits=8, signed=signed)
    assert found.tolist() == [brute_force(op, first, step, bound, signed)]


@given(byte, byte, byte, st.integers(1, 256))
def test_first_multiple_is_the_least(a, low, high, modulus):
    a, low, high = a % modulus, *sorted((low % modulus, high % modulus))
    expected = next((k for k in range(modulus + 1) if low <= a * k % modulus <= high), -1)
    assert first_multiple(a, modulus, low, high) == expected


def test_full_width_does_not_overflow():
    top = np.array([2**64 - 1], np.uint64)
    one, zero = np.array([1], np.uint64), np.array([0], np.uint64)
    assert first_comparison("ge", zero, one, np.array([2**40], np.uint64), 64, signed=True) == 2**40
    assert first_comparison("eq", one, top, zero, 64, signed=False) == 1
    assert first_comparison("lt", zero, one, zero, 64, signed=True) == NEVER
