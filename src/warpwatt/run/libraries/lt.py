"""cuBLASLt: descriptors, and products with what follows them (scales, bias, activations, gradients)."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from warpwatt.core.errors import InputError
from warpwatt.run.libraries.blas import VERSION
from warpwatt.run.libraries.calls import Operation, Span, function
from warpwatt.run.libraries.matrices import COMPUTE_UNITS, Epilogue, Side, product, strided
from warpwatt.run.libraries.numbers import E4M3, E8M0, Matrix, Number, S, Vector, loaded, number

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from warpwatt.run.libraries.calls import Memory, State

ALGORITHM_BYTES, RESULT_BYTES = 64, 96
"""Of ``cublasLtMatmulAlgo_t`` and ``cublasLtMatmulHeuristicResult_t``."""
_ROW_ORDER = 1
_RELU, _BIAS, _DRELU, _BIAS_SUM, _GELU, _DGELU, _AUX, _SUM_A, _SUM_B = 2, 4, 8, 16, 32, 64, 128, 256, 512
"""Bits of ``cublasLtEpilogue_t``."""
_SCALE, _AMAX, _AUX_SCALE, _AUX_AMAX = 20, 21, 23, 24
_VECTOR_FACTORS = {2: (True, True), 3: (True, False), 4: (True, False)}
"""Whether α and β have a number for each row, by ``cublasLtPointerMode_t``."""
_TANH = 0.7978845608028654, 0.044715
"""Of the approximation of GELU that the library computes."""


@dataclass(slots=True)
class Descriptor:
    """Attributes as the program has set them."""

    values: dict[int, bytes] = field(default_factory=dict)

    def get(self, attribute: int, default: int = 0) -> int:
        """Return a whole number."""
        value = self.values.get(attribute)
        return default if value is None else int.from_bytes(value, "little", signed=True)

    @property
    def identity(self) -> tuple[object, ...]:
        """What tells it from others."""
        return tuple(sorted(self.values.items()))


def _integers(**values: tuple[int, str]) -> dict[int, bytes]:
    """Return attributes by name ``aN``: a number and its format."""
    return {int(name[1:]): struct.pack(f"<{kind}", value) for name, (value, kind) in values.items()}


def descriptor(state: State, which: int) -> Descriptor:
    """Return what a handle stands for, or what the structure at an address does (``...Init``)."""
    if which not in state.objects:
        which = int(state.memory.value(which, "<u8"))
    found: Descriptor = state.objects[which]
    return found


@function("cublasLtGetVersion", "p")
def version(*_: Any) -> int:
    """Return the version that we stand in for."""
    return VERSION


@function("cublasLtMatmulDescCreate", "pii")
@function("cublasLtMatmulDescInit_internal", "plii")
def create_product(state: State, where: int, *given: int) -> int:
    """Describe a product, under a handle or in the program's own structure of some size."""
    compute, scale = given[-2:]
    state.create(where, Descriptor(_integers(a0=(compute, "i"), a1=(scale, "i"))))
    return 0


@function("cublasLtMatrixLayoutCreate", "pilll")
@function("cublasLtMatrixLayoutInit_internal", "plilll")
def create_layout(state: State, where: int, *given: int) -> int:
    """Describe a matrix, under a handle or in the program's own structure of some size."""
    kind, rows, columns, ld = given[-4:]
    sizes = _integers(a0=(kind, "i"), a2=(rows, "q"), a3=(columns, "q"), a4=(ld, "q"))
    state.create(where, Descriptor(sizes))
    return 0


@function("cublasLtMatmulPreferenceCreate", "p")
@function("cublasLtMatmulPreferenceInit_internal", "pl")
def create_preference(state: State, where: int, *_: int) -> int:
    """Describe what is wanted of an algorithm."""
    state.create(where, Descriptor())
    return 0


@function(
    [
        "cublasLtMatmulDescSetAttribute",
        "cublasLtMatrixLayoutSetAttribute",
        "cublasLtMatmulPreferenceSetAttribute",
    ],
    "pipl",
)
def set_attribute(state: State, which: int, attribute: int, at: int, size: int) -> int:
    """Set an attribute."""
    descriptor(state, which).values[attribute] = state.memory.values(at, size, np.uint8).tobytes()
    return 0


