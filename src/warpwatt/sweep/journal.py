"""Finished rows of a sweep on disk, so that a sweep that was killed goes on where it was.

Beside the result ``FILE`` lies ``FILE.partial`` while the sweep runs: a line that says which sweep it is,
then one JSON line per row. Workers append their rows themselves, each by one write, so that what is finished
outlives whoever asked for it; who is killed leaves at most one broken line, which is skipped.
Rows stay on disk: a sweep may have more of them than memory holds.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Self, overload

from warpwatt.core.errors import InputError, OutputExistsError
from warpwatt.core.version import __version__
from warpwatt.storage.cache import digest
from warpwatt.sweep.rows import Row

if TYPE_CHECKING:
    from types import TracebackType

    from warpwatt.frontend.compiled import Source
    from warpwatt.sweep.sweep import Sweep

FORMAT = 2
"""Version of the lines; raise it when the fields of a row change their meaning."""


def partial(result: Path) -> Path:
    """Return where the rows of an unfinished sweep lie that will become ``result``.

    >>> from pathlib import Path
    >>> str(partial(Path("sweep.csv")))
    'sweep.csv.partial'
    """
    return result.with_name(f"{result.name}.partial")


def fingerprint(sweep: Sweep) -> str:
    """Return what tells this sweep from every other one: source, points, options, version of WarpWatt.

    Headers that the source includes are not part of it.
    """
    facts = {
        "version": [__version__, FORMAT],
        "tasks": [[_source(task.source), asdict(task.launch), task.application] for task in sweep.tasks],
        "files": sorted({(name, _source(file)) for task in sweep.tasks for name, file in task.files}),
        "configurations": [asdict(configuration) for configuration in sweep.configurations],
        "gpus": [[gpu.name, gpu.power_limit, repr(gpu.calibration)] for gpu in sweep.gpus],
        "clocks": sweep.clocks,
        "options": {**asdict(sweep.options), "levels": sorted(map(str, sweep.options.levels))},
        "choice": asdict(sweep.choice),
        "measured": repr(sweep.measured),
    }
    return digest(json.dumps(facts, sort_keys=True, default=str).encode())


def _source(source: Source) -> str:
    return f"{source.name} {digest(source.data)}"


class Numbers(Container[int]):
    """The numbers whose place is not 0."""

    def __init__(self, places: Sequence[int]) -> None:
        self._places = places

    def __contains__(self, number: object) -> bool:
        return isinstance(number, int) and self._places[number] != 0


class Journal(Sequence[Row]):
    """The rows of one sweep that are done, by number; a context that holds the file open and locked.

    A sequence: its length is how many are done, and they come in the order of their numbers, read from disk
    one at a time.

    Parameters
    ----------
    result
        The file that the sweep will write; the journal lies beside it.
    sweep
        Whose rows these are.
    force
        Whether rows of another sweep may be thrown away.

    Raises
    ------
    OutputExistsError
        If rows of another sweep are there and ``force`` was not given.
    InputError
        If another process is writing it.
    """

    def __init__(self, result: Path, sweep: Sweep, *, force: bool = False) -> None:
        self.path = partial(result)
        self._places = array("q", bytes(8 * sweep.numbers))  # by number; 0: not done
        self._done = self._end = 0
        self._file: BinaryIO = self.path.open("a+b")
        try:
            self._lock()
            self._read(fingerprint(sweep), force=force)
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def __len__(self) -> int:
        return self._done

    @property
    def done(self) -> Numbers:
        """The numbers of the rows that are done, now and later."""
        return Numbers(self._places)

    def __iter__(self) -> Iterator[Row]:
        for place in self._places:
            if place:
                yield self._at(place)

    @overload
    def __getitem__(self, at: int) -> Row: ...
    @overload
    def __getitem__(self, at: slice) -> list[Row]: ...
    def __getitem__(self, at: int | slice) -> Row | list[Row]:
        places = [place for place in self._places if place][at]
        return [self._at(place) for place in places] if isinstance(places, list) else self._at(places)

    def add(self, rows: Iterable[Row]) -> int:
        """Append finished rows that are not there, and return how many are new; they outlive this process."""
        before = self._done
        self._catch_up()
        new = {row.number: row for row in rows if row.number not in self.done}
        if new:
            self._file.write(b"".join(_line(row.to_json()) for row in new.values()))
            self._file.flush()
            self._catch_up()
        return self._done - before

    def remove(self) -> None:
        """Delete the file, once the result is written."""
        self.path.unlink(missing_ok=True)

    def _lock(self) -> None:
        """Keep other processes out as long as the file is open."""
        try:
            import fcntl  # absent on Windows, where nothing keeps them out
        except ImportError:
            return
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            hint = "wait for it, or give another -o FILE"
            raise InputError("another sweep is writing this file", file=self.path, hint=hint) from None

    def _at(self, place: int) -> Row:
        self._file.seek(place)
        row = _row(self._file.readline())
        assert row is not None
        return row

    def _read(self, wanted: str, *, force: bool) -> None:
        """Take over the rows that are there and cut off what is broken, or begin anew."""
        self._file.seek(0)
        first = self._file.readline()
        if not first.endswith(b"\n"):
            first = b""  # killed while writing the first line
        if first and not _same(first, wanted) and not force:
            hint = "--force throws them away; with the command that made them the sweep goes on"
            raise OutputExistsError("rows of another, unfinished sweep are here", file=self.path, hint=hint)
        if not _same(first, wanted):
            self._file.truncate(0)
            self._file.write(first := _line({"sweep": wanted}))
            self._file.flush()
        self._end = len(first)
        self._catch_up()
        self._file.truncate(self._end)

    def _catch_up(self) -> None:
        """Take note of the lines that were appended since the last time."""
        self._file.seek(self._end)
        for line in self._file:
            if not line.endswith(b"\n"):
                break  # somebody is writing it, or was killed while writing it
            row = _row(line)
            if row is not None and 0 <= row.number < len(self._places):
                self._done += self._places[row.number] == 0
                self._places[row.number] = self._end
            self._end += len(line)


def append(path: Path, row: Row) -> None:
    """Append a finished row to a journal that another process has open.

    Raises
    ------
    OSError
        If it cannot be written.
    """
    with path.open("ab", buffering=0) as file:
        file.write(_line(row.to_json()))


def _line(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode() + b"\n"


def _same(line: bytes, wanted: str) -> bool:
    return line == _line({"sweep": wanted})


def _row(line: bytes) -> Row | None:
    """Return the row of a line, None if it is broken."""
    try:
        return Row.from_json(json.loads(line))
    except (ValueError, TypeError):
        return None
