"""cuSOLVER: factorisations of dense matrices, and systems that they solve, by LAPACK."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from warpwatt.run.libraries.blas import TYPES, handle, unit_of
from warpwatt.run.libraries.calls import Operation, function
from warpwatt.run.libraries.matrices import LOWER, factored, first_zero, pointers
from warpwatt.run.libraries.numbers import I32, I64, Matrix, Number, Vector, number

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from warpwatt.run.libraries.calls import Memory, State

WORKSPACE = 64
"""Numbers of a workspace; we need none."""


def lapack(name: str, kind: Number) -> Callable[..., Any]:
    """Return LAPACK's function for a type."""
    from scipy.linalg.lapack import get_lapack_funcs

    found: Callable[..., Any] = get_lapack_funcs(name, dtype=np.dtype(kind.stored))
    return found


def solved(
    state: State,
    which: int,
    kind: Number,
    work: float,
    reads: Sequence[Matrix | Vector],
    writes: Sequence[Matrix | Vector],
    compute: Callable[[int], int],
    info: int,
    batch: int = 1,
) -> Operation:
    """Return an operation on ``batch`` matrices, each with a status; ``work`` is in multiply-adds of one."""
    memory, status = state.memory, Vector(state.memory, I32, info, batch)

    def run() -> None:
        found = np.array([compute(place) for place in range(batch)])
        if info:
            status.put(found)

    return Operation(
        work=kind.operations * work * batch,
        unit=unit_of(kind),
        reads=tuple(one.span for one in reads if one.address),
        writes=tuple(one.span for one in (*writes, status) if memory.is_device(one.address)),
        compute=run,
        kind="solve",
        stream=handle(state, which).stream,
    )


_LENGTHS = {
    "piipip": {"potrf": "SDCZ", "getrf": "SDCZ", "geqrf": "SDCZ"},
    "piiipipp": {"orgqr": "SD", "ungqr": "CZ", "syevd": "SD", "heevd": "CZ"},
    "piiiiipippip": {"ormqr": "SD", "unmqr": "CZ"},
    "pipip": {"sytrf": "SDCZ"},
    "piip": {"gesvd": "SDCZ"},
    "piiipipppi": {"syevjBatched": "SD", "heevjBatched": "CZ"},
    "piiipippipippi": {"gesvdjBatched": "SDCZ"},
    "piiiipippipipp": {"gesvdj": "SDCZ"},
    "piiiipilplpilpilpi": {"gesvdaStridedBatched": "SDCZ"},
}
"""Functions that return the length of a workspace, by the kinds of their arguments."""
_LENGTH_PLACES = {"piiipipppi": -3, "piiipippipippi": -3, "piiiipippipipp": -2, "piiiipilplpilpilpi": -2}
"""Where they return it, if not at the end."""


def _length(state: State, place: int, *given: int) -> int:
    """Return the length of a workspace."""
    state.memory.put_int(given[place], WORKSPACE)
    return 0


for _kinds, _names in _LENGTHS.items():
    _places = {
        f"{letter}{name}": _LENGTH_PLACES.get(_kinds, -1) for name, of in _names.items() for letter in of
    }
    function("cusolverDn?_bufferSize", _kinds, **_places)(_length)


@function("cusolverDnXpotrf_bufferSize", "ppiliplipp")
@function("cusolverDnXgeqrf_bufferSize", "pplliplipipp")
@function("cusolverDnXsyevd_bufferSize", "ppiiliplipipp")
@function("cusolverDnXgeev_bufferSize", "ppiiliplipipliplipp")
@function("cusolverDnXsytrs_bufferSize", "pilliplpiplpp")
def lengths(state: State, *given: int) -> int:
    """Return the lengths of both workspaces."""
    state.memory.put_int(given[-2], WORKSPACE, np.uint64)
    state.memory.put_int(given[-1], 0, np.uint64)
    return 0


@function("cusolverDnXsyevBatched_bufferSize", "ppiiliplipippl")
def batch_lengths(state: State, *given: int) -> int:
    """Return the lengths of both workspaces."""
    return lengths(state, *given[:-1])  # type: ignore[return-value]


def square(memory: Memory, kind: Number, addresses: Sequence[int], n: int, ld: int) -> list[Matrix]:
    """Return square matrices."""
    return [Matrix(memory, kind, at, n, n, ld) for at in addresses]


# -- factorisations and what is solved by them -------------------------------------------------------------


@function("cusolverDn?potrf", "piipipip", **TYPES)
def potrf(
    state: State, kind: Number, which: int, uplo: int, n: int, a: int, lda: int, _: int, _size: int, info: int
) -> Operation:
    """Factor a positive definite matrix (Cholesky)."""
    return _cholesky(state, kind, which, uplo, n, [a], lda, info)


