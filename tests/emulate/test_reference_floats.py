"""Floating-point micro-operations against exact fractions: the result must be the rounded one."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.emulate.reference.floats import DTYPES
from tests.emulate.routines import apply
from warpwatt.emulate.ir import Op, Type

if TYPE_CHECKING:
    from collections.abc import Callable

FLOATS = (Type.F16, Type.F32, Type.F64)
MODES = ("rn", "rz", "rm", "rp")
EXACT: dict[Op, Callable[..., Fraction]] = {
    Op.FADD: lambda a, b: a + b,
    Op.FSUB: lambda a, b: a - b,
    Op.FMUL: lambda a, b: a * b,
    Op.FDIV: lambda a, b: a / b,
    Op.FMA: lambda a, b, c: a * b + c,
}
SPECIALS = (0.0, -0.0, 1.0, -1.0, math.inf, -math.inf, math.nan, 65504.0, 2.0**-24, -(2.0**-14))


def floats(type_, count):
    """Draw lists of floats of a type: any bit pattern, plain numbers, special ones."""
    bits = st.integers(0, (1 << type_.bits) - 1)
    size = type_.bits // 8
    any_bits = bits.map(lambda v: np.frombuffer(v.to_bytes(size, "little"), DTYPES[type_])[0].item())
    near = st.integers(-4000, 4000).map(lambda v: v / 16)
    return st.lists(st.one_of(any_bits, near, st.sampled_from(SPECIALS)), min_size=count, max_size=count)


def is_rounding(result, exact, mode):
    """Whether ``result`` is the float next to a number in a direction; overflow as IEEE 754 has it."""
    dtype = result.dtype.type
    largest = np.finfo(dtype).max
    if math.isinf(result):
        if mode == "rn":
            spacing = Fraction(float(largest)) - Fraction(float(np.nextafter(largest, dtype(0))))
            beyond = Fraction(float(largest)) + spacing / 2
            return abs(exact) >= beyond and (result > 0) == (exact > 0)
        return abs(exact) > Fraction(float(largest)) and (mode == "rp" if result > 0 else mode == "rm")
    value = Fraction(float(result))
    below, above = np.nextafter(result, dtype(-np.inf)), np.nextafter(result, dtype(np.inf))
    if mode == "rz":
        mode = "rm" if exact > 0 else "rp"
    if mode == "rm":
        return value <= exact and (math.isinf(above) or exact < Fraction(float(above)))
    if mode == "rp":
        return value >= exact and (math.isinf(below) or exact > Fraction(float(below)))
    error = abs(exact - value)
    others = [abs(exact - Fraction(float(n))) for n in (below, above) if math.isfinite(n)]
    even = not int.from_bytes(result.tobytes(), "little") & 1
    return all(error < other or (error == other and even) for other in others)


def hardware(op, arguments):
    """Return what IEEE 754 says about infinities, NaN and division by zero."""
    with np.errstate(all="ignore"):
        a, b, *c = (np.float64(v) for v in arguments)
        plain = {Op.FADD: a + b, Op.FSUB: a - b, Op.FMUL: a * b, Op.FDIV: a / b}
        return float(a * b + c[0] if op is Op.FMA else plain[op])


def check(op, mode, arguments, result):
    values = [float(v) for v in arguments]
    if not all(map(math.isfinite, values)) or (op is Op.FDIV and values[1] == 0):
        wanted = hardware(op, values)
        assert (math.isnan(wanted) and np.isnan(result)) or wanted == result, (op, mode, values, result)
        return
    exact = EXACT[op](*map(Fraction, values))
    if exact == 0:
        assert result == 0, (op, mode, values, result)
        return
    assert is_rounding(result, exact, mode), (op, mode, values, result)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("type_", FLOATS, ids=str)
@pytest.mark.parametrize("op", EXACT, ids=str)
def test_rounded_once(op, type_, mode):
    count = 3 if op is Op.FMA else 2

    @settings(max_examples=6)
    @given(st.tuples(*(floats(type_, 30) for _ in range(count))))
    def rounded(lists):
        arrays = [np.array(values).astype(DTYPES[type_]) for values in lists]
        found = apply([type_] * count, type_, lambda b, *v: b.op(op, *v, data=mode), *arrays)
        for row in zip(*arrays, found, strict=True):
            check(op, mode, row[:-1], row[-1])

    with np.errstate(all="ignore"):
        rounded()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("type_", FLOATS, ids=str)
def test_square_root(type_, mode):
    @settings(max_examples=8)
    @given(floats(type_, 30))
    def rounded(values):
        array = np.abs(np.array(values).astype(DTYPES[type_]))
        found = apply([type_], type_, lambda b, v: b.op(Op.FSQRT, v, data=mode), array)
        for x, root in zip(array, found, strict=True):
            if not np.isfinite(x) or x == 0:
                assert np.isnan(x) == np.isnan(root)
                continue
            low, high = np.nextafter(root, root.dtype.type(0)), np.nextafter(root, root.dtype.type(np.inf))
            if mode == "rn":
                middle = [(Fraction(float(root)) + Fraction(float(n))) / 2 for n in (low, high)]
                assert middle[0] ** 2 <= Fraction(float(x)) <= middle[1] ** 2
            elif mode == "rp":
                assert Fraction(float(low)) ** 2 < Fraction(float(x)) <= Fraction(float(root)) ** 2
            else:
                assert Fraction(float(root)) ** 2 <= Fraction(float(x)) < Fraction(float(high)) ** 2

    with np.errstate(all="ignore"):
        rounded()


@pytest.mark.parametrize("type_", FLOATS, ids=str)
def test_fused_with_cancellation(type_):
    """The whole product counts when it nearly cancels: what a product rounded first would lose."""
    generator = np.random.default_rng(1)
    bits = {Type.F16: 11, Type.F32: 24, Type.F64: 53}[type_]
    a = (1 + generator.integers(0, 1 << (bits - 1), 300) * 2.0 ** (1 - bits)).astype(DTYPES[type_])
    b = (1 + generator.integers(0, 1 << (bits - 1), 300) * 2.0 ** (1 - bits)).astype(DTYPES[type_])
    c = -(a * b)
    found = apply([type_] * 3, type_, lambda w, x, y, z: w.op(Op.FMA, x, y, z, data="rn"), a, b, c)
    for x, y, z, result in zip(a, b, c, found, strict=True):
        exact = Fraction(float(x)) * Fraction(float(y)) + Fraction(float(z))
        assert Fraction(float(result)) == exact


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("type_", FLOATS, ids=str)
@pytest.mark.parametrize("source", [Type.I8, Type.I32, Type.I64], ids=str)
@pytest.mark.parametrize("op", [Op.SITOFP, Op.UITOFP], ids=str)
def test_from_integers(op, source, type_, mode):
    width = source.bits
    edges = [0, 1, 2**11 + 1, 2**24 + 1, 2**53 + 1, 2**63 + 2**39 + 1, 2**64 - 1, 65519, 65520]
    generator = np.random.default_rng(2)
    values = [
        *edges,
        *(int(v) >> int(s) for v, s in zip(generator.integers(0, 2**63, 60), range(60), strict=True)),
    ]
    values = [v & ((1 << width) - 1) for v in values]
    array = np.array(values, DTYPES[source])
    found = apply([source], type_, lambda b, v: b.convert(op, type_, v, mode), array)
    for value, result in zip(values, found, strict=True):
        exact = value - (1 << width) if op is Op.SITOFP and value >> (width - 1) else value
        assert result == 0 if exact == 0 else is_rounding(result, Fraction(exact), mode)


@pytest.mark.parametrize("type_", FLOATS, ids=str)
@pytest.mark.parametrize("target", [Type.I8, Type.I32, Type.I64], ids=str)
@pytest.mark.parametrize("op", [Op.FPTOSI, Op.FPTOUI], ids=str)
def test_to_integers(op, target, type_):
    low, high = (
        (-(1 << (target.bits - 1)), (1 << (target.bits - 1)) - 1)
        if op is Op.FPTOSI
        else (0, (1 << target.bits) - 1)
    )

    @settings(max_examples=10)
    @given(floats(type_, 30))
    def saturates(values):
        array = np.array(values).astype(DTYPES[type_])
        found = apply([type_], target, lambda b, v: b.convert(op, target, v), array)
        for value, result in zip(array.astype(np.float64).tolist(), found.tolist(), strict=True):
            whole = 0 if math.isnan(value) else value if math.isinf(value) else math.trunc(value)
            assert result == int(min(max(whole, low), high)) & ((1 << target.bits) - 1)

    with np.errstate(all="ignore"):
        saturates()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("wide", "narrow"), [(Type.F64, Type.F32), (Type.F64, Type.F16), (Type.F32, Type.F16)]
)
def test_narrowing(wide, narrow, mode):
    @settings(max_examples=10)
    @given(floats(wide, 30), floats(narrow, 30))
    def rounded(values, close):
        array = np.array([*values, *close]).astype(DTYPES[wide])
        array = np.concatenate([array, np.nextafter(array, DTYPES[wide].type(np.inf))])
        found = apply([wide], narrow, lambda b, v: b.convert(Op.FPTRUNC, narrow, v, mode), array)
        for value, result in zip(array.astype(np.float64).tolist(), found, strict=True):
            if not math.isfinite(value) or value == 0:
                assert np.isnan(result) if math.isnan(value) else result == value
            else:
                assert is_rounding(result, Fraction(value), mode)

    with np.errstate(all="ignore"):
        rounded()


@pytest.mark.parametrize("type_", FLOATS, ids=str)
def test_least_and_greatest(type_):
    values = [0.0, -0.0, 1.0, -1.0, math.nan, math.inf, -math.inf]
    pairs = np.array([(a, b) for a in values for b in values]).astype(DTYPES[type_])
    for op, pick in ((Op.FMIN, min), (Op.FMAX, max)):
        found = apply([type_] * 2, type_, lambda w, x, y, op=op: w.op(op, x, y), pairs[:, 0], pairs[:, 1])
        for (a, b), result in zip(pairs.tolist(), found.tolist(), strict=True):
            if math.isnan(a) or math.isnan(b):
                other = b if math.isnan(a) else a
                assert result == other or (math.isnan(other) and math.isnan(result))
                continue
            wanted = pick((a, math.copysign(1, a)), (b, math.copysign(1, b)))
            assert (result, math.copysign(1, result)) == wanted


def test_whole_numbers_and_signs():
    values = np.array([0.5, 1.5, -0.5, -2.5, 2.5, 3.7, -3.7, 1e10, math.inf], np.float32)
    wanted = {
        Op.FFLOOR: np.floor(values), Op.FCEIL: np.ceil(values), Op.FTRUNC: np.trunc(values),
        Op.FRINT: np.round(values), Op.FNEG: -values, Op.FABS: np.abs(values),
    }  # fmt: skip
    for op, expected in wanted.items():
        found = apply([Type.F32], Type.F32, lambda b, v, op=op: b.op(op, v), values)
        assert found.tobytes() == expected.tobytes(), op


def test_comparisons_are_ordered():
    values = [0.0, -0.0, 1.0, math.nan, math.inf]
    pairs = np.array([(a, b) for a in values for b in values], np.float64)
    a, b = pairs[:, 0].copy(), pairs[:, 1].copy()
    either = np.isnan(a) | np.isnan(b)
    wanted = {Op.FEQ: a == b, Op.FLT: a < b, Op.FLE: a <= b, Op.FUNO: either}
    for op, expected in wanted.items():
        found = apply([Type.F64] * 2, Type.I1, lambda w, x, y, op=op: w.op(op, x, y), a, b)
        assert found.tolist() == expected.tolist(), op
