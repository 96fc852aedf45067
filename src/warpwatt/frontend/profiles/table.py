"""The table in a profiler's output: where it begins, how its cells are separated, which row holds units."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from warpwatt.core.errors import ParseError
from warpwatt.frontend.profiles.cells import missing, number
from warpwatt.frontend.profiles.columns import Column, Role, column

MOST_BYTES = 256 << 20
"""Larger files are refused: a trace of one kernel is a few lines."""
HOW = (
    "write one with: nsys stats --report cuda_gpu_trace --format csv, ncu --csv --section SpeedOfLight, "
    "nvprof --csv --print-gpu-trace, or by hand with the columns grid, block and duration_us"
)
_ENCODINGS = ((b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"), (b"", "utf-8-sig"))


@dataclass(frozen=True, slots=True)
class Table:
    """Columns, the unit of each ("" where none is given), and rows with the line they begin at."""

    columns: tuple[Column, ...]
    units: tuple[str, ...]
    rows: tuple[tuple[int, tuple[str, ...]], ...]

    def roles(self) -> frozenset[Role]:
        """Return the roles that some column has."""
        return frozenset(c.role for c in self.columns)


def read_table(path: Path) -> Table:
    """Return the first table of measured kernels in a file; lines of other text before it are skipped.

    Raises
    ------
    ParseError
        If the file cannot be read, is no text or holds no such table.
    """
    lines = _text(path).splitlines()
    for delimiter in (",", ";", "\t"):
        found = _header(lines, delimiter)
        if found is not None:
            return _table(lines, *found, delimiter)
    raise ParseError("no table of measured kernels", file=path, line=1, hint=HOW)


def _text(path: Path) -> str:
    """Return the file's text: UTF-8 or UTF-16, with or without a byte order mark."""
    try:
        if path.stat().st_size > MOST_BYTES:
            raise ParseError(f"larger than {MOST_BYTES >> 20} MiB", file=path, hint="keep one kernel's rows")
        data = path.read_bytes()
    except OSError as error:
        raise ParseError(f"cannot be read: {error.strerror}", file=path, hint=HOW) from None
    encoding = next(name for mark, name in _ENCODINGS if data.startswith(mark))
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise ParseError("not UTF-8 text", file=path, line=line, hint=HOW) from None


def _header(lines: Sequence[str], delimiter: str) -> tuple[int, tuple[Column, ...]] | None:
    """Return the number (from 0) and columns of the first line that names what is measured and of what."""
    for index, line in enumerate(lines):
        if delimiter not in line:
            continue
        columns = tuple(column(cell) for cell in _cells(line, delimiter))
        roles = {c.role for c in columns}
        measured = Role.DURATION in roles or {Role.METRIC, Role.VALUE} <= roles
        if measured and roles & {Role.KERNEL, Role.GRID, Role.GRID_X}:
            return index, columns
    return None


def _cells(line: str, delimiter: str) -> list[str]:
    try:
        return next(csv.reader([line], delimiter=delimiter, skipinitialspace=True), [])
    except csv.Error:
        return []


def _table(lines: Sequence[str], start: int, columns: tuple[Column, ...], delimiter: str) -> Table:
    text = "\n".join(lines[start + 1 :])
    reader = csv.reader(io.StringIO(text), delimiter=delimiter, skipinitialspace=True)
    rows: list[tuple[int, tuple[str, ...]]] = []
    line = start + 2
    while True:
        try:
            cells = next(reader, None)
        except csv.Error:
            cells = []
        if cells is None:
            break
        if any(cell.strip() for cell in cells) and not _is_header(cells, columns):
            rows.append((line, _pad_cells(cells, columns, delimiter)))
        line = start + 2 + reader.line_num
    units = tuple(c.unit for c in columns)
    if rows and _is_units(rows[0][1], columns):
        units = tuple(cell.strip() or unit for cell, unit in zip(rows[0][1], units, strict=True))
        rows = rows[1:]
    return Table(columns, units, tuple(rows))


def _is_header(cells: Sequence[str], columns: tuple[Column, ...]) -> bool:
    """Whether a row is the header once more, as where several files were joined."""
    return len(cells) == len(columns) and all(
        column(cell) == own for cell, own in zip(cells, columns, strict=True)
    )


def _pad_cells(cells: list[str], columns: tuple[Column, ...], delimiter: str) -> tuple[str, ...]:
    """Return as many cells as there are columns.

    A kernel's name in the last column may hold delimiters that the profiler did not quote.
    """
    size = len(columns)
    if len(cells) > size and columns[-1].role is Role.KERNEL:
        cells = [*cells[: size - 1], delimiter.join(cells[size - 1 :])]
    return tuple(cells[:size]) + ("",) * (size - len(cells))


def _is_units(cells: tuple[str, ...], columns: tuple[Column, ...]) -> bool:
    """Whether a row holds units: no number, no kernel, and a unit of time where the duration stands."""
    for cell, own in zip(cells, columns, strict=True):
        if own.role is Role.DURATION and own.scale(cell) is not None:
            return True
    kernel = any(c.role is Role.KERNEL and not missing(cell) for cell, c in zip(cells, columns, strict=True))
    return not kernel and not any(number(cell) is not None for cell in cells) and any(map(str.strip, cells))
