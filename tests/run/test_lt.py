"""cuBLASLt: products and what follows them, against NumPy."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from tests.run.test_libraries import HOST, ONE, RNG, TWO, ZERO, Program
from warpwatt.run.libraries.numbers import BYTES, E4M3, E5M2, NUMBERS, loaded, stored

AT = HOST + 4096
F32, F16, I8, I32, BF16, FP8 = 0, 2, 3, 10, 14, 28
COMPUTE_32F, COMPUTE_32I, TF32 = 68, 72, 77


@pytest.fixture
def program():
    one = Program()
    yield one
    one.arena.close()


class Product:
    """A product of matrices as a program describes it."""

    def __init__(self, program, compute=COMPUTE_32F, scale=F32):
        self.program = program
        self.what = self.created("cublasLtMatmulDescCreate", compute, scale)

    def created(self, name, *words):
        _, written = self.program.call(name, AT, *words)
        return struct.unpack("<Q", written[AT])[0]

    def set(self, attribute, value, kind="i", which=None, name="MatmulDesc"):
        data = {AT: struct.pack(f"<{kind}", value)}
        words = (which or self.what, attribute, AT, len(data[AT]))
        assert self.program.call(f"cublasLt{name}SetAttribute", *words, host=data) == (0, {})

    def layout(self, kind, rows, columns, ld, **given):
        which = self.created("cublasLtMatrixLayoutCreate", kind, rows, columns, ld)
        for attribute, (value, format_) in given.items():
            self.set(int(attribute[1:]), value, format_, which, "MatrixLayout")
        return which

    def run(self, a, b, d, *, alpha=ONE, beta=ZERO, c=None, dtype="<f4"):
        """Each matrix: address and layout."""
        c = c or d
        words = (1, self.what, alpha, *a, *b, beta, *c, *d, 0, 0, 0, 7)
        assert self.program.call("cublasLtMatmul", *words, dtype=dtype)[0] == 0, self.program.said
        assert self.program.last.stream == 7


def random(shape, code):
    """Return numbers of a type, as stored and as they are."""
    kind = NUMBERS[code]
    values = RNG.integers(-9, 9, shape) if code in (I8, I32) else RNG.standard_normal(shape)
    raw = stored(values.astype("<f4"), kind)
    return raw, np.asarray(loaded(raw, kind), "<f8")


@pytest.mark.parametrize(
    ("code", "out", "compute", "tolerance"),
    [
        (F32, F32, TF32, 1e-5),
        (BF16, BF16, 68, 1e-2),
        (F16, F32, 68, 1e-5),
        (I8, I32, 72, 0),
        (FP8, BF16, 68, 1e-2),
    ],
)
@pytest.mark.parametrize("turned", [0, 1])
@pytest.mark.parametrize("row_order", [0, 1])
def test_products_of_every_type_transpose_and_order(
    program, code, out, compute, tolerance, turned, row_order
):
    m, n, k, batch = 5, 4, 6, 2
    scale = I32 if compute == COMPUTE_32I else F32
    one = Product(program, compute, scale)
    one.set(3, turned)
    a, a_values = random((batch, k, m) if turned else (batch, m, k), code)
    b, b_values = random((batch, k, n), code)
    old, old_values = random((batch, m, n), out)

    def put(values, order, kind):
        """Store a batch by columns, or by rows."""
        rows, columns = values.shape[1:]
        flat = values.transpose(0, 1, 2) if order else values.transpose(0, 2, 1)
        more = {"a5": (batch, "i"), "a6": (rows * columns, "q"), "a1": (order, "i")}
        at = program.put(np.ascontiguousarray(flat).ravel())
        return at, one.layout(kind, rows, columns, columns if order else rows, **more)

    places = put(a, row_order, code), put(b, 0, code), put(old, row_order, out)
    one.run(*places, alpha=TWO, beta=ONE, dtype=NUMBERS[scale].stored)
    kind = NUMBERS[out]
    found = loaded(program.get(places[2][0], batch * m * n, kind.stored), kind).reshape(
        (batch, m, n) if row_order else (batch, n, m)
    )
    expected = 2 * ((a_values.transpose(0, 2, 1) if turned else a_values) @ b_values) + old_values
    found = found if row_order else found.transpose(0, 2, 1)
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


def gelu(x):
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


def test_activations_with_bias_and_their_gradients(program):
    m, n, k = 16, 3, 4
    (a, x), (b, y), (bias, z) = random((m, k), F32), random((k, n), F32), random(m, F32)
    at = [program.put(values) for values in (a, b, bias, np.zeros((m, n), "<f4"), np.zeros((128, n), "<f4"))]
    before = x @ y + z[:, None]
    for name, bits, after in (("relu", 2, np.maximum(before, 0)), ("gelu", 32, gelu(before))):
        one = Product(program)
        one.set(7, bits | 4 | 128)
        one.set(8, at[2], "q")
        one.set(11, at[4], "q")
        one.set(12, 128, "q")
        places = [
            (at[i], one.layout(F32, *shape, shape[0])) for i, shape in ((0, (m, k)), (1, (k, n)), (3, (m, n)))
        ]
        one.run(*places)
        np.testing.assert_allclose(program.get(at[3], (m, n), "<f4"), after, atol=1e-5)
        assert program.last.writes[-1].address == at[4]

        back = Product(program)
        back.set(7, {"relu": 8, "gelu": 64}[name] | 128 | 16)
        back.set(8, at[2], "q")
        back.set(11, at[4], "q")
        back.set(12, 128, "q")
        back.run(*places)
        step = 1e-6
        functions = {"relu": lambda v: np.maximum(v, 0), "gelu": gelu}
        slope = (functions[name](before + step) - functions[name](before - step)) / (2 * step)
        expected = (x @ y) * slope
        np.testing.assert_allclose(program.get(at[3], (m, n), "<f4"), expected, atol=1e-4)
        np.testing.assert_allclose(program.get(at[2], m, "<f4"), expected.sum(1), atol=1e-4)
        program.arena.bytes_at(at[2], 4 * m)[:] = bias.view(np.uint8)


@pytest.mark.parametrize(("bits", "length"), [(256, 5), (512, 3)])
def test_sums_of_a_factor(program, bits, length):
    m, n, k = 5, 3, 4
    (a, x), (b, y) = random((m, k), F32), random((k, n), F32)
    one = Product(program)
    sums = program.put(np.zeros(8, "<f4"))
    one.set(7, bits)
    one.set(8, sums, "q")
    shapes = ((a, (m, k)), (b, (k, n)), (np.zeros((m, n), "<f4"), (m, n)))
    one.run(*[(program.put(values), one.layout(F32, *shape, shape[0])) for values, shape in shapes])
    expected = x.sum(1) if bits == 256 else y.sum(0)
    np.testing.assert_allclose(program.get(sums, length, "<f4"), expected, rtol=1e-5)


def blocks(mode, factors, outer, inner):
    """Return factors of blocks as the library reads them; ``factors`` is a number for each block."""
    if mode == 4:
        return np.ascontiguousarray(factors.T, "<f4").ravel()
    if mode == 5:
        return np.pad(factors, ((0, 0), (0, -factors.shape[1] % 4))).astype("<f4").ravel()
    codes = {2: np.log2(factors) + 127, 1: stored(factors, E4M3)}[mode].astype(np.uint8)
    rows, columns = -(-codes.shape[0] // 128) * 128, -(-codes.shape[1] // 4) * 4
    found = np.zeros(rows * columns, np.uint8)
    for i, j in np.ndindex(*codes.shape):
        tile = i // 128 * (columns // 4) + j // 4
        found[tile * 512 + i % 32 * 16 + i % 128 // 32 * 4 + j % 4] = codes[i, j]
    return found


@pytest.mark.parametrize(("mode", "rows", "columns"), [(1, 1, 16), (2, 1, 32), (4, 1, 128), (5, 128, 128)])
def test_factors_of_blocks(program, mode, rows, columns):
    m, n, k = 192, 40, 256
    (a, x), (b, y) = random((m, k), FP8), random((n, k), FP8)
    one = Product(program)
    one.set(3, 1)
    for place, (outer, values) in enumerate(((m, x), (n, y))):
        many = -(-outer // rows), -(-k // columns)
        factors = 2.0 ** RNG.integers(-3, 3, many)
        one.set(17 + place, program.put(blocks(mode, factors, outer, k)), "q")
        one.set(31 + place, mode)
        np.multiply(values, np.repeat(np.repeat(factors, rows, 0), columns, 1)[:outer, :k], out=values)
    at = program.put(np.zeros((m, n), "<f4"))
    layouts = one.layout(FP8, k, m, k), one.layout(FP8, k, n, k), one.layout(F32, m, n, m)
    one.run((program.put(a.T), layouts[0]), (program.put(b.T), layouts[1]), (at, layouts[2]))
    np.testing.assert_allclose(program.get(at, (m, n), "<f4"), x @ y.T, rtol=1e-4, atol=1e-3)
    assert program.last.unit == "tensor_fp8_fma"


def test_factors_of_matrices_and_the_largest_number(program):
    m, n, k = 4, 3, 8
    (a, x), (b, y) = random((m, k), FP8), random((n, k), FP8)
    one = Product(program)
    one.set(3, 1)
    numbers = [program.put(np.array([value], "<f4")) for value in (0.5, 4.0, 0.25, 0.0)]
    for attribute, at in zip((17, 18, 20, 21), numbers, strict=True):
        one.set(attribute, at, "q")
    at = program.put(np.zeros((m, n), np.uint8))
    layouts = one.layout(FP8, k, m, k), one.layout(FP8, k, n, k), one.layout(FP8, m, n, m)
    one.run((program.put(a.T), layouts[0]), (program.put(b.T), layouts[1]), (at, layouts[2]))
    expected = 2 * (x @ y.T)
    np.testing.assert_allclose(program.get(numbers[3], 1, "<f4"), abs(expected).max(), rtol=1e-5)
    np.testing.assert_allclose(
        loaded(program.get(at, (m, n), "<u1"), E4M3), expected / 4, rtol=0.07, atol=0.01
    )


@pytest.mark.parametrize("kind", [E4M3, E5M2])
def test_numbers_of_eight_bits_are_rounded_to_the_nearest(kind):
    codes = np.arange(256, dtype=np.uint8)
    values = loaded(codes, kind)
    finite = np.isfinite(values)
    assert np.array_equal(stored(values[finite], kind), codes[finite])
    known = values[finite & (codes < 128)]
    some = RNG.uniform(0, 2 * known.max(), 500).astype("<f4")
    nearest = known[abs(known[None].astype("<f8") - some[:, None]).argmin(1)]
    np.testing.assert_array_equal(loaded(stored(some, kind), kind), nearest)
    assert BYTES[kind.computed][: 126 if kind is E4M3 else 123].max() == {E4M3: 416, E5M2: 49152}[kind]
    halves = (known[1:] + known[:-1])[1:] / 2
    assert not (stored(halves, kind) % 2).any()


def test_a_program_gets_back_what_it_set_and_an_algorithm(program):
    one = Product(program)
    one.set(3, 1)
    _, written = program.call("cublasLtMatmulDescGetAttribute", one.what, 3, AT, 4, AT + 64)
    assert written == {AT: struct.pack("<i", 1), AT + 64: struct.pack("<Q", 4)}
    layout = one.layout(F32, 4, 4, 4)
    words = (1, one.what, layout, layout, layout, layout, 0, 3, AT, AT + 512)
    _, written = program.call("cublasLtMatmulAlgoGetHeuristic", *words)
    assert written[AT + 512] == struct.pack("<i", 1)
    assert len(written[AT]) == 96
    bad = one.layout(17, 4, 4, 4)
    assert program.call("cublasLtMatmulAlgoGetHeuristic", *words[:2], bad, *words[3:])[0] == 7