@function(
    [
        "cublasLtMatmulDescGetAttribute",
        "cublasLtMatrixLayoutGetAttribute",
        "cublasLtMatmulPreferenceGetAttribute",
    ],
    "piplp",
)
def get_attribute(state: State, which: int, attribute: int, at: int, size: int, written: int) -> int:
    """Return an attribute, 0 where it was not set."""
    value = descriptor(state, which).values.get(attribute, b"").ljust(size, b"\0")[:size]
    return _answer(state.memory, at, value, written)


def _answer(memory: Memory, at: int, value: bytes, written: int) -> int:
    """Write a value, and its size where that is wanted."""
    if value:
        memory.put(at, np.frombuffer(value, np.uint8))
    if written:
        memory.put_int(written, len(value), np.uint64)
    return 0


@function(["cublasLtMatmulAlgoConfigGetAttribute", "cublasLtMatmulAlgoCapGetAttribute"], "piplp")
def algorithm_attribute(state: State, _: int, _attribute: int, at: int, size: int, written: int) -> int:
    """Say that an algorithm has no settings."""
    return _answer(state.memory, at, bytes(size), written)


@function("cublasLtMatmulAlgoConfigSetAttribute", "pipl")
def set_algorithm_attribute(*_: Any) -> int:
    """Take note of what changes no result."""
    return 0


@function("cublasLtMatmulAlgoInit", "piiiiiiip")
def algorithm(state: State, *given: int) -> int:
    """Return the one algorithm."""
    return _answer(state.memory, given[-1], bytes(ALGORITHM_BYTES), 0)


@function("cublasLtMatmulAlgoGetIds", "piiiiiiipp")
def algorithms(state: State, *given: int) -> int:
    """Return the number of the one algorithm."""
    state.memory.put_int(given[-2], 0)
    state.memory.put_int(given[-1], 1)
    return 0


@function("cublasLtMatmulAlgoCheck", "pppppppp")
def check(state: State, _: int, which: int, a: int, b: int, c: int, d: int, _algorithm: int, at: int) -> int:
    """Say that the algorithm does it, without a workspace, in one wave."""
    for one in (a, b, c, d):
        number(descriptor(state, one).get(0))
    descriptor(state, which)
    result = bytes(ALGORITHM_BYTES) + struct.pack("<Qif4i", 0, 0, 1.0, 0, 0, 0, 0)
    return _answer(state.memory, at, result, 0)


@function("cublasLtMatmulAlgoGetHeuristic", "pppppppipp")
def heuristic(state: State, *given: int) -> int:
    """Return the one algorithm, as the best."""
    handle, which, a, b, c, d, _, _, results, found = given
    check(state, handle, which, a, b, c, d, 0, results)
    state.memory.put_int(found, 1)
    return 0


@function("cublasLtMatmul", "ppppppppppppppll")
def matmul(
    state: State, which: int, described: int, alpha: int, a: int, a_layout: int, b: int, b_layout: int,
    beta: int, c: int, c_layout: int, d: int, d_layout: int, *given: int,
) -> Operation:  # fmt: skip
    """Multiply matrices: D = f(α op(A) op(B) + βC)."""
    what = descriptor(state, described)
    layouts = [descriptor(state, one) for one in (a_layout, b_layout, c_layout, d_layout)]
    m, n = layouts[3].get(2), layouts[3].get(3)
    k = layouts[0].get(2 if what.get(3) else 3)
    batch = layouts[3].get(5, 1)
    left = _side(a, layouts[0], what.get(3), batch, _scale(state.memory, what, 17, 31))
    right = _side(b, layouts[1], what.get(4), batch, _scale(state.memory, what, 18, 32), is_right=True)
    result = _side(d, layouts[3], 0, batch)
    counts = [m if many else 1 for many in _VECTOR_FACTORS.get(what.get(2), (False, False))]
    added = _side(c, layouts[2], 0, batch, _scale(state.memory, what, 19, 33))
    done = product(
        state, which, (m, n, k), alpha, left, right, beta, result, number(what.get(1)),
        COMPUTE_UNITS.get(what.get(0)), added=added,
        epilogue=_epilogue(state.memory, what, result.kind, m, n, batch), factors=(counts[0], counts[1]),
    )  # fmt: skip
    scalars = tuple(state.memory.contents.get(at, b"") for at in (alpha, beta))
    identity = (a, b, c, d, alpha, beta, *scalars, what.identity, *(one.identity for one in layouts))
    return replace(done, stream=given[-1], identity=identity)


