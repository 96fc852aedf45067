"""The scalar types of C that a loop nest computes with, on the usual 64-bit data model (LP64)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from warpwatt.core.arguments import DType


@dataclass(frozen=True, slots=True)
class CType:
    """A scalar type: how C spells it, what a buffer of it holds, its conversion rank."""

    spelling: str
    dtype: DType
    rank: int

    @property
    def size(self) -> int:
        """Bytes."""
        return self.dtype.size

    @property
    def floating(self) -> bool:
        """Whether it is float or double."""
        return self.dtype in (DType.F32, DType.F64)

    @property
    def unsigned(self) -> bool:
        """Whether it is an unsigned integer."""
        return self.dtype.value.startswith("u")


CHAR = CType("char", DType.I8, 1)
SIGNED_CHAR = CType("signed char", DType.I8, 1)
UNSIGNED_CHAR = CType("unsigned char", DType.U8, 1)
SHORT = CType("short", DType.I16, 2)
UNSIGNED_SHORT = CType("unsigned short", DType.U16, 2)
INT = CType("int", DType.I32, 3)
UNSIGNED = CType("unsigned int", DType.U32, 3)
LONG = CType("long", DType.I64, 4)
UNSIGNED_LONG = CType("unsigned long", DType.U64, 4)
LONG_LONG = CType("long long", DType.I64, 5)
UNSIGNED_LONG_LONG = CType("unsigned long long", DType.U64, 5)
FLOAT = CType("float", DType.F32, 6)
DOUBLE = CType("double", DType.F64, 7)

_PLAIN = (CHAR, SHORT, INT, LONG, LONG_LONG, FLOAT, DOUBLE)
_UNSIGNED = {1: UNSIGNED_CHAR, 2: UNSIGNED_SHORT, 3: UNSIGNED, 4: UNSIGNED_LONG, 5: UNSIGNED_LONG_LONG}
TYPEDEFS: Mapping[str, CType] = {
    "size_t": UNSIGNED_LONG, "ptrdiff_t": LONG, "ssize_t": LONG, "intptr_t": LONG, "uintptr_t": UNSIGNED_LONG,
    "int8_t": SIGNED_CHAR, "uint8_t": UNSIGNED_CHAR, "int16_t": SHORT, "uint16_t": UNSIGNED_SHORT,
    "int32_t": INT, "uint32_t": UNSIGNED, "int64_t": LONG, "uint64_t": UNSIGNED_LONG,
}  # fmt: skip
"""Types of standard headers by name."""


def of_words(words: list[str]) -> CType | None:
    """Return the type that specifiers mean in any order, None for none we know (void, structures, complex).

    >>> of_words(["unsigned", "long", "int"]).spelling, of_words(["void"])
    ('unsigned long', None)
    """
    known = {"signed", "unsigned", "char", "short", "int", "long", "float", "double"}
    if not words or set(words) - known or (words.count("long") and "double" in words):
        return None
    if "signed" in words and "char" in words:
        return SIGNED_CHAR
    base = _base(words)
    return _UNSIGNED[base.rank] if "unsigned" in words else base


def _base(words: list[str]) -> CType:
    if words.count("long") == 2:
        return LONG_LONG
    for kind in (CHAR, SHORT, LONG, FLOAT, DOUBLE):
        if kind.spelling in words:
            return kind
    return INT


def common(left: CType, right: CType) -> CType:
    """Return the type two operands are converted to (ISO C, usual arithmetic conversions).

    >>> common(UNSIGNED_CHAR, SHORT).spelling, common(UNSIGNED, INT).spelling, common(FLOAT, LONG).spelling
    ('int', 'unsigned int', 'float')
    """
    left, right = promoted(left), promoted(right)
    higher = max(left, right, key=lambda t: t.rank)
    lower = right if higher is left else left
    if higher.floating or higher.unsigned or not lower.unsigned or lower.size < higher.size:
        return higher
    return _UNSIGNED[higher.rank]


def promoted(kind: CType) -> CType:
    """Return the type after integer promotion."""
    return INT if kind.rank < INT.rank else kind
