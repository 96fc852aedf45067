"""Closed libraries: what they compute against NumPy, their table against the headers, a whole program."""

from __future__ import annotations

import json
import re
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.run.programs import LIBRARIES
from warpwatt.core.estimate import Source
from warpwatt.gpus import default_clocks, find
from warpwatt.run.build import compile_program
from warpwatt.run.libraries.calls import TABLE, Call, Operation
from warpwatt.run.libraries.costs import cost
from warpwatt.run.libraries.library import Libraries
from warpwatt.run.memory import Arena
from warpwatt.run.protocol import ARENA_ADDRESS, Contents, LibraryCall, LibraryCallReply

NAMES = Path(__file__).parents[2] / "native" / "runtime" / "closed"
HOST = 0x7000_0000_0000
ONE, ZERO, TWO = HOST, HOST + 64, HOST + 128
RNG = np.random.default_rng(0)


class Program:
    """Calls functions as a program would; numbers that are not addresses are passed as they are."""

    def __init__(self) -> None:
        self.arena = Arena(1 << 30)
        self.said: list[str] = []
        self.libraries = Libraries(self.arena, self.said.append)
        self.end = ARENA_ADDRESS
        self.last: Operation | None = None

    def put(self, values):
        """Return the device address of a copy, column by column."""
        address, flat = self.end, np.asarray(values).ravel(order="F")
        self.arena.bytes_at(address, flat.nbytes)[:] = flat.view(np.uint8)
        self.end += -(-flat.nbytes // 512) * 512
        return address

    def get(self, address, shape, dtype):
        count = int(np.prod(shape))
        flat = self.arena.bytes_at(address, count * np.dtype(dtype).itemsize).view(dtype)
        return flat.reshape(shape, order="F").copy()

    def call(self, name, *words, floats=(), dtype="<f4", host=None):
        """Return the status and what was written to the host, by address; ``host`` is what it holds."""
        contents = {
            at: np.array([value], dtype).tobytes()
            for at, value in ((ONE, 1), (ZERO, 0), (TWO, 2))
            if at in words
        } | (host or {})
        call = Call(name, tuple(w % (1 << 64) for w in words), tuple(floats), contents)
        found = self.libraries.asked(call)
        if isinstance(found, Operation):
            self.last = found
            found = self.libraries.done(call, found, lambda compute: compute())
        reply = LibraryCallReply.unpack(found)
        data, written = reply.data, {}
        for _ in range(reply.writes):
            one = Contents.unpack(data)
            written[one.address] = one.data[: one.size]
            data = one.data[one.size :]
        return reply.result, written


@pytest.fixture
def program():
    one = Program()
    yield one
    one.arena.close()


def numbers(shape, dtype):
    values = RNG.standard_normal(shape)
    if np.dtype(dtype).kind == "c":
        values = values + 1j * RNG.standard_normal(shape)
    return values.astype(dtype)


def test_every_function_takes_what_the_headers_say():
    """The names and numbers of arguments in native/runtime/closed come from NVIDIA's headers."""
    text = "".join(path.read_text() for path in NAMES.glob("*.inc"))
    known = {
        name: int(count) for name, count in re.findall(r"(?:CALL|CALL_IN_STREAM|SET)\((\w+), (\d+)\)", text)
    }
    assert len(known) > 1000
    taken = {name: sum(kind not in "fd" for kind in entry.kinds) for name, entry in TABLE.items()}
    assert {name: known.get(name) for name in taken} == taken


@pytest.mark.parametrize(("letter", "dtype"), [("S", "<f4"), ("D", "<f8"), ("C", "<c8"), ("Z", "<c16")])
@pytest.mark.parametrize("how", [0, 1, 2])
def test_products_of_matrices(program, letter, dtype, how):
    m, n, k, pad = 5, 4, 3, 2
    a, b, c = (
        numbers((k + pad, m) if how else (m + pad, k), dtype),
        numbers((k, n), dtype),
        numbers((m, n), dtype),
    )
    at = [program.put(one) for one in (a, b, c)]
    used = a[:k] if how else a[:m]
    turned = [used, used.T, used.conj().T][how]
    words = (1, how, 0, m, n, k, TWO, at[0], a.shape[0], at[1], k, ONE, at[2], m)
    assert program.call(f"cublas{letter}gemm_v2", *words, dtype=dtype) == (0, {})
    expected = 2 * (turned @ b) + c
    np.testing.assert_allclose(program.get(at[2], (m, n), dtype), expected, rtol=1e-4)
    assert program.last.work == (8 if letter in "CZ" else 2) * m * n * k


def test_batches_of_products_and_types(program):
    a, b = numbers((3, 4, 4), "<f2"), numbers((3, 4, 4), "<f2")
    at = (
        program.put(a.transpose(1, 2, 0)),
        program.put(b.transpose(1, 2, 0)),
        program.put(np.zeros(48, "<f4")),
    )
    words = (1, 0, 0, 4, 4, 4, ONE, at[0], 2, 4, 16, at[1], 2, 4, 16, ZERO, at[2], 0, 4, 16, 3, 68, -1)
    assert program.call("cublasGemmStridedBatchedEx", *words) == (0, {})
    found = program.get(at[2], (4, 4, 3), "<f4").transpose(2, 0, 1)
    np.testing.assert_allclose(found, a.astype("<f4") @ b.astype("<f4"), rtol=1e-3, atol=1e-3)
    assert program.last.unit == "tensor_fp16_fma"


def test_vectors_with_steps_and_results_on_the_host(program):
    x, y = numbers(10, "<f4"), numbers(5, "<f4")
    at = program.put(x), program.put(y)
    status, written = program.call("cublasSdot_v2", 1, 5, at[0], 2, at[1], -1, HOST + 512)
    assert status == 0
    assert struct.unpack("<f", written[HOST + 512])[0] == pytest.approx(float(x[::2] @ y[::-1]), rel=1e-5)
    _, written = program.call("cublasIsamax_v2", 1, 10, at[0], 1, HOST + 512)
    assert struct.unpack("<i", written[HOST + 512])[0] == int(np.abs(x).argmax()) + 1
    assert program.call("cublasSaxpy_v2", 1, 5, TWO, at[0], 1, at[1], 1) == (0, {})
    np.testing.assert_allclose(program.get(at[1], 5, "<f4"), 2 * x[:5] + y, rtol=1e-6)


@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize("uplo", [0, 1])
@pytest.mark.parametrize("how", [0, 1, 2])
def test_triangles_are_solved(program, side, uplo, how):
    n, columns = 4, 3
    full = numbers((n, n), "<c16") + 4 * np.eye(n)
    triangle = np.tril(full) if uplo == 0 else np.triu(full)
    b = numbers((n, columns) if side == 0 else (columns, n), "<c16")
    at = program.put(full), program.put(b)
    words = (1, side, uplo, how, 0, *b.shape, TWO, at[0], n, at[1], b.shape[0])
    assert program.call("cublasZtrsm_v2", *words, dtype="<c16") == (0, {})
    x = program.get(at[1], b.shape, "<c16")
    turned = [triangle, triangle.T, triangle.conj().T][how]
    np.testing.assert_allclose(turned @ x if side == 0 else x @ turned, 2 * b, rtol=1e-10)


def plan(program, name, *words):
    status, written = program.call(name, HOST + 512, *words)
    assert status == 0
    return struct.unpack("<i", written[HOST + 512])[0]


def test_transforms_and_their_inverses(program):
    values = numbers((6, 8), "<c8")
    at = program.put(values.T)  # rows first
    which = plan(program, "cufftPlan2d", 6, 8, 0x29)
    assert program.call("cufftExecC2C", which, at, at, -1) == (0, {})
    np.testing.assert_allclose(program.get(at, (8, 6), "<c8").T, np.fft.fft2(values), rtol=1e-4, atol=1e-4)
    program.call("cufftExecC2C", which, at, at, 1)
    np.testing.assert_allclose(program.get(at, (8, 6), "<c8").T, 48 * values, rtol=1e-4, atol=1e-4)


def test_real_transforms_in_place_have_padded_rows(program):
    values = np.zeros((3, 10))
    values[:, :8] = numbers((3, 8), "<f8")
    at = program.put(values.T)
    which = plan(program, "cufftPlan1d", 8, 0x6A, 3)
    assert program.call("cufftExecD2Z", which, at, at) == (0, {})
    np.testing.assert_allclose(program.get(at, (5, 3), "<c16").T, np.fft.rfft(values[:, :8]), atol=1e-12)
    back = plan(program, "cufftPlan1d", 8, 0x6C, 3)
    program.call("cufftExecZ2D", back, at, at)
    np.testing.assert_allclose(program.get(at, (10, 3), "<f8").T[:, :8], 8 * values[:, :8], atol=1e-12)


def generator(program, kind=100, name="curandCreateGenerator"):
    _, written = program.call(name, HOST + 512, kind)
    return struct.unpack("<Q", written[HOST + 512])[0]


def test_random_numbers_have_their_distributions_and_repeat(program):
    n = 100_000
    at = program.put(np.zeros(n, "<f8"))

    def drawn(seed, name, dtype, *floats):
        which = generator(program)
        program.call("curandSetPseudoRandomGeneratorSeed", which, seed)
        assert program.call(name, which, at, n, floats=floats) == (0, {})
        return program.get(at, n, dtype)

    uniform = drawn(7, "curandGenerateUniform", "<f4")
    assert 0 < uniform.min() <= uniform.max() <= 1
    assert uniform.mean() == pytest.approx(0.5, abs=0.01)
    assert np.array_equal(uniform, drawn(7, "curandGenerateUniform", "<f4"))
    assert not np.array_equal(uniform, drawn(8, "curandGenerateUniform", "<f4"))
    normal = drawn(7, "curandGenerateNormalDouble", "<f8", 3.0, 2.0)
    assert (normal.mean(), normal.std()) == pytest.approx((3.0, 2.0), rel=0.02)
    events = drawn(7, "curandGeneratePoisson", "<u4", 4.0)
    assert (events.mean(), events.var()) == pytest.approx((4.0, 4.0), rel=0.03)


def test_sparse_products(program):
    from scipy.sparse import random_array

    a = random_array((6, 5), density=0.4, format="csr", rng=1, dtype=np.float64)
    x = numbers(5, "<f8")
    at = [program.put(one) for one in (a.indptr, a.indices, a.data, x, np.zeros(6))]

    def created(name, *words):
        _, written = program.call(name, HOST + 512, *words)
        return struct.unpack("<Q", written[HOST + 512])[0]

    handle = created("cusparseCreate")
    matrix = created("cusparseCreateCsr", 6, 5, a.nnz, *at[:3], 2, 2, 0, 1)
    vectors = created("cusparseCreateDnVec", 5, at[3], 1), created("cusparseCreateDnVec", 6, at[4], 1)
    words = (handle, 0, TWO, matrix, vectors[0], ZERO, vectors[1], 1, 0, 0)
    assert program.call("cusparseSpMV", *words, dtype="<f8") == (0, {})
    np.testing.assert_allclose(program.get(at[4], 6, "<f8"), 2 * (a @ x))


def test_wrong_arguments_are_an_error_that_names_the_call(program):
    assert program.call("cublasSgemm_v2", 1, 0, 0, 4, 4, 4, ONE, 8, 2, 8, 4, ZERO, 8, 4)[0] == 7
    assert "cublasSgemm_v2: " in program.said[0]
    assert program.call("cufftExecC2C", 99, HOST, HOST, -1)[0] == 1
    missing = program.libraries.asked(Call("cublasSsyr2_v2", (), (), {}))
    assert LibraryCallReply.unpack(missing).is_missing


def test_costs_keep_to_the_roofs_and_say_that_they_are_assumed(program):
    n = 4096
    words = (1, 0, 0, n, n, n, ONE, ARENA_ADDRESS, n, ARENA_ADDRESS, n, ZERO, ARENA_ADDRESS, n)
    call = Call("cublasSgemm_v2", words, (), {ONE: b"\0\0\x80?", ZERO: b"\0\0\0\0"})
    for name in ("a100-sxm4-40gb", "h200", "l4", "v100-sxm2-16gb"):
        gpu = find(name)
        found = cost(program.libraries.asked(call), gpu)
        peak = gpu.sm_count * gpu.capability.fp32_lanes * 2 * default_clocks(gpu).sm
        assert 0.3 * peak < 2 * n**3 / found.time.value < peak
        assert found.energy.value / found.time.value <= 1.001 * gpu.power_limit
        assert found.time.source is Source.ASSUMED
        assert found.time.low < found.time.value < found.time.high


@pytest.mark.parametrize(("name", "share"), [("h100", 0.72), ("a100-sxm4-80gb", 0.79), ("b200", 0.66)])
def test_large_products_hold_the_power_limit(name, share):
    """What cuBLASLt reaches of the peak in products of 1 ms and more (medians of aiconfigurator's rows)."""
    n, gpu = 16384, find(name)
    operation = Operation(2.0 * n**3, "tensor_fp16_fma", (), (), print, results=(n, n, 1), kind="product")
    found = cost(operation, gpu)
    peak = gpu.sm_count * gpu.capability.throughput["tensor_fp16_fma"] * 2 * default_clocks(gpu).sm
    assert found.limiter == "power limit (tensor cores)"
    assert operation.work / found.time.value == pytest.approx(share * peak, rel=0.12)


def test_messages_are_read_as_they_are_written():
    head = Contents(HOST, 3, data=b"abc").pack()
    data = b"cublasCreate_v2" + struct.pack("<2Q", HOST, 5) + head
    call = Call.of(LibraryCall((0.5, 0.0), 15, 2, 1, data=data))
    assert call == Call("cublasCreate_v2", (HOST, 5), (0.5, 0.0), {HOST: b"abc"})
    packed = struct.unpack("<d", struct.pack("<f4x", 2.5))[0]
    assert Call("x", (2**32 - 1,), (packed,), {}).arguments("if") == [-1, 2.5]


@pytest.mark.toolchain
def test_a_program_calls_closed_libraries(tmp_path):
    """Its declarations are its own, so NVIDIA's headers are not needed."""
    (tmp_path / "calls.cu").write_text(LIBRARIES)
    flags = ["-O1", "-lcublas", "-lcufft", "-lcurand"]
    made = compile_program(tmp_path / "calls.cu", flags, ["sm_80"], tmp_path)
    out = tmp_path / "out.json"
    command = [sys.executable, "-m", "warpwatt", "run", "--gpu", "a100", "-o", out, made]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=120, check=False)
    expected = "gemm 0 dot 20 fft 0 uniform 0.5 graph 0 mode 3 missing 15\n"
    assert done.stdout == expected, done.stdout + done.stderr
    assert "cublasSsyr2_v2 is not there" in done.stderr
    found = json.loads(out.read_text())
    rows = {row["name"]: row for row in found["runs"][0]["kernels"] if row["library"]}
    assert rows["cublasSgemm_v2"]["time"]["source"] == "assumed"
    assert rows["cublasSgemm_v2"]["calls"] == 3
    assert rows.keys() == {"cublasSgemm_v2", "cublasSdot_v2", "cufftExecC2C", "curandGenerateUniform"}