def _side(
    at: int,
    layout: Descriptor,
    how: int,
    batch: int,
    scale: Callable[[int, int], NDArray[Any]] | None = None,
    *,
    is_right: bool = False,
) -> Side:
    """Return a matrix of a product; one in row order is the transpose of one in column order."""
    kind = number(layout.get(0))
    if layout.get(1) > _ROW_ORDER or (how > 1 and layout.get(1)):
        raise InputError(f"cublasLtOrder_t {layout.get(1)} is not computed")
    factors = scale or (lambda _outer, _inner: np.ones(1))

    def scaled(values: NDArray[Any]) -> NDArray[Any]:
        turned = values.T if is_right else values
        multiplied: NDArray[Any] = turned * factors(*turned.shape)
        return multiplied.T if is_right else multiplied

    addresses = strided(at, layout.get(6), kind, batch)
    turned = 1 - how if layout.get(1) else how
    return Side(addresses, kind, layout.get(4), turned, scaled if scale else None)


def _scale(
    memory: Memory, what: Descriptor, pointer: int, mode: int
) -> Callable[[int, int], NDArray[Any]] | None:
    """Return a function that gives the factors of ``outer`` times ``inner`` numbers, None for 1."""
    at = what.get(pointer)
    return None if not at else lambda outer, inner: _FACTORS[what.get(mode)](memory, at, outer, inner)


def _one(memory: Memory, at: int, _outer: int, _inner: int) -> NDArray[Any]:
    return memory.values(at, 1, S.stored)


def _by_row(memory: Memory, at: int, outer: int, _inner: int) -> NDArray[Any]:
    return memory.values(at, outer, S.stored)[:, None]


