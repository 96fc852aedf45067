"""A table of measurements as it stands in a CSV file: every cell that is not what it should be is counted."""

from __future__ import annotations

import csv
import hashlib
import io
import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from warpwatt.lab.learn.errors import DataError
from warpwatt.lab.learn.layout import recognise

if TYPE_CHECKING:
    from warpwatt.lab.learn.layout import Layout

ERROR_CELLS = frozenset({"#DIV/0!", "#VALUE!", "#REF!", "#N/A", "#NAME?", "#NUM!", "#NULL!"})
"""What spreadsheets write where a formula failed."""


@dataclass(frozen=True, slots=True)
class Row:
    """One launch: its line in the file (the header is line 1), its texts and its numbers.

    ``defects`` names, for every column without a number, what stands there instead.
    """

    line: int
    texts: Mapping[str, str]
    numbers: Mapping[str, float]
    defects: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Table:
    """All rows that hold data, and what was wrong with the file.

    ``findings`` counts ``(column, kind)``, a kind being a spreadsheet's error cell, ``NaN``, ``text`` or
    ``empty cell``; ``blank_rows`` and ``repeated_rows`` (equal in all but the serial number) are left out.
    """

    path: Path
    sha256: str
    layout: Layout
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    findings: Mapping[tuple[str, str], int]
    blank_rows: int
    repeated_rows: int

    def report(self, used: Collection[str]) -> tuple[str, ...]:
        """Return the defects as sentences: of each used column, and of all others in one."""
        found = sorted(self.findings.items(), key=lambda item: (-item[1], item[0]))
        lines = [f"{column}: {count} × {kind}" for (column, kind), count in found if column in used]
        others = list(dict.fromkeys(column for (column, _), _ in found if column not in used))
        if others:
            lines.append(f"cells without a number in columns not learned from: {', '.join(others)}")
        if self.repeated_rows:
            lines.insert(0, f"{self.repeated_rows} repeated rows left out")
        if self.blank_rows:
            lines.insert(0, f"{self.blank_rows} blank rows left out")
        return tuple(lines)


def read_table(path: Path, layout: Layout | None = None, *, keep_repeated: bool = False) -> Table:
    """Return a file's table; its layout is recognised by its columns where none is given.

    Rows that repeat another in every cell are left out, unless ``keep_repeated``: the published studies
    kept them.

    Raises
    ------
    DataError
        If the file cannot be read, is empty, or a row has more cells than the header.
    UnknownLayoutError
        If no known layout has these columns.
    """
    try:
        data = path.read_bytes()
        lines = list(csv.reader(io.StringIO(data.decode("utf-8-sig"), newline="")))
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", file=path) from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"not a readable CSV file: {error}", file=path) from error
    if not lines:
        raise DataError("the file is empty", file=path)
    layout = layout or recognise(lines[0], path)
    return _table(path, hashlib.sha256(data).hexdigest(), layout, lines, keep_repeated=keep_repeated)


def _table(
    path: Path, digest: str, layout: Layout, lines: Sequence[Sequence[str]], *, keep_repeated: bool
) -> Table:
    columns = tuple(layout.canonical(text) for text in lines[0])
    seen: set[tuple[str, ...]] = set()
    kept: list[tuple[int, tuple[str, ...]]] = []
    blank = repeated = 0
    for number, raw in enumerate(lines[1:], start=2):
        cells = _cells(path, number, columns, raw)
        content = tuple(x for c, x in zip(columns, cells, strict=True) if c and c not in layout.serial)
        if not any(content):
            blank += 1
        elif content in seen and not keep_repeated:
            repeated += 1
        else:
            seen.add(content)
            kept.append((number, cells))
    rows = tuple(_row(number, columns, cells, layout) for number, cells in kept)
    findings = Counter((column, kind) for row in rows for column, kind in row.defects.items())
    return Table(path, digest, layout, columns, rows, dict(findings), blank, repeated)


def _cells(path: Path, number: int, columns: Sequence[str], raw: Sequence[str]) -> tuple[str, ...]:
    """Return a row's stripped cells, as many as there are columns."""
    if len(raw) > len(columns):
        raise DataError(f"{len(raw)} cells under {len(columns)} columns", file=path, line=number)
    return tuple(text.strip() for text in raw) + ("",) * (len(columns) - len(raw))


def _row(number: int, columns: Sequence[str], cells: Sequence[str], layout: Layout) -> Row:
    texts: dict[str, str] = {}
    numbers: dict[str, float] = {}
    defects: dict[str, str] = {}
    for column, text in zip(columns, cells, strict=True):
        if column in layout.texts:
            texts[column] = text
        elif column and column not in layout.serial:
            value = number_of(text)
            if value is None:
                defects[column] = kind_of(text)
            else:
                numbers[column] = value
    return Row(number, texts, numbers, defects)


def number_of(text: str) -> float | None:
    """Return a cell's finite number, or None.

    >>> number_of("1e3"), number_of("#DIV/0!"), number_of("nan"), number_of("")
    (1000.0, None, None, None)
    """
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def kind_of(text: str) -> str:
    """Return what a cell without a finite number holds.

    >>> kind_of("#VALUE!"), kind_of("NaN"), kind_of("inf"), kind_of("C/M"), kind_of("")
    ('#VALUE!', 'NaN', 'infinity', 'text', 'empty cell')
    """
    if text in ERROR_CELLS:
        return text
    if not text:
        return "empty cell"
    try:
        return "NaN" if math.isnan(float(text)) else "infinity"
    except ValueError:
        return "text"
