"""A PTX opcode taken apart: name, modifiers, types."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from warpwatt.emulate.ir import Type

_KIND = re.compile(
    r"(?:b|u|s)(?:1|2|4|8|16|32|64|128)|(?:u|s)(?:8x4|16x2)|f(?:16|32|64)(?:x2)?|bf16(?:x2)?|tf32|pred"
    r"|e[2-5]m[1-5](?:x[24])?|ue8m0(?:x2)?|ue4m3",
    re.ASCII,
)
_BITS = re.compile(r"[a-z]+(\d+)(?:x(\d+))?", re.ASCII)
_INTEGER = {1: Type.I1, 8: Type.I8, 16: Type.I16, 32: Type.I32, 64: Type.I64}
_FLOAT = {"f16": Type.F16, "f32": Type.F32, "f64": Type.F64}


@dataclass(frozen=True, slots=True)
class Opcode:
    """``name`` (up to the first dot), ``words`` (modifiers that are no types), ``kinds`` (types in order)."""

    text: str
    name: str
    words: tuple[str, ...]
    kinds: tuple[str, ...]

    def has(self, *words: str) -> bool:
        """Whether one of these modifiers is there."""
        return any(w in self.words for w in words)

    @property
    def kind(self) -> str:
        """The first type: that of the destination. ``b32`` where none is written."""
        return self.kinds[0] if self.kinds else "b32"

    @property
    def rounding(self) -> str:
        """Rounding of floating-point arithmetic; to nearest even where none is written."""
        return next((w for w in self.words if w in ("rn", "rz", "rm", "rp")), "rn")

    @property
    def ftz(self) -> bool:
        """Whether subnormal numbers are flushed to zero."""
        return "ftz" in self.words


@lru_cache(maxsize=4096)
def opcode(text: str) -> Opcode:
    """Take an opcode apart.

    >>> opcode("ld.global.v2.f32")
    Opcode(text='ld.global.v2.f32', name='ld', words=('global', 'v2'), kinds=('f32',))
    """
    name, *rest = text.split(".")
    kinds = tuple(r for r in rest if _KIND.fullmatch(r))
    return Opcode(text, name, tuple(r for r in rest if not _KIND.fullmatch(r)), kinds)


@lru_cache(maxsize=256)
def type_of(kind: str) -> Type:
    """Return the type values of a PTX type are computed in; packed and small floats are integers.

    >>> type_of("s64"), type_of("bf16"), type_of("f16x2")
    (<Type.I64: 'i64'>, <Type.I16: 'i16'>, <Type.I32: 'i32'>)
    """
    if kind == "pred":
        return Type.I1
    if kind in _FLOAT:
        return _FLOAT[kind]
    return _INTEGER.get(max(8, bits_of(kind)), Type.I64)


@lru_cache(maxsize=256)
def bits_of(kind: str) -> int:
    """Return the width of a PTX type in bits.

    >>> bits_of("f16x2"), bits_of("tf32"), bits_of("e4m3x2")
    (32, 32, 16)
    """
    if kind == "pred":
        return 1
    if kind[0] in "eu" and "m" in kind:
        each = {"e2m1": 4, "e2m3": 6, "e3m2": 6}.get(kind.partition("x")[0], 8)
        return each * int(kind.partition("x")[2] or 1)
    match = _BITS.fullmatch(kind)
    assert match is not None
    return int(match[1]) * int(match[2] or 1)


def signed(kind: str) -> bool:
    """Whether a PTX type is a signed integer."""
    return kind[0] == "s"


def is_float(kind: str) -> bool:
    """Whether a PTX type is one floating-point number that :class:`Type` knows."""
    return kind in _FLOAT
