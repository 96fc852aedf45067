"""Integer micro-operations against Python's whole numbers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.emulate.reference.floats import DTYPES
from tests.emulate.routines import ENGINES, apply
from warpwatt.emulate.ir import Op, Type

TYPES = (Type.I8, Type.I16, Type.I32, Type.I64)


def signed(value: int, bits: int) -> int:
    return value - (1 << bits) if value >> (bits - 1) else value


def quotient(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def of_signed(function):
    return lambda a, b, n: function(signed(a, n), signed(b, n))


BINARY = {
    Op.ADD: lambda a, b, n: a + b,
    Op.SUB: lambda a, b, n: a - b,
    Op.MUL: lambda a, b, n: a * b,
    Op.AND: lambda a, b, n: a & b,
    Op.OR: lambda a, b, n: a | b,
    Op.XOR: lambda a, b, n: a ^ b,
    Op.SHL: lambda a, b, n: a << b if b < n else 0,
    Op.LSHR: lambda a, b, n: a >> b if b < n else 0,
    Op.ASHR: lambda a, b, n: signed(a, n) >> min(b, n),
    Op.UDIV: lambda a, b, n: a // b if b else -1,
    Op.UREM: lambda a, b, n: a % b if b else a,
    Op.SDIV: of_signed(lambda a, b: quotient(a, b) if b else -1),
    Op.SREM: of_signed(lambda a, b: a - b * quotient(a, b) if b else a),
    Op.UMIN: lambda a, b, n: min(a, b),
    Op.UMAX: lambda a, b, n: max(a, b),
    Op.SMIN: of_signed(min),
    Op.SMAX: of_signed(max),
}
COMPARISONS = {
    Op.EQ: lambda a, b, n: a == b,
    Op.NE: lambda a, b, n: a != b,
    Op.SLT: of_signed(lambda a, b: a < b),
    Op.SLE: of_signed(lambda a, b: a <= b),
    Op.ULT: lambda a, b, n: a < b,
    Op.ULE: lambda a, b, n: a <= b,
}
UNARY = {
    Op.POPC: lambda a, n: a.bit_count(),
    Op.CLZ: lambda a, n: n - a.bit_length(),
    Op.BREV: lambda a, n: int(f"{a:0{n}b}"[::-1], 2),
}


@st.composite
def numbers(draw, bits, least=1):
    """Draw a list of numbers of a width, small ones and the edges among them."""
    edges = [0, 1, 2, bits - 1, bits, (1 << bits) - 1, 1 << (bits - 1), (1 << (bits - 1)) - 1]
    one = st.one_of(st.sampled_from(edges), st.integers(0, (1 << bits) - 1))
    return draw(st.lists(one, min_size=least, max_size=40))


@pytest.mark.parametrize("engine", ENGINES.values(), ids=ENGINES)
@pytest.mark.parametrize("op", [*BINARY, *COMPARISONS], ids=str)
@pytest.mark.parametrize("type_", TYPES, ids=str)
def test_two_arguments(op, type_, engine):
    oracle = BINARY.get(op) or COMPARISONS[op]
    result = Type.I1 if op in COMPARISONS else type_
    bits, dtype = type_.bits, DTYPES[type_]

    @settings(max_examples=4)
    @given(numbers(bits, 3), numbers(bits, 3))
    def check(first, second):
        pairs = [(a, b) for a in first[:7] for b in second[:7]]
        a, b = (np.array(column, dtype) for column in zip(*pairs, strict=True))
        found = apply([type_, type_], result, lambda w, x, y: w.op(op, x, y), a, b, engine=engine)
        wanted = [int(oracle(x, y, bits)) & ((1 << bits) - 1) for x, y in pairs]
        assert found.tolist() == wanted

    check()


@pytest.mark.parametrize("op", UNARY, ids=str)
@pytest.mark.parametrize("type_", TYPES, ids=str)
def test_one_argument(op, type_):
    @settings(max_examples=5)
    @given(numbers(type_.bits))
    def check(values):
        array = np.array(values, DTYPES[type_])
        found = apply([type_], type_, lambda w, x: w.op(op, x), array)
        assert found.tolist() == [UNARY[op](value, type_.bits) for value in values]

    check()


@pytest.mark.parametrize("narrow", [Type.I1, Type.I8, Type.I16, Type.I32], ids=str)
@pytest.mark.parametrize("wide", [Type.I8, Type.I16, Type.I32, Type.I64], ids=str)
def test_widths(narrow, wide):
    if narrow.bits >= wide.bits:
        return
    values = [v & ((1 << narrow.bits) - 1) for v in (0, 1, 5, 127, 128, 32768, (1 << 31) + 3, -1)]
    array = np.array(values, DTYPES[Type.I8 if narrow is Type.I1 else narrow])
    zeros = apply([narrow], wide, lambda w, x: w.zext(x, wide), array)
    signs = apply([narrow], wide, lambda w, x: w.sext(x, wide), array)
    back = apply([wide], narrow, lambda w, x: w.trunc(x, narrow), signs)
    assert zeros.tolist() == values
    assert signs.tolist() == [signed(v, narrow.bits) & ((1 << wide.bits) - 1) for v in values]
    assert back.astype(np.uint64).tolist() == values


def test_select_takes_each_lane_its_own():
    condition = np.arange(50, dtype=np.uint8) % 3 == 0
    a, b = np.arange(50, dtype=np.uint32), np.arange(50, dtype=np.uint32) + 1000
    types = [Type.I1, Type.I32, Type.I32]
    found = apply(types, Type.I32, lambda w, c, x, y: w.select(c, x, y), condition.astype(np.uint8), a, b)
    assert found.tolist() == np.where(condition, a, b).tolist()
