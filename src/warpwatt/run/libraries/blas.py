"""cuBLAS: handles, and what vectors do (level 1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from warpwatt.run.libraries.calls import Operation, function
from warpwatt.run.libraries.numbers import FP32, FP64, REAL_OF, C, D, Number, S, Vector, Z, number

if TYPE_CHECKING:
    from collections.abc import Callable

    from warpwatt.run.libraries.calls import Span, State

VERSION = 130_000
"""What ``cublasGetVersion`` says."""
TF32_MATH = 3
"""``CUBLAS_TF32_TENSOR_OP_MATH``."""
TYPES = {"S": S, "D": D, "C": C, "Z": Z}


@dataclass(slots=True)
class Handle:
    """What a program has set of cuBLAS."""

    stream: int = 0
    pointer_mode: int = 0
    math_mode: int = 0


def handle(state: State, number_: int) -> Handle:
    """Return what a handle stands for; one that nobody created is a new one."""
    found = state.objects.get(number_)
    return found if isinstance(found, Handle) else Handle()


def unit_of(kind: Number) -> str:
    """Return the unit that does the sums of vectors."""
    return FP64 if kind in (D, Z) else FP32


@function(["cublasCreate_v2", "cublasLtCreate", "cusolverDnCreate", "cusolverDnCreateParams"], "p")
@function(["cusolverDnCreateGesvdjInfo", "cusolverDnCreateSyevjInfo"], "p")
def create(state: State, where: int) -> int:
    """Begin."""
    state.create(where, Handle())
    return 0


@function(["cublasDestroy_v2", "cusolverDnDestroy", "cusolverDnDestroyParams"], "p")
@function(["cusolverDnDestroyGesvdjInfo", "cusolverDnDestroySyevjInfo"], "p")
@function(["cublasLtDestroy", "cublasLtMatmulDescDestroy", "cublasLtMatrixLayoutDestroy"], "p")
@function("cublasLtMatmulPreferenceDestroy", "p")
def destroy(state: State, which: int) -> int:
    """End."""
    state.objects.pop(which, None)
    return 0


@function(["cublasSetStream_v2", "cusolverDnSetStream"], "pl")
def set_stream(state: State, which: int, stream: int) -> int:
    """Let calls run in a stream."""
    handle(state, which).stream = stream
    return 0


@function("cublasSetPointerMode_v2", "pi")
def set_pointer_mode(state: State, which: int, mode: int) -> int:
    """Say where numbers are; addresses say it, too."""
    handle(state, which).pointer_mode = mode
    return 0


@function("cublasGetPointerMode_v2", "pp")
def get_pointer_mode(state: State, which: int, where: int) -> int:
    """Return what was set."""
    state.memory.put_int(where, handle(state, which).pointer_mode)
    return 0


@function("cublasSetMathMode", "pi")
def set_math_mode(state: State, which: int, mode: int) -> int:
    """Allow or forbid tensor cores."""
    handle(state, which).math_mode = mode
    return 0


@function("cublasGetMathMode", "pp")
def get_math_mode(state: State, which: int, where: int) -> int:
    """Return what was set."""
    state.memory.put_int(where, handle(state, which).math_mode)
    return 0


@function("cublasGetVersion_v2", "pp")
def version(state: State, _: int, where: int) -> int:
    """Return the version that we stand in for."""
    state.memory.put_int(where, VERSION)
    return 0


@function("cublasSetWorkspace_v2", "ppp")
@function(["cublasSetAtomicsMode", "cublasSetSmCountTarget"], "pi")
@function(["cusolverDnXgesvdjSetMaxSweeps", "cusolverDnXgesvdjSetSortEig"], "pi")
@function(["cusolverDnXsyevjSetMaxSweeps", "cusolverDnXsyevjSetSortEig"], "pi")
@function(["cusolverDnXgesvdjSetTolerance", "cusolverDnXsyevjSetTolerance"], "pd")
def accept(*_: Any) -> int:
    """Take note of what changes no result."""
    return 0


def streaming(
    state: State,
    which: int,
    kind: Number,
    work: float,
    reads: tuple[Span, ...],
    writes: tuple[Span, ...],
    compute: Callable[[], None],
    *,
    to_host: bool = False,
) -> Operation:
    """Return an operation that goes through its data once."""
    stream = handle(state, which).stream
    return Operation(work, unit_of(kind), reads, writes, compute, stream=stream, to_host=to_host)


@function(["cublas?axpy_v2", "cublas?axpy_v2_64"], "pippipi", **TYPES)
def axpy(
    state: State, kind: Number, which: int, n: int, alpha: int, x_at: int, incx: int, y_at: int, incy: int
) -> Operation:
    """Do y = αx + y."""
    memory = state.memory
    x, y = Vector(memory, kind, x_at, n, incx), Vector(memory, kind, y_at, n, incy)

    def compute() -> None:
        y.put(memory.value(alpha, kind.stored) * x.values + y.values)

    return streaming(state, which, kind, kind.operations * n, (x.span, y.span), (y.span,), compute)


@function(["cublas?scal_v2", "cublas?scal_v2_64"], "pippi", **TYPES)
def scal(state: State, kind: Number, which: int, n: int, alpha: int, x_at: int, incx: int) -> Operation:
    """Do x = αx."""
    return _scaled(state, kind, kind, which, n, alpha, x_at, incx)


@function(["cublas?scal_v2", "cublas?scal_v2_64"], "pippi", Cs=C, Zd=Z)
def real_scal(state: State, kind: Number, which: int, n: int, alpha: int, x_at: int, incx: int) -> Operation:
    """Do x = αx for a real α."""
    return _scaled(state, kind, REAL_OF[kind], which, n, alpha, x_at, incx)


def _scaled(
    state: State, kind: Number, factor: Number, which: int, n: int, alpha: int, x_at: int, incx: int
) -> Operation:
    memory = state.memory
    x = Vector(memory, kind, x_at, n, incx)

    def compute() -> None:
        x.put(memory.value(alpha, factor.stored) * x.values)

    return streaming(state, which, kind, n, (x.span,), (x.span,), compute)


@function(["cublas?copy_v2", "cublas?copy_v2_64"], "pipipi", **TYPES)
def copy(
    state: State, kind: Number, which: int, n: int, x_at: int, incx: int, y_at: int, incy: int
) -> Operation:
    """Do y = x."""
    x, y = Vector(state.memory, kind, x_at, n, incx), Vector(state.memory, kind, y_at, n, incy)
    return streaming(state, which, kind, 0.0, (x.span,), (y.span,), lambda: y.put(x.values))


@function(["cublas?swap_v2", "cublas?swap_v2_64"], "pipipi", **TYPES)
def swap(
    state: State, kind: Number, which: int, n: int, x_at: int, incx: int, y_at: int, incy: int
) -> Operation:
    """Exchange x and y."""
    x, y = Vector(state.memory, kind, x_at, n, incx), Vector(state.memory, kind, y_at, n, incy)

    def compute() -> None:
        kept = x.values.copy()
        x.put(y.values)
        y.put(kept)

    both = (x.span, y.span)
    return streaming(state, which, kind, 0.0, both, both, compute)


def _reduced(
    state: State,
    which: int,
    kind: Number,
    vectors: tuple[Vector, ...],
    result: int,
    function_: Callable[..., Any],
    dtype: str,
) -> Operation:
    """Return an operation whose result is one number, on the host or the device."""
    memory = state.memory

    def compute() -> None:
        memory.put(result, np.array([function_(*(v.values for v in vectors))], dtype))

    spans = tuple(vector.span for vector in vectors)
    work = kind.operations * vectors[0].count
    return streaming(state, which, kind, work, spans, (), compute, to_host=not memory.is_device(result))


@function(["cublas?_v2", "cublas?_v2_64"], "pipipip", Sdot=S, Ddot=D, Cdotu=C, Zdotu=Z)
def dot(
    state: State, kind: Number, which: int, n: int, x: int, incx: int, y: int, incy: int, result: int
) -> Operation:
    """Return the sum of products."""
    pair = Vector(state.memory, kind, x, n, incx), Vector(state.memory, kind, y, n, incy)
    return _reduced(state, which, kind, pair, result, np.dot, kind.stored)


@function(["cublas?_v2", "cublas?_v2_64"], "pipipip", Cdotc=C, Zdotc=Z)
def conjugated_dot(
    state: State, kind: Number, which: int, n: int, x: int, incx: int, y: int, incy: int, result: int
) -> Operation:
    """Return the sum of products, the first factor conjugated."""
    pair = Vector(state.memory, kind, x, n, incx), Vector(state.memory, kind, y, n, incy)
    return _reduced(state, which, kind, pair, result, np.vdot, kind.stored)


@function(["cublasDotEx", "cublasDotEx_64"], "pipiipiipii")
def dot_ex(
    state: State, which: int, n: int, x: int, x_type: int, incx: int, y: int, y_type: int, incy: int,
    result: int, result_type: int, _: int,
) -> Operation:  # fmt: skip
    """Return the sum of products of any type."""
    kind = number(x_type)
    pair = Vector(state.memory, kind, x, n, incx), Vector(state.memory, number(y_type), y, n, incy)
    return _reduced(state, which, kind, pair, result, np.dot, number(result_type).stored)


_NORMS = {"Snrm2": S, "Dnrm2": D, "Scnrm2": C, "Dznrm2": Z}
_SUMS = {"Sasum": S, "Dasum": D, "Scasum": C, "Dzasum": Z}
_LARGEST = {"Isamax": S, "Idamax": D, "Icamax": C, "Izamax": Z}
_SMALLEST = {"Isamin": S, "Idamin": D, "Icamin": C, "Izamin": Z}


@function(["cublas?_v2", "cublas?_v2_64"], "pipip", **_NORMS)
def nrm2(state: State, kind: Number, which: int, n: int, x: int, incx: int, result: int) -> Operation:
    """Return the length of a vector."""
    one = (Vector(state.memory, kind, x, n, incx),)
    return _reduced(state, which, kind, one, result, np.linalg.norm, REAL_OF[kind].stored)


@function(["cublas?_v2", "cublas?_v2_64"], "pipip", **_SUMS)
def asum(state: State, kind: Number, which: int, n: int, x: int, incx: int, result: int) -> Operation:
    """Return the sum of absolute values."""
    one = (Vector(state.memory, kind, x, n, incx),)
    return _reduced(state, which, kind, one, result, lambda v: _size(v).sum(), REAL_OF[kind].stored)


@function("cublas?_v2", "pipip", **_LARGEST)
def iamax(state: State, kind: Number, which: int, n: int, x: int, incx: int, result: int) -> Operation:
    """Return the place of the largest number, from 1."""
    one = (Vector(state.memory, kind, x, n, incx),)
    return _reduced(state, which, kind, one, result, lambda v: _size(v).argmax() + 1, "<i4")


@function("cublas?_v2", "pipip", **_SMALLEST)
def iamin(state: State, kind: Number, which: int, n: int, x: int, incx: int, result: int) -> Operation:
    """Return the place of the smallest number, from 1."""
    one = (Vector(state.memory, kind, x, n, incx),)
    return _reduced(state, which, kind, one, result, lambda v: _size(v).argmin() + 1, "<i4")


def _size(values: Any) -> Any:
    """Return absolute values; of complex numbers the sums of those of their parts, as BLAS has it."""
    return abs(values.real) + abs(values.imag) if np.iscomplexobj(values) else abs(values)
