"""Finished rows of a sweep on disk, so that a sweep that was killed goes on where it was.

Beside the result ``FILE`` lies ``FILE.partial`` while the sweep runs: a line that says which sweep it is,
then one JSON line per row, and before it one of the files that were read for it, if they are new. Workers
append their rows themselves, each by one write, so that what is finished outlives whoever asked for it. A
kill leaves at most one broken line, which is skipped.
Rows stay on disk: a sweep may have more of them than memory holds.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Self, overload

from warpwatt.core.errors import InputError, OutputExistsError, ToolchainError
from warpwatt.frontend import toolchain
from warpwatt.storage.cache import digest
from warpwatt.storage.inputs import changed, package_digest, state
from warpwatt.sweep.rows import Row

if TYPE_CHECKING:
    from types import TracebackType

    from warpwatt.frontend.compiled import Source
    from warpwatt.storage.witness import Witness
    from warpwatt.sweep.sweep import Sweep
    from warpwatt.sweep.tasks import Task

FORMAT = 3
"""Version of the lines; raise it when the fields of a row change their meaning."""


def partial(result: Path) -> Path:
    """Return where the rows of an unfinished sweep lie that will become ``result``.

    >>> from pathlib import Path
    >>> str(partial(Path("sweep.csv")))
    'sweep.csv.partial'
    """
    return result.with_name(f"{result.name}.partial")


def fingerprint(sweep: Sweep) -> dict[str, str]:
    """Return what tells this sweep from every other one, by the name of each part.

    Files that are read while it runs (headers, contents of buffers) are told by the rows.
    """
    host = toolchain.host_compiler()
    facts: dict[str, object] = {
        "WarpWatt": [package_digest(native=True), FORMAT],
        "the compilers": [_toolkit(), str(host), *(state(str(host)) if host else ())],
        "the launches": [[task.source.name, asdict(task.launch), task.application] for task in sweep.tasks],
        "the configurations": [asdict(configuration) for configuration in sweep.configurations],
        "the clocks": sweep.clocks,
        "the options": {**asdict(sweep.options), "levels": sorted(map(str, sweep.options.levels))},
        "the models": asdict(sweep.choice),
        "the measurements": repr(sweep.measured),
        "the GPUs": [gpu.name for gpu in sweep.gpus],
        **{f"the GPU {gpu.name}": repr(gpu) for gpu in sweep.gpus},
        **{source.name: digest(source.data) for task in sweep.tasks for source in _sources(task)},
    }
    texts = {name: json.dumps(fact, sort_keys=True, default=str) for name, fact in facts.items()}
    return {name: digest(text.encode()) for name, text in texts.items()}


def _sources(task: Task) -> Iterator[Source]:
    yield task.source
    yield from (replace(source, name=name) for name, source in task.files)


def _toolkit() -> str:
    try:
        return toolchain.installed().version
    except ToolchainError:
        return ""  # PTX and binaries need none


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
        Whether rows of another sweep, or of inputs that have changed, may be thrown away.
    heard
        What this process reads for its rows.

    Raises
    ------
    OutputExistsError
        If rows of another sweep, or of other inputs, are there and ``force`` was not given.
    InputError
        If another process is writing it.
    """

    def __init__(
        self, result: Path, sweep: Sweep, *, force: bool = False, heard: Witness | None = None
    ) -> None:
        self.path = partial(result)
        self._places = array("q", bytes(8 * sweep.numbers))  # by number; 0: not done
        self._done = self._end = 0
        self._inputs: dict[str, list[int | str]] = {}
        self._heard = heard
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
            self._file.write(_lines(new.values(), self._heard))
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

    def _read(self, wanted: Mapping[str, str], *, force: bool) -> None:
        """Take over the rows that are there and cut off what is broken, or begin anew."""
        self._file.seek(0)
        first = self._file.readline()
        if not first.endswith(b"\n"):
            first = b""  # killed while writing the first line
        self._end = len(first)
        self._catch_up()
        different = _different(first, wanted) + changed(self._inputs)
        if first and different and not force:
            hint = (
                "--force throws them away; with the command and the inputs that made them the sweep goes on"
            )
            what = f"rows of another, unfinished sweep are here; changed since: {', '.join(different)}"
            raise OutputExistsError(what, file=self.path, hint=hint)
        if different or not first:
            self._places = array("q", bytes(8 * len(self._places)))
            self._done, self._inputs = 0, {}
            self._file.truncate(0)
            self._file.write(first := _line({"sweep": wanted}))
            self._file.flush()
            self._end = len(first)
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
            elif row is None:
                self._inputs = {**_read_inputs(line), **self._inputs}
            self._end += len(line)


def append(path: Path, row: Row, heard: Witness | None = None) -> None:
    """Append a finished row, and what was read for it, to a journal that another process has open.

    Raises
    ------
    OSError
        If it cannot be written.
    """
    with path.open("ab", buffering=0) as file:
        file.write(_lines([row], heard))


def _lines(rows: Iterable[Row], heard: Witness | None) -> bytes:
    """Return lines of rows, behind a line of the files that were read for them."""
    inputs = heard.news() if heard is not None else {}
    return b"".join([_line({"read": inputs})] * bool(inputs) + [_line(row.to_json()) for row in rows])


def _line(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode() + b"\n"


def _different(line: bytes, wanted: Mapping[str, str]) -> list[str]:
    """Return the names of the parts in which the sweep of a first line is another one."""
    try:
        was = dict(json.loads(line)["sweep"])
    except (ValueError, TypeError, KeyError):
        return ["the file"]
    return [name for name in {**wanted, **was} if wanted.get(name) != was.get(name)]


def _read_inputs(line: bytes) -> dict[str, list[int | str]]:
    """Return the files of a line that says what was read; none of any other line."""
    try:
        return dict(json.loads(line)["read"])
    except (ValueError, TypeError, KeyError):
        return {}


def _row(line: bytes) -> Row | None:
    """Return the row of a line, None if it is broken."""
    try:
        return Row.from_json(json.loads(line))
    except (ValueError, TypeError):
        return None
