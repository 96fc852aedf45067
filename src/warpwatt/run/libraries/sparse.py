"""cuSPARSE: products of sparse matrices with vectors and matrices, by its generic interface."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from warpwatt.core.errors import InputError
from warpwatt.run.libraries.calls import Operation, Span, function
from warpwatt.run.libraries.numbers import FP64, Matrix, Number, Vector, number

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from warpwatt.run.libraries.calls import Memory, State

VERSION = 12_600
INDEX = {2: "<i4", 3: "<i8"}
"""``cusparseIndexType_t``."""
ROWS_FIRST = 2
"""``CUSPARSE_ORDER_ROW``."""


@dataclass(slots=True)
class Handle:
    """What a program has set of cuSPARSE."""

    stream: int = 0


@dataclass(slots=True)
class Sparse:
    """A sparse matrix in rows (CSR) or as triples (COO), where the program keeps it."""

    rows: int
    columns: int
    stored: int
    row_at: int
    column_at: int
    values_at: int
    index: tuple[str, str]
    base: int
    kind: Number
    in_rows: bool

    def spans(self) -> tuple[Span, ...]:
        """Return the memory that it needs."""
        rows = self.rows + 1 if self.in_rows else self.stored
        sizes = (
            rows * int(self.index[0][2]),
            self.stored * int(self.index[1][2]),
            self.stored * self.kind.bytes,
        )
        places = (self.row_at, self.column_at, self.values_at)
        return tuple(Span(at, float(size)) for at, size in zip(places, sizes, strict=True))

    def matrix(self, memory: Memory) -> Any:
        """Return it for SciPy."""
        from scipy.sparse import coo_array, csr_array

        values = Vector(memory, self.kind, self.values_at, self.stored).values
        columns = memory.array(self.column_at, self.stored, self.index[1]) - self.base
        count = self.rows + 1 if self.in_rows else self.stored
        rows = memory.array(self.row_at, count, self.index[0]) - self.base
        shape = (self.rows, self.columns)
        if self.in_rows:
            return csr_array((values, columns, rows), shape=shape)
        return coo_array((values, (rows, columns)), shape=shape)


@dataclass(slots=True)
class Dense:
    """A dense matrix, where the program keeps it; a vector is one column."""

    rows: int
    columns: int
    ld: int
    address: int
    kind: Number
    rows_first: bool = False

    def matrix(self, memory: Memory) -> Matrix:
        """Return its columns, or those of its transpose."""
        shape = (self.columns, self.rows) if self.rows_first else (self.rows, self.columns)
        return Matrix(memory, self.kind, self.address, *shape, self.ld)

    def values(self, memory: Memory) -> NDArray[Any]:
        """Return its numbers."""
        found = self.matrix(memory).values
        return found.T if self.rows_first else found

    def put(self, memory: Memory, values: NDArray[Any]) -> None:
        """Store numbers."""
        self.matrix(memory).put(values.T if self.rows_first else values)


@function("cusparseCreate", "p")
def create(state: State, where: int) -> int:
    """Begin."""
    state.create(where, Handle())
    return 0


_DESTROYED = [
    "cusparseDestroy",
    "cusparseDestroySpMat",
    "cusparseDestroyDnVec",
    "cusparseDestroyDnMat",
    "cusparseDestroyMatDescr",
]


@function(_DESTROYED, "p")
def destroy(state: State, which: int) -> int:
    """End something."""
    state.objects.pop(which, None)
    return 0


@function("cusparseCreateMatDescr", "p")
def create_description(state: State, where: int) -> int:
    """Begin a description, which the generic interface has no use for."""
    state.create(where, object())
    return 0


_ACCEPTED = [
    "cusparseSetPointerMode",
    "cusparseSetMatType",
    "cusparseSetMatIndexBase",
    "cusparseSetMatFillMode",
    "cusparseSetMatDiagType",
]


@function(_ACCEPTED, "pi")
def accept(*_: Any) -> int:
    """Take note of what changes no result here."""
    return 0


@function("cusparseSetStream", "pl")
def set_stream(state: State, which: int, stream: int) -> int:
    """Let calls run in a stream."""
    state.objects[which].stream = stream
    return 0


@function("cusparseGetVersion", "pp")
def version(state: State, _: int, where: int) -> int:
    """Return the version that we stand in for."""
    state.memory.put_int(where, VERSION)
    return 0


@function(["cusparseCreateCsr", "cusparseCreateConstCsr"], "plllpppiiii")
def create_csr(state: State, where: int, rows: int, columns: int, stored: int, *given: int) -> int:
    """Describe a matrix in compressed rows."""
    offsets, indices, values, offset_type, index_type, base, kind = given
    index = INDEX[offset_type], INDEX[index_type]
    places = (offsets, indices, values)
    state.create(where, Sparse(rows, columns, stored, *places, index, base, number(kind), in_rows=True))
    return 0


@function(["cusparseCreateCoo", "cusparseCreateConstCoo"], "plllpppiii")
def create_coo(state: State, where: int, rows: int, columns: int, stored: int, *given: int) -> int:
    """Describe a matrix as triples."""
    row_at, column_at, values, index_type, base, kind = given
    index = INDEX[index_type], INDEX[index_type]
    places = (row_at, column_at, values)
    state.create(where, Sparse(rows, columns, stored, *places, index, base, number(kind), in_rows=False))
    return 0


@function(["cusparseCreateDnVec", "cusparseCreateConstDnVec"], "plpi")
def create_vector(state: State, where: int, count: int, values: int, kind: int) -> int:
    """Describe a vector."""
    state.create(where, Dense(count, 1, count, values, number(kind)))
    return 0


@function(["cusparseCreateDnMat", "cusparseCreateConstDnMat"], "plllpii")
def create_matrix(
    state: State, where: int, rows: int, columns: int, ld: int, values: int, kind: int, order: int
) -> int:
    """Describe a dense matrix."""
    state.create(where, Dense(rows, columns, ld, values, number(kind), order == ROWS_FIRST))
    return 0


@function(["cusparseDnVecSetValues", "cusparseDnMatSetValues"], "pp")
def set_values(state: State, which: int, values: int) -> int:
    """Say that the numbers are elsewhere."""
    state.objects[which].address = values
    return 0


@function("cusparseCsrSetPointers", "pppp")
def set_pointers(state: State, which: int, offsets: int, indices: int, values: int) -> int:
    """Say that a matrix is elsewhere."""
    one = state.objects[which]
    one.row_at, one.column_at, one.values_at = offsets, indices, values
    return 0


@function("cusparseSpMV_bufferSize", "pipppppiip")
def vector_buffer(state: State, *given: int) -> int:
    """Return the bytes that a product works in: a few, as programs allocate them."""
    state.memory.put_int(given[-1], 256, np.uint64)
    return 0


@function("cusparseSpMM_bufferSize", "piipppppiip")
def matrix_buffer(state: State, *given: int) -> int:
    """Return the same of a product with a matrix."""
    state.memory.put_int(given[-1], 256, np.uint64)
    return 0


@function("cusparseSpMV_preprocess", "pipppppiip")
@function("cusparseSpMM_preprocess", "piipppppiip")
def preprocess(*_: Any) -> int:
    """Look at a matrix in advance, which takes no time here."""
    return 0


@function("cusparseSpMV", "pipppppiip")
def multiply_vector(
    state: State, which: int, how: int, alpha: int, a: int, x: int, beta: int, y: int, scale: int, *_: int
) -> Operation:
    """Do y = α op(A) x + βy."""
    return _product(state, which, (how, 0), (alpha, a, x, beta, y), scale)


@function("cusparseSpMM", "piipppppiip")
def multiply_matrix(
    state: State, which: int, how: int, other: int, alpha: int, a: int, b: int, beta: int, c: int, scale: int,
    *_: int,
) -> Operation:  # fmt: skip
    """Do C = α op(A) op(B) + βC."""
    return _product(state, which, (how, other), (alpha, a, b, beta, c), scale)


def _product(
    state: State, which: int, how: tuple[int, int], given: tuple[int, int, int, int, int], scale: int
) -> Operation:
    alpha, a, b, beta, c = given
    memory, sparse, right, result = state.memory, state.objects[a], state.objects[b], state.objects[c]
    if not (isinstance(sparse, Sparse) and isinstance(right, Dense) and isinstance(result, Dense)):
        raise InputError("not descriptions of matrices that are computed")
    dtype = number(scale).stored

    def compute() -> None:
        one, kept = memory.value(alpha, dtype), memory.value(beta, dtype)
        left = _turned(sparse.matrix(memory), how[0])
        new = one * (left @ _turned(right.values(memory), how[1]))
        result.put(memory, new + kept * result.values(memory) if kept else new)

    spans = (*sparse.spans(), right.matrix(memory).span, result.matrix(memory).span)
    return Operation(
        work=sparse.kind.operations * sparse.stored * result.columns,
        unit="fp64_add_mul_fma" if sparse.kind.unit == FP64 else "fp32_add_mul_fma",
        reads=spans,
        writes=(result.matrix(memory).span,),
        compute=compute,
        kind="sparse",
        stream=state.objects[which].stream,
    )


def _turned(values: Any, how: int) -> Any:
    """Return a matrix as ``cusparseOperation_t`` says: as it is, transposed, or its adjoint."""
    turned: Callable[[], Any] = (lambda: values.T) if how == 1 else (lambda: values.conj().T)
    return turned() if how else values
