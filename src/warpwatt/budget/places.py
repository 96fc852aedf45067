"""On which line of a TOML text a key stands: the reader of the standard library does not say.

Every table is read again and again, a line longer each time: a key stands on the line with which it first
appears. What begins with a header can be read without what stands above it, so tables are read apart.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from warpwatt.core.toml import parse_toml, read_text

Key = tuple["str | int", ...]
"""Path of a key: names of tables, positions in arrays of tables."""


@dataclass(frozen=True)
class Document:
    """A TOML text, read, that knows its lines."""

    file: Path
    text: str
    data: dict[str, Any]

    @classmethod
    def read(cls, file: Path) -> Document:
        """Read a file.

        Raises
        ------
        InputError
            If it cannot be read or is not TOML; names file and line.
        """
        text = read_text(file)
        return cls(file, text, parse_toml(text, file))

    @cached_property
    def lines(self) -> dict[Key, int]:
        r"""Key to the line, from 1, on which it begins.

        >>> from pathlib import Path
        >>> text = "a = 1\n[[b]]\nc = [\n  2]\n[[b]]\nd.e = 3\n[b.f]\ng = 4\n"
        >>> found = Document(Path("x.toml"), text, tomllib.loads(text)).lines
        >>> found["b", 0, "c"], found["b", 1], found["b", 1, "d", "e"], found["b", 1, "f", "g"]
        (3, 5, 6, 8)
        """
        lines = self.text.split("\n")
        found: dict[Key, int] = {}
        tables: dict[str, int] = {}
        start = done = 0  # first line of the table, and of what is not read yet
        for end in range(1, len(lines) + 1):
            data = _readable(lines[start:end])
            if data is None:
                continue
            first = next((n for n in range(done, end) if _says(lines[n])), done)
            if lines[first].lstrip().startswith("[[") and first == start:
                name = next(iter(data), "")
                tables[name] = tables.get(name, -1) + 1
            for key in _keys(data):
                found.setdefault(_numbered(key, tables), first + 1)
            done = end
            if end < len(lines) and lines[end].lstrip().startswith("["):
                start = end
        return found

    def line(self, key: Key) -> int | None:
        """Return the line on which a key begins, that of its table where it is not there."""
        return next((self.lines[key[:n]] for n in range(len(key), 0, -1) if key[:n] in self.lines), None)


def _readable(lines: Sequence[str]) -> dict[str, Any] | None:
    try:
        return tomllib.loads("\n".join(lines))
    except (ValueError, RecursionError):
        return None


def _says(line: str) -> bool:
    return bool(line.strip()) and not line.lstrip().startswith("#")


def _keys(value: object, path: Key = ()) -> Iterator[Key]:
    """Yield the paths of all that is in a value, without the positions in arrays of tables."""
    inner = value[0] if isinstance(value, list) and value and isinstance(value[0], dict) else value
    if path:
        yield path
    if isinstance(inner, dict):
        for name, item in inner.items():
            yield from _keys(item, (*path, name))


def _numbered(key: Key, tables: Mapping[str, int]) -> Key:
    """Return a path with the position of the table that its first name is an array of."""
    name = str(key[0])
    return (name, tables[name], *key[1:]) if name in tables else key