@function("cusolverDnXpotrf", "ppilipliplplp")
def typed_potrf(
    state: State, which: int, _: int, uplo: int, n: int, kind: int, a: int, lda: int, *rest: int
) -> Operation:
    """Factor a positive definite matrix of any type."""
    return _cholesky(state, number(kind), which, uplo, n, [a], lda, rest[-1])


@function("cusolverDn?potrfBatched", "piipipi", **TYPES)
def potrf_batched(
    state: State, kind: Number, which: int, uplo: int, n: int, a: int, lda: int, info: int, batch: int
) -> Operation:
    """Factor positive definite matrices."""
    return _cholesky(state, kind, which, uplo, n, pointers(state, a, batch), lda, info)


def _cholesky(
    state: State, kind: Number, which: int, uplo: int, n: int, addresses: Sequence[int], lda: int, info: int
) -> Operation:
    matrices = square(state.memory, kind, addresses, n, lda)

    def compute(place: int) -> int:
        values, status = lapack("potrf", kind)(matrices[place].values, lower=uplo == LOWER, clean=0)
        matrices[place].put(values)
        return int(status)

    return solved(state, which, kind, n**3 / 6, matrices, matrices, compute, info, len(matrices))


@function("cusolverDn?potrs", "piiipipip", **TYPES)
def potrs(
    state: State, kind: Number, which: int, uplo: int, n: int, columns: int, a: int, lda: int, b: int,
    ldb: int, info: int,
) -> Operation:  # fmt: skip
    """Solve a system by Cholesky's factor."""
    return _by_cholesky(state, kind, which, uplo, n, columns, [a], lda, [b], ldb, info)


@function("cusolverDnXpotrs", "ppillipliplp")
def typed_potrs(
    state: State, which: int, _: int, uplo: int, n: int, columns: int, kind: int, a: int, lda: int, _b: int,
    b: int, ldb: int, info: int,
) -> Operation:  # fmt: skip
    """Solve a system of any type by Cholesky's factor."""
    return _by_cholesky(state, number(kind), which, uplo, n, columns, [a], lda, [b], ldb, info)


@function("cusolverDn?potrsBatched", "piiipipipi", **TYPES)
def potrs_batched(
    state: State, kind: Number, which: int, uplo: int, n: int, columns: int, a: int, lda: int, b: int,
    ldb: int, info: int, batch: int,
) -> Operation:  # fmt: skip
    """Solve systems by Cholesky's factors; there is one status."""
    both = pointers(state, a, batch), pointers(state, b, batch)
    return _by_cholesky(state, kind, which, uplo, n, columns, both[0], lda, both[1], ldb, info)


def _by_cholesky(
    state: State, kind: Number, which: int, uplo: int, n: int, columns: int, a_at: Sequence[int], lda: int,
    b_at: Sequence[int], ldb: int, info: int,
) -> Operation:  # fmt: skip
    a = square(state.memory, kind, a_at, n, lda)
    b = [Matrix(state.memory, kind, at, n, columns, ldb) for at in b_at]

    def compute(_: int) -> int:
        for factor, wanted in zip(a, b, strict=True):
            wanted.put(lapack("potrs", kind)(factor.values, wanted.values, lower=uplo == LOWER)[0])
        return 0

    return solved(state, which, kind, n * n * columns * len(a), [*a, *b], b, compute, info)


@function("cusolverDn?getrf", "piipippp", **TYPES)
def getrf(
    state: State,
    kind: Number,
    which: int,
    m: int,
    n: int,
    a_at: int,
    lda: int,
    _: int,
    pivots: int,
    info: int,
) -> Operation:
    """Factor a matrix into triangles."""
    a = Matrix(state.memory, kind, a_at, m, n, lda)
    exchanged = Vector(state.memory, I32, pivots, min(m, n))

    def compute(_: int) -> int:
        values, rows = factored(a.values, pivoted=bool(pivots))
        a.put(values)
        if pivots:
            exchanged.put(rows + 1)
        return first_zero(values)

    work = min(m, n) ** 2 * (max(m, n) - min(m, n) / 3) / 2
    return solved(state, which, kind, work, [a], [a, exchanged], compute, info)


@function("cusolverDn?getrs", "piiipippip", **TYPES)
def getrs(
    state: State, kind: Number, which: int, trans: int, n: int, columns: int, a_at: int, lda: int,
    pivots: int, b_at: int, ldb: int, info: int,
) -> Operation:  # fmt: skip
    """Solve a system by triangles."""
    a, b = Matrix(state.memory, kind, a_at, n, n, lda), Matrix(state.memory, kind, b_at, n, columns, ldb)
    exchanged = Vector(state.memory, I32, pivots, n)

    def compute(_: int) -> int:
        rows = exchanged.raw - 1 if pivots else np.arange(n)
        b.put(lapack("getrs", kind)(a.values, rows, b.values, trans=trans)[0])
        return 0

    return solved(state, which, kind, n * n * columns, [a, exchanged, b], [b], compute, info)


