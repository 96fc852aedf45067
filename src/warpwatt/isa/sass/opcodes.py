"""The table of SASS opcodes (``opcodes.toml``): unit, rate, memory, flow, register widths; tensor shapes."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files

from warpwatt.core.program import Access, Flow, Space, Unit

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
class Opcode:
    """What one entry of the table says; the fields are described at the head of ``opcodes.toml``."""

    unit: Unit
    throughput: str = ""
    flops: float = 0.0
    writes: str = "first"
    width: str | tuple[int, ...] = (1,)
    space: Space | None = None
    access: Access | None = None
    flow: Flow = Flow.NEXT


@cache
def table() -> dict[str, tuple[tuple[tuple[str, ...], Opcode], ...]]:
    """Return base opcode -> (modifiers, entry) of every entry for it, most modifiers first."""
    text = (files("warpwatt.isa.sass") / "opcodes.toml").read_text("utf-8")
    found: dict[str, list[tuple[tuple[str, ...], Opcode]]] = {}
    for row in tomllib.loads(text).values():
        entry = _entry(row)
        for name in row["opcodes"]:
            base, *modifiers = name.split(".")
            found.setdefault(base, []).append((tuple(modifiers), entry))
    return {base: tuple(sorted(rows, key=lambda r: -len(r[0]))) for base, rows in found.items()}


@lru_cache(maxsize=4096)
def lookup(opcode: str) -> Opcode | None:
    """Return the entry for a full opcode, or None if the table lacks it.

    >>> lookup("LDG.E.128.CONSTANT").space
    <Space.GLOBAL: 'global'>
    >>> lookup("HGMMA.64x128x8.F32.TF32").throughput
    'tensor_tf32_fma'
    >>> lookup("F2F.F32.F64").width, lookup("F2F.F64.F32").width
    ((1, 2), (2, 1))
    """
    base, *modifiers = opcode.split(".")
    return next((entry for wanted, entry in table().get(base, ()) if _contains(modifiers, wanted)), None)


def _contains(modifiers: list[str], wanted: tuple[str, ...]) -> bool:
    """Return whether ``wanted`` is a subsequence of ``modifiers``."""
    rest = iter(modifiers)
    return all(name in rest for name in wanted)


def _entry(row: dict[str, object]) -> Opcode:
    """Return one table of the TOML file as an :class:`Opcode`."""
    width = row.get("width", [1])
    return Opcode(
        unit=Unit(str(row["unit"])),
        throughput=str(row.get("throughput", "")),
        flops=float(str(row.get("flops", 0))),
        writes=str(row.get("writes", "first")),
        width=tuple(width) if isinstance(width, list) else str(width),
        space=Space(str(row["space"])) if "space" in row else None,
        access=Access(str(row["access"])) if "access" in row else None,
        flow=Flow(str(row.get("flow", "next"))),
    )


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
    if shape is None or base not in _INPUT_BITS:
        return None
    bits = input_bits(opcode)
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


def input_bits(opcode: str) -> int:
    """Return the bits of an element of A and B of a tensor instruction.

    >>> input_bits("IMMA.16832.S8.S8"), input_bits("IMMA.16864.S4.S4"), input_bits("BMMA.88128.AND.POPC")
    (8, 4, 1)
    """
    base, *modifiers = opcode.split(".")
    return next((_NARROW_INPUTS[m] for m in modifiers if m in _NARROW_INPUTS), _INPUT_BITS[base])


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
