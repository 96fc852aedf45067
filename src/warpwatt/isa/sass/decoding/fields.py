"""Fields of an instruction word and conditions on them: where an operand's bits lie, how it is printed."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache

_FIELD = re.compile(r"([a-zA-Z]+?)(\d+\.\d+(?:\^\d+)?(?:\+\d+\.\d+(?:\^\d+)?)*)(s?)$")
NO_SHIFTS = (1 << 16, 1 << 31)
"""Powers of two that :class:`Condition` ``shift`` leaves out."""
_LARGEST_PLAIN = 1e9
"""Floating-point literals from here on are printed with an exponent."""


@dataclass(frozen=True)
class Field:
    """One operand of an encoding: ``kind`` and the runs of bits that hold its number, ``signed`` or not.

    Kinds: the name of a register file (``R``, ``UR``, ``P``, ``UP``, ``B``, ``SB``); ``x`` hexadecimal; ``o``
    an offset behind a plus sign; ``t`` the target of a jump, relative to the next instruction; ``f`` and
    ``d`` FP32 and the upper half of FP64; ``h1``, ``h0`` (FP16) and ``b1``, ``b0`` (BF16) the halves of a
    packed literal. A run is (first bit, bits, power of two of its lowest bit).
    """

    kind: str
    runs: tuple[tuple[int, int, int], ...]
    signed: bool = False

    @property
    def spelling(self) -> str:
        """The field as tables write it, such as ``R16.8`` or ``t16.8^2+34.48^10s``."""
        runs = "+".join(
            f"{first}.{bits}" + (f"^{power}" if power else "") for first, bits, power in self.runs
        )
        return self.kind + runs + "s" * self.signed

    @cached_property
    def bits(self) -> tuple[int, ...]:
        """Every bit of the word that belongs to the field."""
        return tuple(first + i for first, bits, _ in self.runs for i in range(bits))

    @cached_property
    def _top(self) -> int:
        """The power of two above the field's largest number."""
        return 1 << max(power + bits for _, bits, power in self.runs)

    @cached_property
    def largest(self) -> int:
        """The number that all ones are."""
        return sum((1 << bits) - 1 << power for _, bits, power in self.runs)

    def number(self, word: int) -> int:
        """Return the unsigned number in a word."""
        return sum((word >> first & (1 << bits) - 1) << power for first, bits, power in self.runs)

    @cached_property
    def text(self) -> Callable[[int, int], str]:
        """The function from (word, its byte address) to the operand's text."""
        printers: dict[str, Callable[[int, int], str]] = {
            "x": lambda word, _: hex(self._value(word)),
            "o": lambda word, _: "+" + hex(self._value(word)),
            "t": lambda word, at: hex(at + 16 + self._value(word)),
        }
        if self.kind in _LITERALS:
            layout = _LITERALS[self.kind]
            return lambda word, _: layout.text(self.number(word))
        return printers.get(self.kind) or self._register_name()

    def _value(self, word: int) -> int:
        """Return the number, negative where the field is signed and its top bit set."""
        value = self.number(word)
        return value - self._top if self.signed and value >= self._top >> 1 else value

    def _register_name(self) -> Callable[[int, int], str]:
        """Return what prints a register's name: all ones are the zero register or the true predicate."""
        names = [f"{self.kind}{i}" for i in range(self.largest + 1)]
        if self.kind in _LAST:
            names[-1] = _LAST[self.kind]
        if len(self.runs) == 1:
            first, mask = self.runs[0][0], self.largest
            return lambda word, _: names[word >> first & mask]
        return lambda word, _: names[self.number(word)]


_LAST = {"R": "RZ", "UR": "URZ", "P": "PT", "UP": "UPT"}
"""Names of the registers that hold zeros and of the predicates that are true."""


@dataclass(frozen=True, slots=True)
class _Literal:
    """A binary floating-point format: bits of exponent and significand, and how wider ones are unpacked."""

    exponent: int
    significand: int
    unpack: Callable[[int], float]

    def text(self, pattern: int) -> str:
        """Return a literal as nvdisasm prints it, with a blank behind what is not a number's digits."""
        sign = pattern >> self.exponent + self.significand
        exponent = pattern >> self.significand & (1 << self.exponent) - 1
        significand = pattern & (1 << self.significand) - 1
        if exponent == (1 << self.exponent) - 1:
            quiet = significand >> self.significand - 1
            return "+-"[sign] + ("QNAN " if quiet else "SNAN " if significand else "INF ")
        value = self.unpack(pattern)
        if not value:
            return "-0.0 " if sign else "0"
        return f"{value:.20e}" if abs(value) >= _LARGEST_PLAIN else f"{value:.20g}"


def _single(pattern: int) -> float:
    return float(struct.unpack("<f", struct.pack("<I", pattern))[0])


def _double(pattern: int) -> float:
    return float(struct.unpack("<d", struct.pack("<Q", pattern << 32))[0])


def _half(pattern: int) -> float:
    return float(struct.unpack("<e", struct.pack("<H", pattern))[0])


_FP16, _BF16 = _Literal(5, 10, _half), _Literal(8, 7, lambda pattern: _single(pattern << 16))
_LITERALS = {
    "f": _Literal(8, 23, _single),
    "d": _Literal(11, 20, _double),
    "h": _FP16,
    "b": _BF16,
}  # fmt: skip


@lru_cache(maxsize=4096)
def read_field(spelling: str) -> Field:
    """Return the field of a spelling.

    >>> read_field("R24.8").text(0x05000000, 0), read_field("o40.24s").text(0xFFFFF0 << 40, 0)
    ('R5', '+-0x10')
    >>> read_field("t34.48^2s").text(3 << 34, 0x100)
    '0x11c'
    >>> read_field("f32.32").text(0x3F800000 << 32, 0), read_field("h48.16").text(0xBC00 << 48, 0)
    ('1', '-1')
    """
    found = _FIELD.match(spelling)
    if found is None:
        raise ValueError(spelling)
    runs = []
    for run in found[2].split("+"):
        where, _, power = run.partition("^")
        first, _, bits = where.partition(".")
        runs.append((int(first), int(bits), int(power or 0)))
    return Field(found[1], tuple(runs), bool(found[3]))


@dataclass(frozen=True)
class Condition:
    """A property of a word that selects how it is printed: ``test`` of a field's number, or one bit of it."""

    field: Field
    test: str

    @cached_property
    def holds(self) -> Callable[[int], bool]:
        """The function that tells whether a word has the property."""
        number, largest = self.field.number, self.field.largest
        if self.test == "shift":  # nvdisasm calls a product with these a shift
            return lambda word: number(word).bit_count() == 1 and number(word) not in NO_SHIFTS
        wanted = largest if self.test == "max" else int(self.test)
        first, _, power = self.field.runs[0]
        if len(self.field.runs) == 1 and not power:
            return lambda word: word >> first & largest == wanted
        return lambda word: number(word) == wanted


@lru_cache(maxsize=4096)
def read_condition(spelling: str) -> Condition:
    """Return the condition of a spelling: a bit, or a field with ``=max``, ``=0``, ``=1`` or ``=shift``.

    >>> [read_condition(s).holds(0xFF0400) for s in ("10", "11", "16.8=max", "8.4=shift")]
    [True, False, True, True]
    """
    where, equals, test = spelling.partition("=")
    if not equals:
        return Condition(Field("x", ((int(where), 1, 0),)), "1")
    return Condition(read_field("x" + where), test)
