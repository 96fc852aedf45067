"""cuSOLVER: eigenvalues and singular values of dense matrices, by LAPACK."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from warpwatt.run.libraries.blas import TYPES
from warpwatt.run.libraries.calls import Operation, function
from warpwatt.run.libraries.matrices import LOWER, strided
from warpwatt.run.libraries.numbers import REAL_OF, Matrix, Number, Vector, number
from warpwatt.run.libraries.solver import lapack, solved, square

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warpwatt.run.libraries.calls import State


def _symmetric(
    state: State, kind: Number, which: int, vectors: int, uplo: int, n: int, a_at: int, lda: int, w_at: int,
    info: int, batch: int = 1,
) -> Operation:  # fmt: skip
    real, memory = REAL_OF[kind], state.memory
    a = square(memory, kind, strided(a_at, lda * n, kind, batch), n, lda)
    w = [Vector(memory, real, at, n) for at in strided(w_at, n, real, batch)]

    def compute(place: int) -> int:
        values, found = np.linalg.eigh(a[place].values, "L" if uplo == LOWER else "U")
        w[place].put(values)
        if vectors:
            a[place].put(found)
        return 0

    return solved(state, which, kind, (4.5 if vectors else 0.7) * n**3, a, [*a, *w], compute, info, batch)


_EIGEN = {"Ssy": TYPES["S"], "Dsy": TYPES["D"], "Che": TYPES["C"], "Zhe": TYPES["Z"]}


@function("cusolverDn?evd", "piiipippip", **_EIGEN)
def syevd(
    state: State,
    kind: Number,
    which: int,
    vectors: int,
    uplo: int,
    n: int,
    a: int,
    lda: int,
    w: int,
    *rest: int,
) -> Operation:
    """Return eigenvalues and vectors of a symmetric matrix."""
    return _symmetric(state, kind, which, vectors, uplo, n, a, lda, w, rest[-1])


@function("cusolverDn?evjBatched", "piiipippippi", **_EIGEN)
def syevj_batched(
    state: State,
    kind: Number,
    which: int,
    vectors: int,
    uplo: int,
    n: int,
    a: int,
    lda: int,
    w: int,
    *rest: int,
) -> Operation:
    """Return eigenvalues and vectors of symmetric matrices."""
    return _symmetric(state, kind, which, vectors, uplo, n, a, lda, w, rest[-3], rest[-1])


@function("cusolverDnXsyevd", "ppiiliplipiplplp")
@function("cusolverDnXsyevBatched", "ppiiliplipiplplpl")
def typed_syevd(
    state: State, which: int, _: int, vectors: int, uplo: int, n: int, kind: int, a: int, lda: int, _w: int,
    w: int, _computed: int, _device: int, _bytes: int, _host: int, _more: int, info: int, batch: int = 1,
) -> Operation:  # fmt: skip
    """Return eigenvalues and vectors of symmetric matrices of any type."""
    return _symmetric(state, number(kind), which, vectors, uplo, n, a, lda, w, info, batch)


@function("cusolverDnXgeev", "ppiiliplipiplipliplplp")
def geev(
    state: State, which: int, _: int, left: int, right: int, n: int, code: int, a_at: int, lda: int,
    w_code: int, w_at: int, vl_code: int, vl_at: int, ldvl: int, vr_code: int, vr_at: int, ldvr: int,
    *rest: int,
) -> Operation:  # fmt: skip
    """Return eigenvalues and vectors of any matrix; real ones hold pairs as LAPACK does."""
    memory, kind, w_kind = state.memory, number(code), number(w_code)
    a = Matrix(memory, kind, a_at, n, n, lda)
    w = Vector(memory, w_kind, w_at, n if w_kind.is_complex else 2 * n)
    places = ((left, vl_code, vl_at, ldvl), (right, vr_code, vr_at, ldvr))
    vectors = [Matrix(memory, number(c), at, n, n, ld) if wanted else None for wanted, c, at, ld in places]

    def compute(_: int) -> int:
        found = lapack("geev", kind)(a.values, compute_vl=left, compute_vr=right)
        *values, vl, vr, status = found
        if w_kind.is_complex:
            w.put(values[0] if kind.is_complex else values[0] + 1j * values[1])
        else:
            w.put(np.concatenate(values))
        for place, one in zip(vectors, (vl, vr), strict=True):
            if place is not None:
                place.put(one)
        return int(status)

    made = [one for one in vectors if one is not None]
    return solved(state, which, kind, 12.5 * n**3, [a], [a, w, *made], compute, rest[-1])


def _singular(
    state: State, kind: Number, which: int, shape: tuple[int, int], full: tuple[int, int],
    a: Sequence[int], lda: int, s: Sequence[int], u: tuple[Sequence[int], int], v: tuple[Sequence[int], int],
    info: int, *, adjoint: bool,
) -> Operation:  # fmt: skip
    """Return singular values and vectors; ``full`` are the columns of U and of V, or rows of V's adjoint."""
    (m, n), memory, least = shape, state.memory, min(shape)
    ours = [Matrix(memory, kind, at, m, n, lda) for at in a]
    values = [Vector(memory, REAL_OF[kind], at, least) for at in s]
    us = [Matrix(memory, kind, at, m, full[0], u[1]) for at in u[0]]
    size = (full[1], n) if adjoint else (n, full[1])
    vs = [Matrix(memory, kind, at, *size, v[1]) for at in v[0]]

    def compute(place: int) -> int:
        whole = max(full) > least
        left, sizes, right = np.linalg.svd(ours[place].values, full_matrices=whole)
        values[place].put(sizes[: values[place].count])
        if full[0]:
            us[place].put(left[:, : full[0]])
        if full[1]:
            vs[place].put(right[: full[1]] if adjoint else right[: full[1]].conj().T)
        return 0

    written = [*values, *(us if full[0] else ()), *(vs if full[1] else ())]
    work = (10 if max(full) else 2) * m * n * least
    return solved(state, which, kind, work, ours, written, compute, info, len(ours))


