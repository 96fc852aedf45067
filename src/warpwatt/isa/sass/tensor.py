"""Shapes of tensor instructions: registers per fragment and operations per thread, from the opcode alone."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

_PACKED_SHAPE = re.compile(r"(16|8)8(\d+)$")
"""``16816`` is 16 x 8 x 16: all shapes of this spelling have n = 8."""
_SPELT_SHAPE = re.compile(r"(\d+)x(\d+)x(\d+)$")
_INPUT_BITS = {
    "BMMA": 1, "DMMA": 64, "HMMA": 16, "IMMA": 8, "OMMA": 4, "QMMA": 8,
    "BGMMA": 1, "HGMMA": 16, "IGMMA": 8, "QGMMA": 8,
}  # fmt: skip
_NARROW_INPUTS = {"S4": 4, "U4": 4, "TF32": 32}
_GROUP_THREADS = 128
_REGISTER_BITS = 32


@dataclass(frozen=True, slots=True)
class Tile:
    """D = A x B + C, m x n x k, spread over ``threads``: 32-bit registers per thread of each fragment."""

    threads: int
    flops: float
    d: int
    a: int
    b: int


@lru_cache(maxsize=512)
def tile(opcode: str) -> Tile | None:
    """Return the tile of a tensor instruction, or None where the opcode names no shape we know.

    >>> tile("HMMA.16816.F32")
    Tile(threads=32, flops=128.0, d=4, a=4, b=2)
    >>> tile("HGMMA.64x128x16.F32").d
    64
    """
    base, *modifiers = opcode.split(".")
    shape = next((s for s in map(_shape, modifiers) if s), None)
    bits = _INPUT_BITS.get(base)
    if shape is None or bits is None:
        return None
    bits = next((_NARROW_INPUTS[m] for m in modifiers if m in _NARROW_INPUTS), bits)
    m, n, k = shape
    threads = _GROUP_THREADS if base.endswith("GMMA") else 32
    k_of_a = k // 2 if "SP" in modifiers else k
    lanes = threads * _REGISTER_BITS
    return Tile(
        threads,
        2 * m * n * k / threads,
        max(m * n * _result_bits(base, modifiers) // lanes, 1),
        max(m * k_of_a * bits // lanes, 1),
        max(n * k * bits // lanes, 1),
    )


def _shape(modifier: str) -> tuple[int, int, int] | None:
    """Return (m, n, k) if the modifier is a shape."""
    if found := _PACKED_SHAPE.match(modifier):
        return int(found[1]), 8, int(found[2])
    if found := _SPELT_SHAPE.match(modifier):
        return int(found[1]), int(found[2]), int(found[3])
    return None


def _result_bits(base: str, modifiers: list[str]) -> int:
    """Return the bits of an accumulator element: fp64, fp16 where it is named first, else 32."""
    if base == "DMMA":
        return 64
    types = [m for m in modifiers if m in ("F16", "F32")]
    return 16 if types[:1] == ["F16"] else 32