@function("cusolverDn?sytrf", "piipippip", **TYPES)
def sytrf(
    state: State, kind: Number, which: int, uplo: int, n: int, a_at: int, lda: int, pivots: int, *rest: int
) -> Operation:
    """Factor a symmetric matrix that need not be definite."""
    a, exchanged = Matrix(state.memory, kind, a_at, n, n, lda), Vector(state.memory, I32, pivots, n)

    def compute(_: int) -> int:
        values, rows, status = lapack("sytrf", kind)(a.values, lower=uplo == LOWER)
        a.put(values)
        exchanged.put(rows)
        return int(status)

    return solved(state, which, kind, n**3 / 6, [a], [a, exchanged], compute, rest[-1])


@function("cusolverDnXsytrs", "pilliplpiplplplp")
def sytrs(
    state: State, which: int, uplo: int, n: int, columns: int, code: int, a_at: int, lda: int, pivots: int,
    _: int, b_at: int, ldb: int, *rest: int,
) -> Operation:  # fmt: skip
    """Solve a symmetric system by its factor."""
    kind, memory = number(code), state.memory
    a, b = Matrix(memory, kind, a_at, n, n, lda), Matrix(memory, kind, b_at, n, columns, ldb)
    exchanged = Vector(memory, I64, pivots, n)

    def compute(_: int) -> int:
        b.put(lapack("sytrs", kind)(a.values, exchanged.raw, b.values, lower=uplo == LOWER)[0])
        return 0

    return solved(state, which, kind, n * n * columns, [a, exchanged, b], [b], compute, rest[-1])


# -- orthogonal factors ------------------------------------------------------------------------------------


@function("cusolverDn?geqrf", "piipippip", **TYPES)
def geqrf(
    state: State, kind: Number, which: int, m: int, n: int, a_at: int, lda: int, tau_at: int, *rest: int
) -> Operation:
    """Factor a matrix into reflections and a triangle."""
    a, tau = Matrix(state.memory, kind, a_at, m, n, lda), Vector(state.memory, kind, tau_at, min(m, n))

    def compute(_: int) -> int:
        values, factors, _work, status = lapack("geqrf", kind)(a.values)
        a.put(values)
        tau.put(factors)
        return int(status)

    least = min(m, n)
    return solved(state, which, kind, m * n * least - least**3 / 3, [a], [a, tau], compute, rest[-1])


@function("cusolverDnXgeqrf", "pplliplipiplplp")
def typed_geqrf(
    state: State,
    which: int,
    _: int,
    m: int,
    n: int,
    kind: int,
    a: int,
    lda: int,
    _tau: int,
    tau: int,
    *rest: int,
) -> Operation:
    """Factor a matrix of any type into reflections and a triangle."""
    return geqrf(state, number(kind), which, m, n, a, lda, tau, *rest)  # type: ignore[return-value]


@function("cusolverDn?gqr", "piiipippip", Sor=TYPES["S"], Dor=TYPES["D"], Cun=TYPES["C"], Zun=TYPES["Z"])
def orgqr(
    state: State,
    kind: Number,
    which: int,
    m: int,
    n: int,
    k: int,
    a_at: int,
    lda: int,
    tau_at: int,
    *rest: int,
) -> Operation:
    """Return the orthogonal matrix of reflections."""
    a, tau = Matrix(state.memory, kind, a_at, m, n, lda), Vector(state.memory, kind, tau_at, k)

    def compute(_: int) -> int:
        values, _work, status = lapack("ungqr" if kind.is_complex else "orgqr", kind)(a.values, tau.values)
        a.put(values)
        return int(status)

    return solved(state, which, kind, 2 * m * n * k, [a, tau], [a], compute, rest[-1])


@function("cusolverDn?mqr", "piiiiipippipip", Sor=TYPES["S"], Dor=TYPES["D"], Cun=TYPES["C"], Zun=TYPES["Z"])
def ormqr(
    state: State, kind: Number, which: int, side: int, trans: int, m: int, n: int, k: int, a_at: int,
    lda: int, tau_at: int, c_at: int, ldc: int, *rest: int,
) -> Operation:  # fmt: skip
    """Multiply by the orthogonal matrix of reflections."""
    a = Matrix(state.memory, kind, a_at, n if side else m, k, lda)
    tau, c = Vector(state.memory, kind, tau_at, k), Matrix(state.memory, kind, c_at, m, n, ldc)
    how = ("R" if side else "L", "N" if not trans else "C" if kind.is_complex else "T")

    def compute(_: int) -> int:
        multiply = lapack("unmqr" if kind.is_complex else "ormqr", kind)
        values, _work, status = multiply(*how, a.values, tau.values, c.values, max(1, m, n) * 64)
        c.put(values)
        return int(status)

    return solved(state, which, kind, 2 * m * n * k, [a, tau, c], [c], compute, rest[-1])