def _by_128(memory: Memory, at: int, outer: int, inner: int) -> NDArray[Any]:
    blocks = -(-inner // 128)
    found = memory.array(at, blocks * outer, S.stored).reshape(blocks, outer).T
    return np.repeat(found, 128, axis=1)[:, :inner]


def _by_128_squared(memory: Memory, at: int, outer: int, inner: int) -> NDArray[Any]:
    rows, columns = -(-outer // 128), -(-inner // 512) * 4
    found = memory.array(at, rows * columns, S.stored).reshape(rows, columns)
    return np.repeat(np.repeat(found, 128, axis=0), 128, axis=1)[:outer, :inner]


def _by_block(kind: Number, size: int, memory: Memory, at: int, outer: int, inner: int) -> NDArray[Any]:
    """Return factors of blocks, which lie in tiles of 128 rows and 4 columns (cuBLAS, "1D block scaling")."""
    rows, columns = -(-outer // 128), -(-inner // (4 * size))
    tiles = loaded(memory.array(at, rows * columns * 512, kind.stored), kind).reshape(rows, columns, 32, 4, 4)
    found = tiles.transpose(0, 3, 2, 1, 4).reshape(rows * 128, columns * 4)
    return np.repeat(found, size, axis=1)[:outer, :inner]


_FACTORS: dict[int, Callable[[Memory, int, int, int], NDArray[Any]]] = {
    0: _one,
    1: partial(_by_block, E4M3, 16),
    2: partial(_by_block, E8M0, 32),
    3: _by_row,
    4: _by_128,
    5: _by_128_squared,
}
"""By ``cublasLtMatmulMatrixScale_t``."""


def _epilogue(memory: Memory, what: Descriptor, kind: Number, m: int, n: int, batch: int) -> Epilogue:
    """Return what follows a product."""
    bits = what.get(7, 1)
    bias = _bias(memory, what, kind, n if bits & _SUM_B else m, batch)
    extra = _Extra(memory, what, kind, m, n, is_mask=bool(bits & (_RELU | _DRELU)))

    def finish(place: int, left: NDArray[Any], right: NDArray[Any], values: NDArray[Any]) -> NDArray[Any]:
        if bits & _BIAS:
            values = values + bias[place].values[:, None]
        if bits & (_RELU | _GELU) and bits & _AUX:
            extra.put(place, values)
        values = _activated(bits, values, lambda: extra.get(place))
        if bits & (_BIAS_SUM | _SUM_A | _SUM_B):
            sums = left.sum(1) if bits & _SUM_A else right.sum(0) if bits & _SUM_B else values.sum(1)
            bias[place].put(sums)
        return _stored(memory, what, _SCALE, _AMAX, values)

    span = tuple(one.span for one in bias if one.address)
    aux = tuple(extra.span(place) for place in range(batch)) if bits & _AUX else ()
    reads = (span if bits & _BIAS else ()) + (aux if bits & (_DRELU | _DGELU) else ())
    writes = () if bits & _BIAS else span
    return Epilogue(finish, reads, writes + (aux if bits & (_RELU | _GELU) else ()))


def _bias(memory: Memory, what: Descriptor, kind: Number, count: int, batch: int) -> list[Vector]:
    """Return a vector for each product: what is added, or where sums go."""
    own = number(what.get(26)) if what.get(26, -1) >= 0 else kind
    at = what.get(8)
    return [Vector(memory, own, one, count) for one in strided(at, what.get(10), own, batch)]


def _activated(bits: int, values: NDArray[Any], extra: Callable[[], NDArray[Any]]) -> NDArray[Any]:
    """Return what an activation, or its gradient, makes of a product."""
    if bits & _RELU:
        values = np.maximum(values, 0)
    elif bits & _GELU:
        values = values * _gate(values)
    elif bits & _DRELU:
        values = values * extra()
    elif bits & _DGELU:
        x = extra()
        gate = _gate(x)
        values = values * (gate + x * gate * (1 - gate) * 2 * _TANH[0] * (1 + 3 * _TANH[1] * x**2))
    return values


def _gate(x: NDArray[Any]) -> NDArray[Any]:
    """Return GELU(x) / x."""
    gate: NDArray[Any] = 0.5 * (1 + np.tanh(_TANH[0] * (x + _TANH[1] * x**3)))
    return gate


def _stored(memory: Memory, what: Descriptor, scale: int, largest: int, values: NDArray[Any]) -> NDArray[Any]:
    """Return numbers as they are stored; write the largest where the program wants it."""
    if at := what.get(largest):
        memory.put(at, np.array([abs(values).max(initial=0)], S.stored))
    if at := what.get(scale):
        values = values * memory.value(at, S.stored)
    return values


@dataclass(frozen=True, slots=True)
class _Extra:
    """The auxiliary matrix: what an activation got, for its gradient; of ReLU a bit for each number."""

    memory: Memory
    what: Descriptor
    kind: Number
    m: int
    n: int
    is_mask: bool

    def _matrix(self, place: int) -> Matrix:
        at, ld, step = (self.what.get(name) for name in (11, 12, 13))
        if self.is_mask:
            own, m, ld, step = number(28), -(-self.m // 8), ld // 8, step // 8
        else:
            own, m = number(self.what.get(22)) if self.what.get(22, -1) >= 0 else self.kind, self.m
        return Matrix(self.memory, own, at + place * step * own.bytes, m, self.n, ld)

    def span(self, place: int) -> Span:
        """Return the memory of one."""
        return self._matrix(place).span

    def put(self, place: int, values: NDArray[Any]) -> None:
        """Store what an activation gets."""
        matrix = self._matrix(place)
        if self.is_mask:
            matrix.raw[...] = np.packbits(values > 0, axis=0, bitorder="little")
        else:
            matrix.put(_stored(self.memory, self.what, _AUX_SCALE, _AUX_AMAX, values))

    def get(self, place: int) -> NDArray[Any]:
        """Return what an activation got; of ReLU its gradient."""
        matrix = self._matrix(place)
        if self.is_mask:
            return np.unpackbits(matrix.raw, axis=0, count=self.m, bitorder="little")
        return matrix.values
