"""numpy arithmetic against Python's whole numbers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from warpwatt.program import arithmetic
from warpwatt.program.algebra import Algebra

KINDS = ("s32", "u32", "s64", "u64")


def wrap(value: int, kind: str) -> int:
    bits = int(kind[1:])
    value &= (1 << bits) - 1
    return value - (1 << bits) if kind[0] == "s" and value >> (bits - 1) else value


def truncated(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


EXACT = {
    "add": lambda a, b, _: a + b,
    "sub": lambda a, b, _: a - b,
    "mul": lambda a, b, _: a * b,
    "mulhi": lambda a, b, bits: a * b >> bits,
    "div": lambda a, b, _: truncated(a, b),
    "rem": lambda a, b, _: a - b * truncated(a, b),
    "min": lambda a, b, _: min(a, b),
    "max": lambda a, b, _: max(a, b),
    "and": lambda a, b, _: a & b,
    "or": lambda a, b, _: a | b,
    "xor": lambda a, b, _: a ^ b,
}
interesting = st.one_of(
    st.integers(-(2**63), 2**64 - 1), st.integers(-5, 5), st.sampled_from([2**31, -(2**31)])
)


@given(st.sampled_from(sorted(EXACT)), st.sampled_from(KINDS), interesting, interesting)
def test_operations_are_exact(op, kind, a, b):
    a, b = wrap(a, kind), wrap(b, kind)
    if b == 0 and op in ("div", "rem"):
        b = 1
    arrays = [np.array([x], arithmetic.DTYPES[kind]) for x in (a, b)]
    with np.errstate(all="ignore"):
        found = arithmetic.calculate(op, kind, kind, arrays, 0)
    assert int(found[0]) == wrap(EXACT[op](a, b, int(kind[1:])), kind)


@given(st.sampled_from(["shl", "shr"]), st.sampled_from(KINDS), interesting, st.integers(0, 80))
def test_shifts_clamp(op, kind, a, amount):
    a = wrap(a, kind)
    arrays = [np.array([a], arithmetic.DTYPES[kind]), np.array([amount], np.uint32)]
    expected = wrap(a << amount, kind) if op == "shl" else a >> amount
    assert int(arithmetic.calculate(op, kind, kind, arrays, 0)[0]) == expected


@given(st.sampled_from(KINDS), interesting, st.integers(0, 70), st.integers(0, 70))
def test_bit_fields(kind, a, position, length):
    """``bfe`` as the PTX ISA defines it bit by bit."""
    bits = int(kind[1:])
    a = wrap(a, kind)
    raw = a & ((1 << bits) - 1)
    top = bits - 1
    sign = 0 if kind[0] == "u" or length == 0 else raw >> min(position + length - 1, top) & 1
    result = sum(
        (raw >> (position + i) & 1 if i < length and position + i <= top else sign) << i for i in range(bits)
    )
    arrays = [np.array([a], arithmetic.DTYPES[kind]), np.array([position], np.uint32)]
    arrays.append(np.array([length], np.uint32))
    assert int(arithmetic.calculate("bfe", kind, kind, arrays, 0)[0]) == wrap(result, kind)


@given(st.integers(0, 2**32 - 1))
def test_counting_bits(a):
    array = [np.array([a], np.uint32)]
    assert int(arithmetic.calculate("popc", "u32", "u32", array, 0)[0]) == bin(a).count("1")
    assert int(arithmetic.calculate("clz", "u32", "u32", array, 0)[0]) == 32 - a.bit_length()
    assert int(arithmetic.calculate("brev", "u32", "u32", array, 0)[0]) == int(f"{a:032b}"[::-1], 2)


@given(st.sampled_from(KINDS), st.sampled_from(KINDS), interesting)
def test_conversions_keep_the_value_modulo_the_width(source, target, a):
    a = wrap(a, source)
    found = arithmetic.convert(np.array([a], arithmetic.DTYPES[source]), target)
    assert int(found[0]) == wrap(a, target)


@pytest.mark.parametrize(
    ("value", "rounding", "expected"),
    [(2.5, "rzi", 2), (-2.5, "rmi", -3), (2.5, "rni", 2), (2.1, "rpi", 3), (1e20, "rzi", 2**31 - 1)],
)
def test_floats_round_and_saturate(value, rounding, expected):
    assert int(arithmetic.convert(np.array([value]), "s32", rounding)[0]) == expected


@given(st.lists(st.tuples(st.sampled_from(["add", "sub", "mul", "and"]), st.integers(-9, 9)), max_size=6))
def test_simplification_does_not_change_values(steps):
    algebra = Algebra()
    node, value = algebra.leaf("special", "u32", "%tid.x"), np.array([[[7]]], np.uint32)
    expected = value
    for op, by in steps:
        node = algebra.apply(op, "s32", node, algebra.const(by, "s32"))
        operands = [expected, np.array([by], np.int32)]
        with np.errstate(all="ignore"):
            expected = arithmetic.calculate(op, "s32", "s32", operands, 0)

    def value_of(node):
        if node.op == "special":
            return value
        if node.op == "const":
            return np.array([node.payload]).astype(arithmetic.DTYPES[node.type])
        arrays = [value_of(a) for a in node.args]
        with np.errstate(all="ignore"):
            return arithmetic.calculate(node.op, node.type, node.operand_type, arrays, node.payload)

    assert int(arithmetic.as_type(value_of(node), "s32").ravel()[0]) == int(
        arithmetic.as_type(expected, "s32").ravel()[0]
    )


def test_equal_expressions_are_one_object():
    algebra = Algebra()
    x, y = algebra.leaf("special", "u32", "%tid.x"), algebra.leaf("special", "u32", "%ctaid.x")
    assert algebra.apply("add", "s32", x, y) is algebra.apply("add", "u32", y, x)
