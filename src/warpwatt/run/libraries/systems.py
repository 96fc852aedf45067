"""cuBLAS: systems that triangles solve, and batches of factorisations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from warpwatt.run.libraries.blas import TYPES, handle
from warpwatt.run.libraries.calls import Operation, function
from warpwatt.run.libraries.matrices import LOWER, factored, first_zero, pointers, unit_of_product
from warpwatt.run.libraries.numbers import I32, Matrix, Number, Vector
from warpwatt.run.libraries.solver import lapack, solved, square

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warpwatt.run.libraries.calls import State

_LEFT, _UNIT = 0, 1


@function(["cublas?trsm_v2", "cublas?trsm_v2_64"], "piiiiiippipi", **TYPES)
def trsm(state: State, kind: Number, *given: int) -> Operation:
    """Solve op(A) X = αB or X op(A) = αB for a triangle A; X takes B's place."""
    *rest, a, lda, b, ldb = given
    return _triangles(state, kind, rest, [a], lda, [b], ldb)


@function(["cublas?trsmBatched", "cublas?trsmBatched_64"], "piiiiiippipii", **TYPES)
def trsm_batched(state: State, kind: Number, *given: int) -> Operation:
    """Solve by triangles at any addresses."""
    *rest, a, lda, b, ldb, batch = given
    return _triangles(state, kind, rest, pointers(state, a, batch), lda, pointers(state, b, batch), ldb)


def _triangles(
    state: State,
    kind: Number,
    given: Sequence[int],
    a_at: Sequence[int],
    lda: int,
    b_at: Sequence[int],
    ldb: int,
) -> Operation:
    which, side, uplo, trans, diag, m, n, alpha = given
    memory, order = state.memory, m if side == _LEFT else n
    a = square(memory, kind, a_at, order, lda)
    b = [Matrix(memory, kind, at, m, n, ldb) for at in b_at]

    def compute() -> None:
        from scipy.linalg import solve_triangular

        options = {"lower": uplo == LOWER, "unit_diagonal": diag == _UNIT, "check_finite": False}
        for triangle, known in zip(a, b, strict=True):
            wanted = memory.value(alpha, kind.stored) * known.values
            if side == _LEFT:
                known.put(solve_triangular(triangle.values, wanted, trans=trans, **options))
            else:  # X op(A) = B is op(A)ᵀ Xᵀ = Bᵀ
                values = triangle.values.conj() if trans == 2 else triangle.values
                known.put(solve_triangular(values, wanted.T, trans=0 if trans else 1, **options).T)

    return Operation(
        work=kind.operations / 2 * order * m * n * len(a),
        unit=unit_of_product(state, which, kind),
        reads=tuple(one.span for one in (*a, *b)),
        writes=tuple(one.span for one in b),
        compute=compute,
        results=(m, n, len(a)),
        kind="solve",
        stream=handle(state, which).stream,
    )


@function("cublas?getrfBatched", "pipippi", **TYPES)
def getrf_batched(
    state: State, kind: Number, which: int, n: int, a_at: int, lda: int, pivots: int, info: int, batch: int
) -> Operation:
    """Factor matrices into triangles, with row exchanges if there is a place for them."""
    a = square(state.memory, kind, pointers(state, a_at, batch), n, lda)
    rows = _pivots(state, pivots, n, batch)

    def compute(place: int) -> int:
        values, exchanges = factored(a[place].values, pivoted=bool(pivots))
        a[place].put(values)
        if pivots:
            rows[place].put(exchanges + 1)
        return first_zero(values)

    return solved(state, which, kind, n**3 / 3, a, [*a, *rows], compute, info, batch)


def _pivots(state: State, at: int, n: int, batch: int) -> list[Vector]:
    return [Vector(state.memory, I32, at + 4 * n * i if at else 0, n) for i in range(batch)]


