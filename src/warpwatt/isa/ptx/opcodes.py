"""What an opcode does, from ``opcodes.toml`` and the modifiers behind its name."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from warpwatt.core.program import Access, Flow, MemoryAccess, Space, Unit

_TYPE = re.compile(
    r"(?:b|u|s|i)(?:1|2|4|8|16|32|64|128)|f(?:16|32|64)(?:x2)?|bf16(?:x2)?|tf32|pred"
    r"|e4m3(?:x[24])?|e5m2(?:x[24])?|e2m3(?:x[24])?|e3m2(?:x[24])?|e2m1(?:x[24])?|ue8m0(?:x2)?|ue4m3",
    re.ASCII,
)
_SHAPE = re.compile(r"m(\d+)n(\d+)(?:k(\d+))?", re.ASCII)
_SPACES = {space.value: space for space in Space}
_MOST_WORDS = 6
"""Words in the longest key of the table."""


@dataclass(frozen=True, slots=True)
class Meaning:
    """What an opcode with its modifiers does, operands aside.

    Attributes
    ----------
    unit, throughput_class, flops
        As in :class:`~warpwatt.core.program.Instruction`; ``flops`` per thread.
    writes
        Leading operands that are written.
    updates, reads_carry, writes_carry
        Whether the destination is read too, and what happens to the carry flag.
    memory
        What it touches, or None; 0 bytes where they stand in an operand or are unknown.
    bytes_operand
        Operand that holds the number of bytes, or None.
    flow
        Where control goes.
    kind
        Of a matrix multiply-add whose shape stands in a descriptor operand (``tcgen05.mma``): its ``.kind``.
    known
        False if the table lacks the opcode.
    """

    unit: Unit = Unit.MOVE
    throughput_class: str = ""
    flops: float = 0.0
    writes: int = 1
    updates: bool = False
    reads_carry: bool = False
    writes_carry: bool = False
    memory: MemoryAccess | None = None
    bytes_operand: int | None = None
    flow: Flow = Flow.NEXT
    kind: str = ""
    known: bool = True


@cache
def _table() -> dict[str, Any]:
    """Return the opcode table as it stands in the file."""
    return tomllib.loads(Path(__file__).with_name("opcodes.toml").read_text(encoding="utf-8"))


@lru_cache(maxsize=1 << 16)
def meaning(opcode: str) -> Meaning:
    """Return what ``opcode`` does; an opcode the table lacks gets defaults and ``known=False``.

    >>> meaning("fma.rn.f32").flops, meaning("ld.global.v4.f32").memory.bytes, meaning("frob.x").known
    (2.0, 16, False)
    """
    words = opcode.split(".")
    row = _row(words)
    if row is None:
        return Meaning(known=False)
    types = [word for word in words[1:] if _TYPE.fullmatch(word)]
    unit, throughput_class = _kind(row, words, types)
    memory, operand = None, None
    if "memory" in row:
        size, operand = _bytes(row, words, types)
        memory = MemoryAccess(_space(row, words), Access(row["memory"]), size)
    return Meaning(
        unit=unit,
        throughput_class=throughput_class,
        flops=_flops(row, words, types),
        writes=row.get("writes", 1),
        updates=row.get("updates", False),
        reads_carry=row.get("carry", False),
        writes_carry="cc" in words,
        memory=memory,
        bytes_operand=operand,
        flow=Flow(row.get("flow", "next")),
        kind=_deciding(row, words, types) if row.get("type") == "kind" else "",
    )


def descriptor_operations(kind: str, descriptor: int) -> float:
    """Return the multiply and add operations of one ``tcgen05.mma`` by its instruction descriptor.

    >>> descriptor_operations("f16", 128 // 16 << 24 | 256 // 8 << 17) == 2 * 128 * 256 * 16
    True
    """
    row: dict[str, int] | None = _table()["descriptor"].get(kind)
    if row is None:
        return 0.0
    n = (descriptor >> 17 & 0x3F) * 8
    m = (descriptor >> row["m_bit"] & (1 << row["m_bits"]) - 1) * row["m_unit"]
    return 2.0 * m * n * row["k"]


def _row(words: list[str]) -> dict[str, Any] | None:
    """Return the row of the longest prefix in the table, of its sparse form if a word says ``sp``."""
    table: dict[str, dict[str, Any]] = _table()["opcode"]
    words = [word.partition("::")[0] for word in words]
    for length in range(min(len(words), _MOST_WORDS), 0, -1):
        prefix = ".".join(words[:length])
        if prefix in table:
            return table.get(f"{prefix}.sp", table[prefix]) if "sp" in words else table[prefix]
    return None


def _kind(row: dict[str, Any], words: list[str], types: list[str]) -> tuple[Unit, str]:
    """Return unit and throughput class by the type that decides."""
    kind = _table()["kind"][row["kind"]]
    if row["kind"] == "convert":
        return _conversion(types)
    unit, throughput_class = kind.get(_deciding(row, words, types), kind["default"])
    return Unit(unit), throughput_class


def _deciding(row: dict[str, Any], words: list[str], types: list[str]) -> str:
    """Return the type that decides, without its packing (``f16x2`` counts as ``f16``)."""
    rule = row.get("type", "last")
    if rule == "kind":
        kinds = [word.partition("::")[2] for word in words if word.startswith("kind::")]
        return kinds[0] if kinds else ""
    if not types:
        return ""
    if rule == "second":  # matrices: types of D, A, B, C; wmma of f16 names only D and C
        return types[1] if len(types) > 2 else "f16"
    return _scalar(types[0 if rule == "first" else -1])


def _scalar(type_: str) -> str:
    """Return the element type of a packed type."""
    return type_.partition("x")[0]


def _packed(type_: str) -> int:
    """Return the number of elements in a packed type."""
    return int(type_.partition("x")[2] or 1)


def _bits(type_: str) -> int:
    """Return the width of a type in bits, elements of a packed type together.

    >>> _bits("f16x2"), _bits("u8"), _bits("e4m3x2"), _bits("tf32"), _bits("pred")
    (32, 8, 16, 32, 1)
    """
    scalar = _scalar(type_)
    if scalar == "pred":
        return 1
    width = 8 if scalar[0] == "e" or scalar.startswith("ue") else int(scalar.lstrip("bfustie"))
    return width * _packed(type_)


def _conversion(types: list[str]) -> tuple[Unit, str]:
    """Return unit and class of ``cvt.to.from``: 64-bit, narrow integer to 32-bit, or other."""
    if any(_bits(t) == 64 for t in types):
        floating = any(t[0] == "f" for t in types)
        return (Unit.SFU if floating else Unit.INT), "cvt_64"
    integers = all(t[0] in "sub" and t != "bf16" and not t.startswith("bf16") for t in types)
    if not integers:
        return Unit.SFU, "cvt_other"
    narrow = len(types) == 2 and _bits(types[0]) == 32 and _bits(types[1]) < 32
    return Unit.INT, "cvt_8_16_to_32" if narrow else "cvt_other"


def _flops(row: dict[str, Any], words: list[str], types: list[str]) -> float:
    """Return floating-point (or, of matrix instructions, multiply and add) operations per thread."""
    if "tensor" in row:
        m, n, k = _extents(words)
        return float(2 * m * n * k * row.get("scale", 1.0) / row["tensor"])
    deciding = types[-1] if types else ""
    if not deciding or (deciding[0] != "f" and not deciding.startswith("bf16")):
        return 0.0
    return float(row.get("flops", 0) * _packed(deciding))


def _extents(words: list[str]) -> tuple[int, int, int]:
    """Return M, N and K of a shape such as ``m16n8k16``; zeros if no word is one."""
    for word in words:
        shape = _SHAPE.fullmatch(word)
        if shape is not None and shape[3]:
            return int(shape[1]), int(shape[2]), int(shape[3])
    return 0, 0, 0


def _space(row: dict[str, Any], words: list[str]) -> Space:
    """Return the state space; of a copy, the side that is not shared memory."""
    named = [_SPACES[name] for word in words[1:] if (name := word.partition("::")[0]) in _SPACES]
    if row.get("memory") in {"copy", "reduction"} and Space.GLOBAL in named:
        return Space.GLOBAL
    if named and "space" not in row:
        return named[0]
    return Space(row["space"]) if "space" in row else Space.GENERIC


def _bytes(row: dict[str, Any], words: list[str], types: list[str]) -> tuple[int, int | None]:
    """Return bytes per thread and the operand that holds them, if one does."""
    rule = row.get("bytes", "type")
    if isinstance(rule, int):
        return rule, None
    if rule.startswith("operand:"):
        return 0, int(rule.partition(":")[2])
    return _RULES[rule](words, types), None


def _typed_bytes(words: list[str], types: list[str]) -> int:
    """Type times vector: ``ld.v2.f64`` moves 16 bytes. ``tex`` and ``tld4`` name the result's type first."""
    if not types:
        return 0
    texture = words[0] in {"tex", "tld4"}
    vector = next((int(w[1:]) for w in words if w in {"v2", "v4", "v8"}), 1)
    return max(1, _bits(types[0 if texture else -1]) // 8) * vector


def _matrix_bytes(words: list[str], types: list[str]) -> int:
    """``ldmatrix``, ``stmatrix``: rows times columns times matrices, shared by 32 threads.

    Elements of 4 and 6 bits take 8 bits in shared memory, padding included.
    """
    shape = next((m for word in words if (m := _SHAPE.fullmatch(word))), None)
    number = next((int(word[1:]) for word in words if word in {"x1", "x2", "x4"}), 1)
    if shape is None:
        return 0
    bits = 16 if "b16" in types else 8
    return int(shape[1]) * int(shape[2]) * number * bits // 8 // 32


def _wmma_bytes(words: list[str], types: list[str]) -> int:
    """``wmma.load.a`` and its like: one matrix, shared by 32 threads."""
    if not types:
        return 0
    m, n, k = _extents(words)
    elements = {"a": m * k, "b": k * n}.get(words[2], m * n)
    return elements * _bits(types[-1]) // 8 // 32


_LANES = re.compile(r"(\d+)x(\d+)b(?:x(\d))?", re.ASCII)


def _tensor_memory_bytes(words: list[str], types: list[str]) -> int:  # noqa: ARG001 - one signature for all rules
    """``tcgen05.ld.32x32b.x4``: lanes times bits times repeats, shared by 32 threads."""
    shape = next((m for word in words if (m := _LANES.fullmatch(word))), None)
    repeats = next((int(word[1:]) for word in words if re.fullmatch(r"x\d+", word)), 1)
    return 0 if shape is None else int(shape[1]) * int(shape[2]) * int(shape[3] or 1) * repeats // 8 // 32


def _tensor_copy_bytes(words: list[str], types: list[str]) -> int:  # noqa: ARG001 - one signature for all rules
    """``tcgen05.cp.128x256b``: lanes times bits, all moved on behalf of the one issuing thread."""
    shape = next((m for word in words if (m := _LANES.fullmatch(word))), None)
    return 0 if shape is None else int(shape[1]) * int(shape[2]) // 8


_RULES = {
    "type": _typed_bytes,
    "matrix": _matrix_bytes,
    "wmma": _wmma_bytes,
    "tensor_memory": _tensor_memory_bytes,
    "tensor_copy": _tensor_copy_bytes,
}
