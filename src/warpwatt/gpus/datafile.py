"""Reading the data files: TOML in, typed and cited values out, every mistake with its file and line.

A number is written ``sm_count = { value = 132, source = "techpowerup" }``; the file's ``[sources]`` table
says what ``techpowerup`` is (``citation``) and how far to trust it (``kind``). Files of users may write
plain ``sm_count = 132``: then the file itself is the source.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from warpwatt.core.errors import ParseError
from warpwatt.core.toml import parse_toml, read_text

KINDS = frozenset(
    {
        "documented",  # read in the vendor's document
        "database",  # read in a third-party collection
        "measured",  # measured by the authors cited
        "compiler",  # read out of the vendor's compiler
        "derived",  # computed from other rows
        "from_memory",  # recalled, not checked against the document
        "simulator",  # tuned for a simulator
        "model_parameter",  # tuned for a model
        "user",  # given in a user's own file
    }
)
LARGEST = 1e30
"""No quantity of a GPU is as large, in any unit."""


@dataclass(frozen=True, slots=True)
class Source:
    """Where a number comes from; ``kind`` is one of :data:`KINDS`."""

    kind: str
    citation: str

    def __str__(self) -> str:
        return f"{self.citation} [{self.kind.replace('_', ' ')}]"


@dataclass(frozen=True, slots=True)
class Cited:
    """A value as written in a data file, with its source and the place it was read at."""

    value: Any
    source: Source
    file: DataFile
    key: str
    note: str = ""

    def number(self) -> float:
        """Return a positive finite number.

        Raises
        ------
        ParseError
            If it is anything else.
        """
        value = self.value
        if isinstance(value, bool) or not isinstance(value, int | float):
            self.file.fail(f"{self.key} is {value!r}, not a number", self.key)
        if not 0 < value < LARGEST:
            self.file.fail(f"{self.key} is {value}, not a positive number", self.key)
        return value

    def whole(self, *, least: int = 1) -> int:
        """Return a whole number that is at least ``least``.

        Raises
        ------
        ParseError
            If it is anything else.
        """
        if isinstance(self.value, bool) or not isinstance(self.value, int):
            self.file.fail(f"{self.key} is {self.value!r}, not a whole number", self.key)
        if self.value < least:
            self.file.fail(f"{self.key} is {self.value}, below {least}", self.key)
        return self.value

    def text(self) -> str:
        """Return a string, or raise ``ParseError``."""
        if not isinstance(self.value, str):
            self.file.fail(f"{self.key} is {self.value!r}, not a string", self.key)
        return self.value

    def boolean(self) -> bool:
        """Return a boolean, or raise ``ParseError``."""
        if not isinstance(self.value, bool):
            self.file.fail(f"{self.key} is {self.value!r}, not true or false", self.key)
        return self.value


class DataFile:
    """One parsed TOML file.

    Parameters
    ----------
    path
        The file.
    user
        Whether it is a user's: then plain numbers are cited as the file itself.

    Raises
    ------
    ParseError
        If the file cannot be read, is not UTF-8 or is not TOML.
    """

    def __init__(self, path: Path, *, user: bool = False) -> None:
        self.path = path
        self.user = user
        self._text = read_text(path)
        self.data: Mapping[str, Any] = parse_toml(self._text, path)

    def fail(self, message: str, key: str = "", *, hint: str = "") -> NoReturn:
        """Raise a ``ParseError`` that points at the first line where ``key`` is defined."""
        raise ParseError(message, file=self.path, line=self._line(key), hint=hint)

    def _line(self, key: str) -> int | None:
        found = (
            re.search(rf"^\s*\[*\s*\"?{re.escape(key)}\"?\s*[=\].]", self._text, re.MULTILINE)
            if key
            else None
        )
        return None if found is None else self._text.count("\n", 0, found.end()) + 1

    def only(self, known: Iterable[str]) -> None:
        """Raise ``ParseError`` if the file has a top-level key that is not in ``known`` (a misspelling)."""
        known = tuple(known)
        for key in self.data:
            if key not in known:
                self.fail(f"unknown key {key!r}", key, hint=f"known keys are {', '.join(known)}")

    def text(self, key: str, default: str | None = None) -> str:
        """Return the top-level string ``key``; without a default it must be there."""
        value = self.data.get(key, default)
        if value is None:
            self.fail(f"{key!r} is missing", hint=f'add {key} = "..." at the top of the file')
        if not isinstance(value, str):
            self.fail(f"{key} is {value!r}, not a string", key)
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        """Return the top-level list of strings ``key``, empty if absent."""
        value = self.data.get(key, [])
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            self.fail(f"{key} is not a list of strings", key)
        return tuple(value)

    def table(self, key: str) -> Mapping[str, Any]:
        """Return the top-level table ``key``, empty if absent."""
        value = self.data.get(key, {})
        if not isinstance(value, dict):
            self.fail(f"{key} is not a table", key, hint=f"write [{key}] on a line of its own")
        return value

    def tables(self, key: str) -> tuple[Mapping[str, Any], ...]:
        """Return the array of tables ``key``, empty if absent."""
        value = self.data.get(key, [])
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
            self.fail(f"{key} is not an array of tables", key, hint=f"write [[{key}]]")
        return tuple(value)

    def source(self, key: object, cited_by: str = "source") -> Source:
        """Return the source called ``key`` in ``[sources]``; mistakes are reported where it is cited."""
        entry = self.table("sources").get(key) if isinstance(key, str) else None
        if isinstance(entry, str):
            return Source("user" if self.user else "documented", entry)
        if not isinstance(entry, dict) or not isinstance(entry.get("citation"), str):
            self.fail(f"no source called {key!r}", cited_by, hint="define it in [sources] with a citation")
        kind = entry.get("kind", "user")
        if kind not in KINDS:
            self.fail(
                f"source {key} is of kind {kind!r}", str(key), hint=f"kinds are {', '.join(sorted(KINDS))}"
            )
        return Source(kind, entry["citation"])

    def cited(self, table: str) -> dict[str, Cited]:
        """Return the values of ``[table]`` with their sources.

        Raises
        ------
        ParseError
            If a value has no source, or one that ``[sources]`` does not define.
        """
        return {key: self.cite(key, entry) for key, entry in self.table(table).items()}

    def cite(self, key: str, entry: object) -> Cited:
        """Return one entry, ``{ value = ..., source = ... }`` or plain, with its source."""
        if isinstance(entry, dict):
            if "value" not in entry:
                self.fail(f"{key} has no value", key, hint=f'write {key} = {{ value = ..., source = "..." }}')
            note = entry.get("note", "")
            if not isinstance(note, str):
                self.fail(f"the note of {key} is not a string", key)
            if "source" in entry:
                return Cited(entry["value"], self.source(entry["source"], key), self, key, note)
            entry = entry["value"]
        if not self.user:
            self.fail(f"{key} has no source", key, hint=f'write {key} = {{ value = ..., source = "..." }}')
        return Cited(entry, Source("user", str(self.path)), self, key)
