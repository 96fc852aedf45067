"""Number types of CUDA's libraries (``cudaDataType``), vectors and matrices of them in memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from warpwatt.core.errors import InputError
from warpwatt.run.libraries.calls import Span

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from warpwatt.run.libraries.calls import Memory


@dataclass(frozen=True, slots=True)
class Number:
    """A type: how it is stored, how we compute with it, and which unit multiplies it fastest."""

    stored: str
    computed: str
    unit: str

    @property
    def bytes(self) -> int:
        """Bytes of one."""
        return np.dtype(self.stored).itemsize

    @property
    def is_complex(self) -> bool:
        """Whether it has two parts."""
        return np.dtype(self.stored).kind == "c"

    @property
    def operations(self) -> float:
        """Operations of a multiply-add: 2, and 8 of a complex one."""
        return 8.0 if self.is_complex else 2.0


FP32, FP64, TENSOR, TF32, INT8, FP8 = (
    "fp32_add_mul_fma", "fp64_add_mul_fma", "tensor_fp16_fma", "tensor_tf32_fma", "tensor_int8_mac",
    "tensor_fp8_fma",
)  # fmt: skip
"""Rows of the throughput table."""
BFLOAT = "bfloat"
S, D = Number("<f4", "<f4", FP32), Number("<f8", "<f8", FP64)
C, Z = Number("<c8", "<c8", FP32), Number("<c16", "<c16", FP64)
H, B = Number("<f2", "<f4", TENSOR), Number("<u2", BFLOAT, TENSOR)
I8, I32 = Number("<i1", "<f8", INT8), Number("<i4", "<f8", FP32)
I64 = Number("<i8", "<i8", FP32)
E4M3, E5M2, E8M0 = (Number("<u1", name, FP8) for name in ("e4m3", "e5m2", "e8m0"))
REAL_OF = {S: S, D: D, C: S, Z: D}
NUMBERS = {0: S, 1: D, 2: H, 3: I8, 4: C, 5: Z, 10: I32, 14: B, 24: I64, 28: E4M3, 29: E5M2, 30: E8M0}
"""By ``cudaDataType``."""


def _byte_values(exponent_bits: int, bias: int, specials: int) -> NDArray[Any]:
    """Return what codes 0 to 127 stand for; the last ``specials`` are infinity, if several, and NaN.

    >>> _byte_values(4, 7, 1)[[1, 0x38, 0x7E]].tolist()  # E4M3
    [0.001953125, 1.0, 448.0]
    """
    exponent, mantissa = np.divmod(np.arange(128.0), 2.0 ** (7 - exponent_bits))
    fraction = mantissa * 2.0 ** (exponent_bits - 7) + (exponent > 0)
    shift = (np.maximum(exponent, 1) - bias).astype(int)
    values: NDArray[Any] = np.ldexp(fraction, shift).astype(np.float32)
    values[128 - specials :] = np.inf
    values[129 - max(specials, 2) :] = np.nan
    return values


BYTES = {"e4m3": _byte_values(4, 7, 1), "e5m2": _byte_values(5, 15, 4)}
"""What the positive codes of types of eight bits stand for."""


def number(code: int) -> Number:
    """Return the type of a code; raise :class:`~warpwatt.core.errors.InputError` for others."""
    if code not in NUMBERS:
        raise InputError(f"numbers of cudaDataType {code} are not computed")
    return NUMBERS[code]


def loaded(values: NDArray[Any], kind: Number) -> NDArray[Any]:
    """Return stored numbers as we compute with them."""
    if kind.computed == BFLOAT:
        return (values.astype(np.uint32) << 16).view(np.float32)
    if kind is E8M0:
        powers: NDArray[Any] = np.ldexp(np.float32(1), values.astype(np.int32) - 127)
        return powers
    if kind.computed in BYTES:
        return np.asarray(np.concatenate([BYTES[kind.computed], -BYTES[kind.computed]])[values])
    return values.astype(kind.computed, copy=False)


def stored(values: NDArray[Any], kind: Number) -> NDArray[Any]:
    """Return numbers as they are stored, rounded to the nearest.

    >>> hex(stored(np.array([1.0], np.float32), B)[0])
    '0x3f80'
    """
    if kind.computed == BFLOAT:
        bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
        return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)
    if kind.computed in BYTES:
        return _to_bytes(values, BYTES[kind.computed])
    if np.dtype(kind.stored).kind == "i" and values.dtype.kind == "f":
        limits = np.iinfo(kind.stored)
        values = np.clip(np.rint(values), limits.min, limits.max)
    return values.astype(kind.stored)


def _to_bytes(values: NDArray[Any], known: NDArray[Any]) -> NDArray[Any]:
    """Return codes of eight bits: of the nearest number, the even code of two, at most the largest number."""
    finite = known[np.isfinite(known)].astype(np.float64)
    middles = (finite[1:] + finite[:-1]) / 2
    size = abs(values.astype(np.float64))
    code = np.searchsorted(middles, size)
    code += np.isin(size, middles) & (code % 2 == 1)
    code = np.where(np.isnan(size), 127, code)
    return np.asarray(code + 128 * np.signbit(values), np.uint8)


@dataclass(frozen=True, slots=True)
class Matrix:
    """Columns of numbers ``ld`` apart, as BLAS stores them."""

    memory: Memory
    kind: Number
    address: int
    rows: int
    columns: int
    ld: int

    @property
    def raw(self) -> NDArray[Any]:
        """What is stored; a view of memory."""
        if not self.rows or not self.columns:
            return np.zeros((self.rows, self.columns), self.kind.stored)
        if self.ld < self.rows:
            raise InputError(f"leading dimension {self.ld} of a matrix of {self.rows} rows")
        flat = self.memory.array(self.address, self.ld * (self.columns - 1) + self.rows, self.kind.stored)
        step = self.kind.bytes
        return np.lib.stride_tricks.as_strided(flat, (self.rows, self.columns), (step, step * self.ld))

    @property
    def values(self) -> NDArray[Any]:
        """Its numbers."""
        return loaded(self.raw, self.kind)

    def put(self, values: NDArray[Any]) -> None:
        """Store numbers."""
        self.raw[...] = stored(values, self.kind)

    @property
    def span(self) -> Span:
        """The memory that it needs."""
        return Span(self.address, float(self.rows * self.columns * self.kind.bytes))


@dataclass(frozen=True, slots=True)
class Vector:
    """Numbers ``step`` apart; from the last one on where that is negative."""

    memory: Memory
    kind: Number
    address: int
    count: int
    step: int = 1

    @property
    def raw(self) -> NDArray[Any]:
        """What is stored; a view of memory."""
        if self.count <= 0:
            return np.zeros(0, self.kind.stored)
        whole = self.memory.array(self.address, 1 + (self.count - 1) * abs(self.step), self.kind.stored)
        return whole[:: self.step] if self.step else whole

    @property
    def values(self) -> NDArray[Any]:
        """Its numbers."""
        return loaded(self.raw, self.kind)

    def put(self, values: NDArray[Any]) -> None:
        """Store numbers."""
        self.raw[...] = stored(values, self.kind)

    @property
    def span(self) -> Span:
        """The memory that it needs."""
        return Span(self.address, float(self.count * self.kind.bytes))


def transposed(values: NDArray[Any], how: int) -> NDArray[Any]:
    """Return a matrix as ``cublasOperation_t`` says: 0 as it is, 1 transposed, 2 its adjoint."""
    if how == 0:
        return values
    return values.T if how == 1 else values.conj().T