@function("cublas?getrsBatched", "piiipippipi", **TYPES)
def getrs_batched(
    state: State, kind: Number, which: int, trans: int, n: int, columns: int, a_at: int, lda: int,
    pivots: int, b_at: int, ldb: int, info: int, batch: int,
) -> Operation:  # fmt: skip
    """Solve systems by triangles."""
    a = square(state.memory, kind, pointers(state, a_at, batch), n, lda)
    b = [Matrix(state.memory, kind, at, n, columns, ldb) for at in pointers(state, b_at, batch)]
    rows = _pivots(state, pivots, n, batch)
    state.memory.put_int(info, 0)

    def compute(place: int) -> int:
        exchanges = rows[place].raw - 1 if pivots else np.arange(n)
        b[place].put(lapack("getrs", kind)(a[place].values, exchanges, b[place].values, trans=trans)[0])
        return 0

    return solved(state, which, kind, n * n * columns, [*a, *rows, *b], b, compute, 0, batch)


@function("cublas?getriBatched", "pipippipi", **TYPES)
def getri_batched(
    state: State, kind: Number, which: int, n: int, a_at: int, lda: int, pivots: int, c_at: int, ldc: int,
    info: int, batch: int,
) -> Operation:  # fmt: skip
    """Invert matrices by their triangles."""
    a = square(state.memory, kind, pointers(state, a_at, batch), n, lda)
    c = square(state.memory, kind, pointers(state, c_at, batch), n, ldc)
    rows = _pivots(state, pivots, n, batch)

    def compute(place: int) -> int:
        values, exchanges = a[place].values, rows[place].raw - 1 if pivots else np.arange(n)
        if status := first_zero(values):
            return status
        c[place].put(lapack("getrs", kind)(values, exchanges, np.eye(n, dtype=values.dtype))[0])
        return 0

    return solved(state, which, kind, 2 * n**3 / 3, [*a, *rows], c, compute, info, batch)


@function("cublas?matinvBatched", "pipipipi", **TYPES)
def matinv_batched(
    state: State,
    kind: Number,
    which: int,
    n: int,
    a_at: int,
    lda: int,
    c_at: int,
    ldc: int,
    info: int,
    batch: int,
) -> Operation:
    """Invert matrices."""
    a = square(state.memory, kind, pointers(state, a_at, batch), n, lda)
    c = square(state.memory, kind, pointers(state, c_at, batch), n, ldc)

    def compute(place: int) -> int:
        values, _ = factored(a[place].values, pivoted=True)
        status = first_zero(values)
        if not status:
            c[place].put(np.linalg.inv(a[place].values))
        return status

    return solved(state, which, kind, n**3, a, c, compute, info, batch)


@function("cublas?geqrfBatched", "piipippi", **TYPES)
def geqrf_batched(
    state: State,
    kind: Number,
    which: int,
    m: int,
    n: int,
    a_at: int,
    lda: int,
    tau_at: int,
    info: int,
    batch: int,
) -> Operation:
    """Factor matrices into reflections and triangles."""
    a = [Matrix(state.memory, kind, at, m, n, lda) for at in pointers(state, a_at, batch)]
    least = min(m, n)
    tau = [Vector(state.memory, kind, at, least) for at in pointers(state, tau_at, batch)]
    state.memory.put_int(info, 0)

    def compute(place: int) -> int:
        values, factors, _work, status = lapack("geqrf", kind)(a[place].values)
        a[place].put(values)
        tau[place].put(factors)
        return int(status)

    return solved(state, which, kind, m * n * least - least**3 / 3, a, [*a, *tau], compute, 0, batch)


@function("cublas?gelsBatched", "piiiipipippi", **TYPES)
def gels_batched(
    state: State, kind: Number, which: int, trans: int, m: int, n: int, columns: int, a_at: int, lda: int,
    c_at: int, ldc: int, info: int, status: int, batch: int,
) -> Operation:  # fmt: skip
    """Solve overdetermined systems by least squares; what A gets, its factors, is not computed."""
    a = [Matrix(state.memory, kind, at, m, n, lda) for at in pointers(state, a_at, batch)]
    c = [Matrix(state.memory, kind, at, m, columns, ldc) for at in pointers(state, c_at, batch)]
    state.memory.put_int(info, 0)
    if trans:
        raise ValueError("transposed systems are not solved")

    def compute(place: int) -> int:
        found: Any = c[place].values
        found[:n] = np.linalg.lstsq(a[place].values, found, rcond=None)[0]
        c[place].put(found)
        return 0

    return solved(state, which, kind, n * n * (m + columns), [*a, *c], c, compute, status, batch)
