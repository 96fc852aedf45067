"""cuBLAS: what matrices do (levels 2 and 3), and batches of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from warpwatt.run.libraries.blas import TF32_MATH, TYPES, handle, streaming
from warpwatt.run.libraries.calls import Operation, Span, function
from warpwatt.run.libraries.numbers import (
    FP32,
    FP64,
    TENSOR,
    TF32,
    C,
    D,
    H,
    Matrix,
    Number,
    S,
    Vector,
    Z,
    number,
    transposed,
)  # fmt: skip

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from warpwatt.run.libraries.calls import State

TENSOR_FP64 = "tensor_fp64_fma"
_POINTER = 8
LOWER = 0
COMPUTE_UNITS = {74: TENSOR, 75: TENSOR, 77: TF32}
"""``CUBLAS_COMPUTE_32F_FAST_16F``, ``_16BF`` and ``_TF32``."""


@dataclass(frozen=True, slots=True)
class Side:
    """One of the matrices of a product: where those of the batch are, their numbers, and how it is meant."""

    addresses: Sequence[int]
    kind: Number
    ld: int
    how: int = 0
    scaled: Callable[[NDArray[Any]], NDArray[Any]] | None = None
    """Multiplies the numbers, as they are meant, with those that types of eight bits have beside them."""

    def matrix(self, state: State, place: int, rows: int, columns: int) -> Matrix:
        """Return one of the batch, of so many rows and columns as it is meant."""
        shape = (rows, columns) if self.how == 0 else (columns, rows)
        return Matrix(state.memory, self.kind, self.addresses[place], *shape, self.ld)

    def values(self, matrix: Matrix) -> NDArray[Any]:
        """Return the numbers of one of the batch as they are meant."""
        found = transposed(matrix.values, self.how)
        return found if self.scaled is None else self.scaled(found)


@dataclass(frozen=True, slots=True)
class Epilogue:
    """What follows a product: a function of the place in the batch, both factors and the result."""

    finish: Callable[[int, NDArray[Any], NDArray[Any], NDArray[Any]], NDArray[Any]]
    reads: tuple[Span, ...] = ()
    writes: tuple[Span, ...] = ()


NO_EPILOGUE = Epilogue(lambda _place, _left, _right, result: result)


def product(
    state: State, which: int, shape: tuple[int, int, int], alpha: int, a: Side, b: Side, beta: int, c: Side,
    scale: Number, unit: str | None = None, *, added: Side | None = None, epilogue: Epilogue = NO_EPILOGUE,
    factors: tuple[int, int] = (1, 1),
) -> Operation:  # fmt: skip
    """Return C = α op(A) op(B) + βC for every matrix of a batch; + β ``added`` where that is another one.

    ``factors`` is how many numbers α and β are: 1, or one for each row.
    """
    m, n, k = shape
    memory, batch, other = state.memory, len(c.addresses), added or c
    of_batch = [
        (
            a.matrix(state, i, m, k),
            b.matrix(state, i, k, n),
            other.matrix(state, i, m, n),
            c.matrix(state, i, m, n),
        )
        for i in range(batch)
    ]
    keeps = bool(beta and (memory.is_device(beta) or memory.value(beta, scale.stored) != 0))

    def compute() -> None:
        one = memory.values(alpha, factors[0], scale.stored)[:, None]
        kept = memory.values(beta, factors[1], scale.stored)[:, None] if keeps else 0
        for i, (first, second, old, result) in enumerate(of_batch):
            left, right = a.values(first), b.values(second)
            values = one * (left @ right)
            values = values + kept * other.values(old) if np.any(kept) else values
            result.put(transposed(epilogue.finish(i, left, right, values), c.how))

    reads = [matrix.span for matrices in of_batch for matrix in matrices[: 2 + keeps]]
    return Operation(
        work=a.kind.operations * m * n * k * batch,
        unit=unit or unit_of_product(state, which, a.kind),
        reads=(*_once(reads), *epilogue.reads),
        writes=(*(matrices[3].span for matrices in of_batch), *epilogue.writes),
        compute=compute,
        results=(m, n, batch),
        kind="product",
        stream=handle(state, which).stream,
    )


def _once(spans: Sequence[Span]) -> list[Span]:
    """Return spans, those that are the same once: a stride of 0 repeats a matrix."""
    return list(dict.fromkeys(spans))


def unit_of_product(state: State, which: int, kind: Number) -> str:
    """Return who multiplies: tensor cores do FP64 where there are such, FP32 if the program allows TF32."""
    if kind.unit == FP64:
        return TENSOR_FP64
    return TF32 if kind.unit == FP32 and handle(state, which).math_mode == TF32_MATH else kind.unit


@function(["cublas?gemm_v2", "cublas?gemm_v2_64"], "piiiiippipippi", **TYPES)
@function(["cublas?gemm", "cublas?gemm_64"], "piiiiippipippi", H=H)
@function(["cublas?gemm3m", "cublas?gemm3m_64"], "piiiiippipippi", C=C, Z=Z)
def gemm(
    state: State, kind: Number, which: int, ta: int, tb: int, m: int, n: int, k: int, alpha: int,
    a: int, lda: int, b: int, ldb: int, beta: int, c: int, ldc: int,
) -> Operation:  # fmt: skip
    """Multiply two matrices."""
    sides = Side([a], kind, lda, ta), Side([b], kind, ldb, tb), Side([c], kind, ldc)
    return product(state, which, (m, n, k), alpha, sides[0], sides[1], beta, sides[2], kind)


@function(["cublas?gemmStridedBatched", "cublas?gemmStridedBatched_64"], "piiiiippilpilppili", **TYPES, H=H)
def gemmstrided(
    state: State, kind: Number, which: int, ta: int, tb: int, m: int, n: int, k: int, alpha: int,
    a: int, lda: int, step_a: int, b: int, ldb: int, step_b: int, beta: int, c: int, ldc: int, step_c: int,
    batch: int,
) -> Operation:  # fmt: skip
    """Multiply pairs of matrices that are the same distance apart."""
    sides = (
        Side(strided(a, step_a, kind, batch), kind, lda, ta),
        Side(strided(b, step_b, kind, batch), kind, ldb, tb),
        Side(strided(c, step_c, kind, batch), kind, ldc),
    )
    return product(state, which, (m, n, k), alpha, sides[0], sides[1], beta, sides[2], kind)


@function(["cublas?gemmBatched", "cublas?gemmBatched_64"], "piiiiippipippii", **TYPES, H=H)
def gemm_batched(
    state: State, kind: Number, which: int, ta: int, tb: int, m: int, n: int, k: int, alpha: int,
    a: int, lda: int, b: int, ldb: int, beta: int, c: int, ldc: int, batch: int,
) -> Operation:  # fmt: skip
    """Multiply pairs of matrices at any addresses."""
    sides = (
        Side(pointers(state, a, batch), kind, lda, ta),
        Side(pointers(state, b, batch), kind, ldb, tb),
        Side(pointers(state, c, batch), kind, ldc),
    )
    return product(state, which, (m, n, k), alpha, sides[0], sides[1], beta, sides[2], kind)


@function(["cublasGemmEx", "cublasGemmEx_64"], "piiiiippiipiippiiii")
def gemm_ex(
    state: State, which: int, ta: int, tb: int, m: int, n: int, k: int, alpha: int, a: int, a_type: int,
    lda: int, b: int, b_type: int, ldb: int, beta: int, c: int, c_type: int, ldc: int, compute: int, _: int,
) -> Operation:  # fmt: skip
    """Multiply two matrices of any types."""
    sides = (
        Side([a], number(a_type), lda, ta),
        Side([b], number(b_type), ldb, tb),
        Side([c], number(c_type), ldc),
    )
    return product(
        state, which, (m, n, k), alpha, sides[0], sides[1], beta, sides[2],
        _scale(compute, sides[2].kind), COMPUTE_UNITS.get(compute),
    )  # fmt: skip


@function(["cublas?gemmEx", "cublas?gemmEx_64"], "piiiiippiipiippii", S=S, C=C)
def typed_gemm_ex(state: State, kind: Number, *given: Any) -> Operation:
    """Multiply two matrices whose types differ from that of the factors."""
    which, ta, tb, m, n, k, alpha, a, a_type, lda, b, b_type, ldb, beta, c, c_type, ldc = given
    sides = (
        Side([a], number(a_type), lda, ta),
        Side([b], number(b_type), ldb, tb),
        Side([c], number(c_type), ldc),
    )
    return product(state, which, (m, n, k), alpha, sides[0], sides[1], beta, sides[2], kind)


@function(["cublasGemmStridedBatchedEx", "cublasGemmStridedBatchedEx_64"], "piiiiippiilpiilppiiliii")
def gemm_strided_ex(
    state: State, which: int, ta: int, tb: int, m: int, n: int, k: int, alpha: int, a: int, a_type: int,
    lda: int, step_a: int, b: int, b_type: int, ldb: int, step_b: int, beta: int, c: int, c_type: int,
    ldc: int, step_c: int, batch: int, compute: int, _: int,
) -> Operation:  # fmt: skip
    """Multiply pairs of matrices of any types that are the same distance apart."""
    kinds = number(a_type), number(b_type), number(c_type)
    sides = (
        Side(strided(a, step_a, kinds[0], batch), kinds[0], lda, ta),
        Side(strided(b, step_b, kinds[1], batch), kinds[1], ldb, tb),
        Side(strided(c, step_c, kinds[2], batch), kinds[2], ldc),
    )
    return product(
        state, which, (m, n, k), alpha, sides[0], sides[1], beta, sides[2],
        _scale(compute, kinds[2]), COMPUTE_UNITS.get(compute),
    )  # fmt: skip


@function(["cublasGemmBatchedEx", "cublasGemmBatchedEx_64"], "piiiiippiipiippiiiii")
def gemm_batched_ex(
    state: State, which: int, ta: int, tb: int, m: int, n: int, k: int, alpha: int, a: int, a_type: int,
    lda: int, b: int, b_type: int, ldb: int, beta: int, c: int, c_type: int, ldc: int, batch: int,
    compute: int, _: int,
) -> Operation:  # fmt: skip
    """Multiply pairs of matrices of any types at any addresses."""
    sides = (
        Side(pointers(state, a, batch), number(a_type), lda, ta),
        Side(pointers(state, b, batch), number(b_type), ldb, tb),
        Side(pointers(state, c, batch), number(c_type), ldc),
    )
    return product(
        state, which, (m, n, k), alpha, sides[0], sides[1], beta, sides[2],
        _scale(compute, sides[2].kind), COMPUTE_UNITS.get(compute),
    )  # fmt: skip


def _scale(compute: int, result: Number) -> Number:
    """Return the type of α and β (cuBLAS, "cublasGemmEx": that of the computation)."""
    wide = {64: number(2), 65: number(2), 70: D, 71: D, 72: number(10), 73: number(10)}.get(compute, S)
    return {S: C, D: Z}.get(wide, wide) if result.is_complex else wide


def strided(first: int, step: int, kind: Number, batch: int) -> list[int]:
    """Return addresses ``step`` numbers apart."""
    return [first + i * step * kind.bytes for i in range(batch)]


def pointers(state: State, address: int, count: int) -> list[int]:
    """Return the addresses that device memory holds."""
    return [int(one) for one in state.memory.array(address, count, f"<u{_POINTER}")]


@function(["cublas?gemv_v2", "cublas?gemv_v2_64"], "piiippipippi", **TYPES)
def gemv(
    state: State, kind: Number, which: int, trans: int, m: int, n: int, alpha: int, a_at: int, lda: int,
    x_at: int, incx: int, beta: int, y_at: int, incy: int,
) -> Operation:  # fmt: skip
    """Do y = α op(A) x + βy."""
    memory = state.memory
    a = Matrix(memory, kind, a_at, m, n, lda)
    x = Vector(memory, kind, x_at, m if trans else n, incx)
    y = Vector(memory, kind, y_at, n if trans else m, incy)

    def compute() -> None:
        one, kept = memory.value(alpha, kind.stored), memory.value(beta, kind.stored)
        values = one * (transposed(a.values, trans) @ x.values)
        y.put(values + kept * y.values if kept else values)

    reads = (a.span, x.span, y.span)
    return streaming(state, which, kind, kind.operations * m * n, reads, (y.span,), compute)


@function(["cublas?_v2", "cublas?_v2_64"], "piippipipi", Sger=S, Dger=D, Cgeru=C, Zgeru=Z)
def ger(state: State, kind: Number, *given: int) -> Operation:
    """Do A = α x yᵀ + A."""
    return _rank_one(state, kind, given, conjugated=False)


@function(["cublas?_v2", "cublas?_v2_64"], "piippipipi", Cgerc=C, Zgerc=Z)
def gerc(state: State, kind: Number, *given: int) -> Operation:
    """Do A = α x yᴴ + A."""
    return _rank_one(state, kind, given, conjugated=True)


def _rank_one(state: State, kind: Number, given: Sequence[int], *, conjugated: bool) -> Operation:
    which, m, n, alpha, x_at, incx, y_at, incy, a_at, lda = given
    memory = state.memory
    a = Matrix(memory, kind, a_at, m, n, lda)
    x, y = Vector(memory, kind, x_at, m, incx), Vector(memory, kind, y_at, n, incy)

    def compute() -> None:
        second = y.values.conj() if conjugated else y.values
        a.put(memory.value(alpha, kind.stored) * np.outer(x.values, second) + a.values)

    reads = (a.span, x.span, y.span)
    return streaming(state, which, kind, kind.operations * m * n, reads, (a.span,), compute)


@function(["cublas?geam", "cublas?geam_64"], "piiiippippipi", **TYPES)
def geam(
    state: State, kind: Number, which: int, ta: int, tb: int, m: int, n: int, alpha: int, a_at: int, lda: int,
    beta: int, b_at: int, ldb: int, c_at: int, ldc: int,
) -> Operation:  # fmt: skip
    """Do C = α op(A) + β op(B)."""
    memory = state.memory
    a = Matrix(memory, kind, a_at, *((n, m) if ta else (m, n)), lda)
    b = Matrix(memory, kind, b_at, *((n, m) if tb else (m, n)), ldb)
    c = Matrix(memory, kind, c_at, m, n, ldc)
    factors = memory.value(alpha, kind.stored), memory.value(beta, kind.stored)
    parts = [(f, x, how) for f, x, how in zip(factors, (a, b), (ta, tb), strict=True) if f != 0]

    def compute() -> None:
        total = np.zeros((m, n), kind.computed)
        for factor, matrix, how in parts:
            total = total + factor * transposed(matrix.values, how)
        c.put(total)

    reads = tuple(matrix.span for _, matrix, _ in parts)
    return streaming(state, which, kind, kind.operations * m * n, reads, (c.span,), compute)


@function(["cublas?syrk_v2", "cublas?syrk_v2_64"], "piiiippippi", **TYPES)
def syrk(
    state: State, kind: Number, which: int, uplo: int, trans: int, n: int, k: int, alpha: int, a_at: int,
    lda: int, beta: int, c_at: int, ldc: int,
) -> Operation:  # fmt: skip
    """Do C = α op(A) op(A)ᵀ + βC for a triangle of C."""
    memory = state.memory
    a = Matrix(memory, kind, a_at, *((k, n) if trans else (n, k)), lda)
    c = Matrix(memory, kind, c_at, n, n, ldc)

    def compute() -> None:
        one, kept = memory.value(alpha, kind.stored), memory.value(beta, kind.stored)
        left = a.values.T if trans else a.values
        new, old = one * (left @ left.T), c.values
        chosen = np.tri(n, dtype=bool) if uplo == LOWER else np.tri(n, dtype=bool).T
        c.put(np.where(chosen, new + (kept * old if kept else 0), old))

    return Operation(
        work=kind.operations / 2 * n * (n + 1) * k,
        unit=unit_of_product(state, which, kind),
        reads=(a.span,),
        writes=(c.span,),
        compute=compute,
        results=(n, n, 1),
        kind="product",
        stream=handle(state, which).stream,
    )


def factored(values: NDArray[Any], *, pivoted: bool) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return both triangles in one matrix, and with which row each was exchanged."""
    from scipy.linalg import lu_factor

    if pivoted:
        factors, exchanges = lu_factor(values, check_finite=False)
        return factors, exchanges
    factors = values.copy()
    for k in range(len(factors) - 1):
        factors[k + 1 :, k] /= factors[k, k]
        factors[k + 1 :, k + 1 :] -= np.outer(factors[k + 1 :, k], factors[k, k + 1 :])
    return factors, np.arange(len(factors))


def first_zero(values: NDArray[Any]) -> int:
    """Return the place of the first zero on the diagonal, from 1; 0 if there is none."""
    zeros = np.flatnonzero(np.diagonal(values) == 0)
    return int(zeros[0]) + 1 if len(zeros) else 0
