"""Encodings of the instruction words of one architecture: how each word is printed, from a table.

A table has a line per encoding: the lowest twelve bits of its words in hexadecimal, and JSON::

    {"predicate": part, "opcode": part, "split": [condition...], "layouts": {outcome: [part...]},
     "unread": [mask, values]}

A part is a text or, where it depends on more than fields, ``[[condition...], {outcome: text}]``: outcomes of
conditions are written as 0 and 1, fields stand in the text in braces. The layout, a part for each operand,
follows from the outcome of the ``split`` conditions. An outcome that is missing is not known; nor is a word
that differs from all ``values`` in the bits of ``mask``, which nothing printed depends on.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any
from zlib import MAX_WBITS, decompress

from warpwatt.isa.sass.decoding.fields import read_condition, read_field

OPCODE = 0xFFF
"""The bits of a word that name its encoding."""
_GZIP = 16 + MAX_WBITS
"""zlib's name for the format of gzip, whose module takes longer to load."""
_HOLE = re.compile(r"\{([a-zA-Z]+\d[^{}]*)\}")
TABLES = {
    70: "sm_75", 72: "sm_75", 75: "sm_75", 80: "sm_86", 86: "sm_86", 87: "sm_86", 89: "sm_89", 90: "sm_90",
    100: "sm_100", 103: "sm_100", 120: "sm_120", 121: "sm_120",
}  # fmt: skip
"""Architecture -> its table. Volta's words are Turing's: nvdisasm 12.4 prints 67,666 different words of
225 programs for sm_70 as nvdisasm 13.5 does for sm_75, and no word but 12 P2R otherwise (branches apart)."""


@dataclass(frozen=True, slots=True)
class Text:
    """A text with holes; ``holes`` print from a word and its byte address what belongs there."""

    pattern: str
    holes: tuple[Callable[[int, int], str], ...]

    @classmethod
    def read(cls, text: str) -> Text:
        """Return the text of a spelling with fields in braces."""
        holes = tuple(read_field(m[1]).text for m in _HOLE.finditer(text))
        return cls(_HOLE.sub("%s", text.replace("%", "%%")), holes)

    def of(self, word: int, address: int) -> str:
        """Return the text for one word."""
        return self.pattern % tuple([hole(word, address) for hole in self.holes])


@dataclass(frozen=True, slots=True)
class Form:
    """All words of an encoding that are printed alike but for what their fields hold."""

    predicate: Text
    opcode: str
    operands: Text


class Encoding:
    """The words with the same lowest twelve bits; see the module for the ``row`` of the table."""

    def __init__(self, row: Mapping[str, Any]) -> None:
        self._row = row
        mask, values = row["unread"]
        self._unread = int(mask, 16)
        self._values = frozenset(int(value, 16) for value in values)
        layouts: Mapping[str, list[Any]] = row["layouts"]
        parts = [row["predicate"], row["opcode"], *(part for layout in layouts.values() for part in layout)]
        spellings = {s for part in parts if not isinstance(part, str) for s in part[0]} | {*row["split"]}
        self._bits = sum(1 << int(s) for s in spellings if s.isdigit())
        self._tests = tuple(read_condition(s).holds for s in sorted(spellings) if not s.isdigit())
        self._forms: dict[tuple[int, ...], Form | None] = {}

    def form(self, word: int) -> Form | None:
        """Return how a word is printed; None where that is not known."""
        if word & self._unread not in self._values:
            return None
        key = (word & self._bits, *[test(word) for test in self._tests])
        try:
            return self._forms[key]
        except KeyError:
            return self._forms.setdefault(key, self._find(word))

    def _find(self, word: int) -> Form | None:
        layout = self._row["layouts"].get(outcome(self._row["split"], word))
        if layout is None:
            return None
        texts = [choose(part, word) for part in (self._row["predicate"], self._row["opcode"], *layout)]
        known = [text for text in texts if text is not None]
        if len(known) < len(texts):
            return None
        predicate, opcode, *operands = known
        return Form(Text.read(predicate), opcode, Text.read(",".join(operands)))


def outcome(conditions: list[str], word: int) -> str:
    """Return the outcomes of conditions as a string of 0 and 1."""
    return "".join("01"[read_condition(c).holds(word)] for c in conditions)


def choose(part: Any, word: int) -> str | None:
    """Return the text of a part for a word, or None."""
    return part if isinstance(part, str) else part[1].get(outcome(part[0], word))


class Encodings:
    """The encodings of an architecture, each read from its line of the table when it is first met."""

    def __init__(self, table: str) -> None:
        self._lines = {int(line[:3], 16): line[4:] for line in table.splitlines()}
        self._read: dict[int, Encoding | None] = {}

    def form(self, word: int) -> Form | None:
        """Return how a word is printed; None where that is not known."""
        number = word & OPCODE
        if number not in self._read:
            line = self._lines.get(number)
            self._read[number] = Encoding(json.loads(line)) if line else None
        encoding = self._read[number]
        return encoding.form(word) if encoding else None


@cache
def encodings(sm: int) -> Encodings | None:
    """Return the encodings of architecture ``sm``, such as 90; None where there is no table for it.

    >>> encodings(90).form(0x000FE20008000F00_0000000500007C02).opcode
    'MOV'
    """
    file = files("warpwatt.isa.sass.decoding") / "tables" / f"{TABLES.get(sm)}.jsonl.gz"
    return Encodings(decompress(file.read_bytes(), _GZIP).decode()) if file.is_file() else None
