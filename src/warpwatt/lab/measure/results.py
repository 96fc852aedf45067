"""Append-only result files: one CSV for each device and protocol, safe against a kill at any moment.

All rows of a point are written in one piece and synced to disk. What a kill can leave behind is a torn last
line or an incomplete last point; opening the file drops both, so that no row is ever lost or doubled: a
point whose rows are all there is done, any other is not. All files of one device are a :class:`Store`.
"""

from __future__ import annotations

import csv
import io
import os
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from warpwatt.core.errors import InputError, ParseError
from warpwatt.lab.measure.protocol import VERSION

if TYPE_CHECKING:
    from typing import Self

    from warpwatt.lab.measure.columns import Column, Row

KEY = ("version", "program", "size", "data")
"""Columns that identify a point within a file."""

Key = tuple[str, ...]
LOCK_TRIES = 8


@dataclass(frozen=True, slots=True)
class _Content:
    """What a file holds: rows of complete points as text by column, and where they end in bytes."""

    rows: list[dict[str, str]]
    end: int


class ResultFile:
    """A result file that is open for appending. Use it as a context manager."""

    def __init__(self, path: Path, columns: Sequence[Column]) -> None:
        """Open or begin a file; drop what a kill left unfinished.

        Raises
        ------
        InputError
            If it cannot be written, or another process writes to it.
        ParseError
            If it is damaged in the middle or has other columns.
        """
        self.path = path
        self.columns = tuple(columns)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        except OSError as error:
            raise InputError(f"cannot be written: {error.strerror}", file=path) from None
        try:
            _lock(self._file, path)
            content = _content(path, self.columns)
            if content.end < path.stat().st_size:
                os.ftruncate(self._file, content.end)
            if not content.end:
                self._write(_line([column.name for column in self.columns]))
        except BaseException:
            os.close(self._file)
            raise
        self.done: set[Key] = {tuple(row[name] for name in KEY) for row in content.rows}

    def append(self, rows: Sequence[Row]) -> None:
        """Write all rows of one point and wait until they are on disk.

        Raises
        ------
        InputError
            If the point is there already, or ``rows`` are not of one point and complete.
        """
        cells = [[column.format(row.get(column.name)) for column in self.columns] for row in rows]
        texts = [dict(zip((c.name for c in self.columns), line, strict=True)) for line in cells]
        keys = {tuple(text[name] for name in KEY) for text in texts}
        if len(keys) != 1 or any(text["rows"] != str(len(rows)) for text in texts):
            raise InputError("rows of one point must be written together", file=self.path)
        (key,) = keys
        if key in self.done:
            raise InputError(f"point {' '.join(key)} is there already", file=self.path)
        self._write("".join(_line(line) for line in cells))
        self.done.add(key)

    def _write(self, text: str) -> None:
        data = text.encode()
        while data:
            data = data[os.write(self._file, data) :]
        os.fsync(self._file)

    def close(self) -> None:
        """Close the file and release it."""
        os.close(self._file)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def read(path: Path, columns: Sequence[Column]) -> list[Row]:
    """Return the rows of all complete points; the file is not changed, a torn end is ignored.

    Raises
    ------
    InputError
        If it cannot be read.
    ParseError
        Naming the line, if it is damaged.
    """
    kinds = {column.name: column for column in columns}
    rows = []
    for number, row in enumerate(_content(path, columns).rows, start=2):
        try:
            rows.append({name: kinds[name].read(cell) for name, cell in row.items()})
        except ValueError as error:
            raise ParseError(str(error), file=path, line=number) from None
    return rows


def drop(path: Path, columns: Sequence[Column], statuses: Iterable[str]) -> int:
    """Remove every point with a row of one of these statuses, so that it is measured again; return how many.

    The file is replaced in one step: a kill leaves the old one or the new one.
    """
    unwanted = set(statuses)
    rows = _content(path, columns).rows
    bad = {tuple(row[name] for name in KEY) for row in rows if row["status"] in unwanted}
    if bad:
        names = [column.name for column in columns]
        kept = [row for row in rows if tuple(row[name] for name in KEY) not in bad]
        lines = [_line(names), *(_line(row[name] for name in names) for row in kept)]
        new = path.with_suffix(".new")
        new.write_text("".join(lines), encoding="utf-8")
        new.replace(path)
    return len(bad)