@function("cusolverDn?gesvd", "piiiipippipipipp", **TYPES)
def gesvd(
    state: State, kind: Number, which: int, u_job: int, v_job: int, m: int, n: int, a: int, lda: int, s: int,
    u: int, ldu: int, v: int, ldv: int, *rest: int,
) -> Operation:  # fmt: skip
    """Return singular values and vectors."""
    full = [{"A": whole, "S": min(m, n)}.get(chr(job & 0xFF), 0) for job, whole in ((u_job, m), (v_job, n))]
    return _singular(
        state, kind, which, (m, n), (full[0], full[1]), [a], lda, [s], ([u], ldu), ([v], ldv), rest[-1],
        adjoint=True,
    )  # fmt: skip


@function("cusolverDn?gesvdj", "piiiipippipipipp", **TYPES)
def gesvdj(
    state: State, kind: Number, which: int, vectors: int, economic: int, m: int, n: int, a: int, lda: int,
    s: int, u: int, ldu: int, v: int, ldv: int, *rest: int,
) -> Operation:  # fmt: skip
    """Return singular values and vectors."""
    least = min(m, n)
    full = ((least, least) if economic else (m, n)) if vectors else (0, 0)
    return _singular(
        state, kind, which, (m, n), full, [a], lda, [s], ([u], ldu), ([v], ldv), rest[-2], adjoint=False
    )


@function("cusolverDn?gesvdjBatched", "piiipippipipippi", **TYPES)
def gesvdj_batched(
    state: State, kind: Number, which: int, vectors: int, m: int, n: int, a: int, lda: int, s: int, u: int,
    ldu: int, v: int, ldv: int, *rest: int,
) -> Operation:  # fmt: skip
    """Return singular values and vectors of matrices."""
    batch, real = rest[-1], REAL_OF[kind]
    many = partial(strided, kind=kind, batch=batch)
    return _singular(
        state, kind, which, (m, n), (m, n) if vectors else (0, 0), many(a, lda * n), lda,
        strided(s, min(m, n), real, batch), (many(u, ldu * m), ldu), (many(v, ldv * n), ldv), rest[-3],
        adjoint=False,
    )  # fmt: skip


@function("cusolverDn?gesvdaStridedBatched", "piiiipilplpilpilpippi", **TYPES)
def gesvda_batched(
    state: State, kind: Number, which: int, vectors: int, rank: int, m: int, n: int, a: int, lda: int,
    step_a: int, s: int, step_s: int, u: int, ldu: int, step_u: int, v: int, ldv: int, step_v: int,
    *rest: int,
) -> Operation:  # fmt: skip
    """Return the largest singular values of matrices, and their vectors."""
    batch, real = rest[-1], REAL_OF[kind]
    many = partial(strided, kind=kind, batch=batch)
    return _singular(
        state, kind, which, (m, n), (rank, rank) if vectors else (0, 0), many(a, step_a), lda,
        strided(s, step_s, real, batch), (many(u, step_u), ldu), (many(v, step_v), ldv), rest[-3],
        adjoint=False,
    )  # fmt: skip
