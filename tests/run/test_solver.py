"""cuSOLVER and batches of cuBLAS: what factors make, not what they are, against NumPy."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from tests.run.test_libraries import HOST, ONE, Program, numbers

TYPES = [("S", "<f4", 1e-4), ("D", "<f8", 1e-11), ("C", "<c8", 1e-4), ("Z", "<c16", 1e-11)]
REAL = {"<c8": "<f4", "<c16": "<f8"}
N, COLUMNS = 5, 3


class Solver(Program):
    """Puts matrices into memory and calls functions that return a status there."""

    def ask(self, name, *words, dtype="<f4", host=None):
        status, _ = self.call(name, *words, dtype=dtype, host=host)
        assert status == 0, self.said

    def room(self, *shape, dtype="<i4"):
        return self.put(np.zeros(shape, dtype))


@pytest.fixture
def solver():
    one = Solver()
    yield one
    one.arena.close()


def near(found, expected, tolerance):
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance * abs(expected).max())


@pytest.mark.parametrize(("letter", "dtype", "tolerance"), TYPES)
@pytest.mark.parametrize("uplo", [0, 1])
def test_definite_systems(solver, letter, dtype, tolerance, uplo):
    half, b = numbers((N, N), dtype), numbers((N, COLUMNS), dtype)
    a = half @ half.conj().T + N * np.eye(N, dtype=dtype)
    at, right, info = solver.put(a), solver.put(b), solver.room(1)
    solver.ask(f"cusolverDn{letter}potrf", 1, uplo, N, at, N, 0, 0, info)
    factor = solver.get(at, (N, N), dtype)
    factor = np.tril(factor) if uplo == 0 else np.triu(factor).conj().T
    near(factor @ factor.conj().T, a, tolerance)
    solver.ask(f"cusolverDn{letter}potrs", 1, uplo, N, COLUMNS, at, N, right, N, info)
    near(a @ solver.get(right, (N, COLUMNS), dtype), b, tolerance)
    indefinite = solver.put(-a)
    solver.ask(f"cusolverDn{letter}potrf", 1, uplo, N, indefinite, N, 0, 0, info)
    assert solver.get(info, 1, "<i4")[0] == 1


@pytest.mark.parametrize(("letter", "dtype", "tolerance"), TYPES)
@pytest.mark.parametrize("how", [0, 1, 2])
def test_any_systems(solver, letter, dtype, tolerance, how):
    a, b = numbers((N, N), dtype), numbers((N, COLUMNS), dtype)
    at, right, rows, info = solver.put(a), solver.put(b), solver.room(N), solver.room(1)
    solver.ask(f"cusolverDn{letter}getrf", 1, N, N, at, N, 0, rows, info)
    solver.ask(f"cusolverDn{letter}getrs", 1, how, N, COLUMNS, at, N, rows, right, N, info)
    turned = [a, a.T, a.conj().T][how]
    near(turned @ solver.get(right, (N, COLUMNS), dtype), b, 10 * tolerance)


@pytest.mark.parametrize(("letter", "dtype", "tolerance"), TYPES)
def test_batches_of_systems(solver, letter, dtype, tolerance):
    a, b = [numbers((N, N), dtype) for _ in range(2)], [numbers((N, COLUMNS), dtype) for _ in range(2)]
    a_at, b_at = [solver.put(one) for one in a], [solver.put(one) for one in b]
    lists = [solver.put(np.array(places, "<u8")) for places in (a_at, b_at)]
    rows, info = solver.room(2 * N), solver.room(2)
    solver.ask(f"cublas{letter}getrfBatched", 1, N, lists[0], N, rows, info, 2)
    inverse = [solver.room(N, N, dtype=dtype) for _ in range(2)]
    words = (solver.put(np.array(inverse, "<u8")), N, info, 2)
    solver.ask(f"cublas{letter}getriBatched", 1, N, lists[0], N, rows, *words)
    solver.ask(f"cublas{letter}getrsBatched", 1, 0, N, COLUMNS, lists[0], N, rows, lists[1], N, HOST + 512, 2)
    for i in range(2):
        near(a[i] @ solver.get(b_at[i], (N, COLUMNS), dtype), b[i], 10 * tolerance)
        near(a[i] @ solver.get(inverse[i], (N, N), dtype), np.eye(N), 100 * tolerance)


@pytest.mark.parametrize(("letter", "dtype", "tolerance"), TYPES)
def test_batches_of_triangles(solver, letter, dtype, tolerance):
    a = [numbers((N, N), dtype) + N * np.eye(N, dtype=dtype) for _ in range(2)]
    b = [numbers((N, COLUMNS), dtype) for _ in range(2)]
    b_at = [solver.put(one) for one in b]
    lists = solver.put(np.array([solver.put(one) for one in a], "<u8")), solver.put(np.array(b_at, "<u8"))
    words = (1, 0, 0, 0, 0, N, COLUMNS, ONE, lists[0], N, lists[1], N, 2)
    solver.ask(f"cublas{letter}trsmBatched", *words, dtype=dtype)
    for i in range(2):
        near(np.tril(a[i]) @ solver.get(b_at[i], (N, COLUMNS), dtype), b[i], tolerance)


@pytest.mark.parametrize(("letter", "dtype", "tolerance"), TYPES)
def test_orthogonal_factors(solver, letter, dtype, tolerance):
    m = N + 2
    a, c = numbers((m, N), dtype), numbers((m, COLUMNS), dtype)
    at, other, tau, info = solver.put(a), solver.put(c), solver.room(N, dtype=dtype), solver.room(1)
    solver.ask(f"cusolverDn{letter}geqrf", 1, m, N, at, m, tau, 0, 0, info)
    triangle = np.triu(solver.get(at, (m, N), dtype)[:N])
    kind = "un" if letter in "CZ" else "or"
    how = 2 if letter in "CZ" else 1
    solver.ask(f"cusolverDn{letter}{kind}mqr", 1, 0, how, m, COLUMNS, N, at, m, tau, other, m, 0, 0, info)
    solver.ask(f"cusolverDn{letter}{kind}gqr", 1, m, N, N, at, m, tau, 0, 0, info)
    q = solver.get(at, (m, N), dtype)
    near(q.conj().T @ q, np.eye(N), tolerance)
    near(q @ triangle, a, tolerance)
    near(solver.get(other, (m, COLUMNS), dtype)[:N], q.conj().T @ c, 10 * tolerance)


@pytest.mark.parametrize(("letter", "dtype", "tolerance"), TYPES)
@pytest.mark.parametrize("uplo", [0, 1])
def test_eigenvalues_of_symmetric_matrices(solver, letter, dtype, tolerance, uplo):
    half = numbers((N, N), dtype)
    a = half + half.conj().T
    kept = np.tril(a) if uplo == 0 else np.triu(a)
    at, w, info = solver.put(kept), solver.room(N, dtype=REAL.get(dtype, dtype)), solver.room(1)
    name = "heevd" if letter in "CZ" else "syevd"
    solver.ask(f"cusolverDn{letter}{name}", 1, 1, uplo, N, at, N, w, 0, 0, info)
    vectors, values = solver.get(at, (N, N), dtype), solver.get(w, N, REAL.get(dtype, dtype))
    assert np.all(np.diff(values) >= 0)
    near(vectors * values @ vectors.conj().T, a, 10 * tolerance)


@pytest.mark.parametrize(("letter", "dtype", "tolerance"), TYPES)
@pytest.mark.parametrize("economic", [0, 1])
def test_singular_values(solver, letter, dtype, tolerance, economic):
    m = N + 2
    a = numbers((m, N), dtype)
    u_columns, real = N if economic else m, REAL.get(dtype, dtype)
    s, u, v = solver.room(N, dtype=real), solver.room(m, m, dtype=dtype), solver.room(N, N, dtype=dtype)
    words = (m, N, solver.put(a), m, s, u, m, v, N, 0, 0)
    solver.ask(f"cusolverDn{letter}gesvdj", 1, 1, economic, *words, 0, 0)
    left, right = solver.get(u, (m, u_columns), dtype), solver.get(v, (N, N), dtype)
    near(left[:, :N] * solver.get(s, N, real) @ right.conj().T, a, 10 * tolerance)
    near(left.conj().T @ left, np.eye(u_columns), 10 * tolerance)
    job = ord("S" if economic else "A")
    words = (m, N, solver.put(a), m, s, u, m, v, N, 0, 0)
    solver.ask(f"cusolverDn{letter}gesvd", 1, job, job, *words, 0, 0)
    left, right = solver.get(u, (m, u_columns), dtype), solver.get(v, (N, N), dtype)
    near(left[:, :N] * solver.get(s, N, real) @ right, a, 10 * tolerance)


def test_eigenvalues_of_any_matrix(solver):
    a = numbers((N, N), "<f8")
    w, v = solver.room(N, dtype="<c16"), solver.room(N, N, dtype="<f8")
    words = (1, 0, 0, 1, N, 1, solver.put(a), N, 5, w, 1, 0, N, 1, v, N, 1, 0, 0, 0, 0, solver.room(1))
    solver.ask("cusolverDnXgeev", *words)
    values, packed = solver.get(w, N, "<c16"), solver.get(v, (N, N), "<f8")
    for i, value in enumerate(values):
        if value.imag >= 0:
            vector = packed[:, i] + (1j * packed[:, i + 1] if value.imag else 0)
            near(a @ vector, value * vector, 1e-10)


def test_workspaces_have_a_length(solver):
    at = HOST + 512
    for name, words in (
        ("cusolverDnSpotrf_bufferSize", (1, 0, N, 0, N, at)),
        ("cusolverDnDgesvdjBatched_bufferSize", (1, 1, N, N, 0, N, 0, 0, N, 0, N, at, 0, 2)),
        ("cusolverDnZheevjBatched_bufferSize", (1, 1, 0, N, 0, N, 0, at, 0, 2)),
    ):
        _, written = solver.call(name, *words)
        assert struct.unpack("<i", written[at])[0] > 0
    _, written = solver.call(
        "cusolverDnXsyevBatched_bufferSize", 1, 0, 1, 0, N, 1, 0, N, 1, 0, 1, at, at + 8, 2
    )
    assert written == {at: struct.pack("<Q", 64), at + 8: bytes(8)}