def _content(path: Path, columns: Sequence[Column]) -> _Content:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", file=path) from None
    whole = data[: data.rfind(b"\n") + 1]
    lines = whole.splitlines(keepends=True)
    names = [column.name for column in columns]
    if not lines:
        return _Content([], 0)
    if _cells(lines[0], path, 1) != names:
        hint = "it was written by another version: move it away, or measure into another folder"
        raise ParseError("has other columns", file=path, line=1, hint=hint)
    rows = []
    for number, line in enumerate(lines[1:], start=2):
        cells = _cells(line, path, number)
        if len(cells) != len(names):
            raise ParseError(f"has {len(cells)} cells, not {len(names)}", file=path, line=number)
        rows.append(dict(zip(names, cells, strict=True)))
    kept = _complete(rows, path)
    return _Content(rows[:kept], sum(len(line) for line in lines[: kept + 1]))


def _cells(line: bytes, path: Path, number: int) -> list[str]:
    try:
        (cells,) = csv.reader([line.decode()], strict=True)
    except (csv.Error, UnicodeDecodeError, ValueError) as error:
        raise ParseError(f"is no row: {error}", file=path, line=number) from None
    return cells


def _complete(rows: Sequence[Mapping[str, str]], path: Path) -> int:
    """Return how many rows belong to complete points; only the last point may be incomplete."""
    position, seen = 0, set()
    while position < len(rows):
        first = rows[position]
        key = tuple(first[name] for name in KEY)
        count = int(first["rows"]) if first["rows"].isdecimal() else 0
        group = rows[position : position + count]
        same = all(tuple(row[name] for name in KEY) == key for row in group)
        if not count or not same or key in seen:
            problem = "is there twice" if key in seen else "is not complete"
            raise ParseError(f"point {' '.join(key)} {problem}", file=path, line=position + 2)
        if len(group) < count:
            return position
        seen.add(key)
        position += count
    return position


def _line(cells: Iterable[str]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(cells)
    return text.getvalue()


def _lock(file: int, path: Path) -> None:
    """Refuse a second writer; where the system has no such locks, trust the user."""
    try:
        import fcntl  # not on every system
    except ImportError:
        return
    for _ in range(LOCK_TRIES):  # a process that was just killed may need a moment to be gone
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            time.sleep(0.25)
        else:
            return
    raise InputError("another process measures into this file", file=path)


@dataclass(frozen=True, slots=True)
class Group:
    """All rows of one point in one protocol."""

    protocol: str
    rows: tuple[Row, ...]


@dataclass(slots=True)
class Store:
    """The files of a folder, opened when first needed. Use it as a context manager.

    ``columns`` are those of each protocol; a protocol without columns is a bug.
    """

    folder: Path
    columns: Mapping[str, Sequence[Column]]
    _files: dict[str, ResultFile] = field(default_factory=dict)
    _stack: ExitStack = field(default_factory=ExitStack)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self._stack.close()

    def file(self, name: str) -> ResultFile:
        """Return the file of a protocol, open."""
        if name not in self._files:
            opened = ResultFile(self.folder / f"{name}.csv", self.columns[name])
            self._files[name] = self._stack.enter_context(opened)
        return self._files[name]

    def has(self, name: str, program: str, size: str, data: str) -> bool:
        """Whether a point is done in a protocol, in today's version of it."""
        return (str(VERSION), program, size, data) in self.file(name).done

    def contains(self, group: Group) -> bool:
        """Whether a group's point is in its file."""
        first = group.rows[0]
        return tuple(str(first[name]) for name in KEY) in self.file(group.protocol).done

    def unopened(self) -> Store:
        """Return the same files with none open; this can go to another process."""
        return Store(self.folder, self.columns)

    def add(self, group: Group) -> None:
        """Append a group."""
        self.file(group.protocol).append(group.rows)
