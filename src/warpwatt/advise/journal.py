"""Finished rows of a sweep on disk, so that a sweep that was killed goes on where it was.

Beside the result ``FILE`` lies ``FILE.partial`` while the sweep runs: a line that says which sweep it is,
then one JSON line per row. A killed process leaves at most one broken line, the last, which is cut off.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, BinaryIO, Self

from warpwatt import __version__
from warpwatt.advise.rows import Row
from warpwatt.core.errors import InputError, OutputExistsError
from warpwatt.frontend.cache import digest

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path
    from types import TracebackType

    from warpwatt.advise.sweep import Sweep

FORMAT = 1
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
        "source": [sweep.source.name, digest(sweep.source.data)],
        "launches": [asdict(launch) for launch in sweep.launches],
        "configurations": [asdict(configuration) for configuration in sweep.configurations],
        "gpus": [[gpu.name, repr(gpu.calibration)] for gpu in sweep.gpus],
        "clocks": sweep.clocks,
        "options": {**asdict(sweep.options), "levels": sorted(map(str, sweep.options.levels))},
        "choice": asdict(sweep.choice),
        "curve": sweep.curve,
    }
    return digest(json.dumps(facts, sort_keys=True, default=str).encode())


class Journal:
    """The rows of one sweep that are done; a context that holds the file open and locked.

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
        self.rows: list[Row] = []
        """Rows done, those found on disk first."""
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

    def add(self, rows: Iterable[Row]) -> None:
        """Append finished rows; they outlive this process from here on."""
        new = list(rows)
        self._file.write(b"".join(_line(row.to_json()) for row in new))
        self._file.flush()
        self.rows += new

    def remove(self) -> None:
        """Delete the file, once the result is written."""
        self.path.unlink(missing_ok=True)

    def _lock(self) -> None:
        """Keep other processes out as long as the file is open."""
        try:
            import fcntl  # noqa: PLC0415 - absent on Windows, where nothing keeps them out
        except ImportError:
            return
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            hint = "wait for it, or give another -o FILE"
            raise InputError("another sweep is writing this file", file=self.path, hint=hint) from None

    def _read(self, wanted: str, *, force: bool) -> None:
        """Take over the rows that are there and cut off what is broken, or begin anew."""
        self._file.seek(0)
        lines = self._file.read().splitlines(keepends=True)
        if lines and not lines[0].endswith(b"\n"):
            lines = []  # killed while writing the first line
        if lines and not _same(lines[0], wanted) and not force:
            hint = "--force throws them away; with the command that made them the sweep goes on"
            raise OutputExistsError("rows of another, unfinished sweep are here", file=self.path, hint=hint)
        if not lines or not _same(lines[0], wanted):
            self._file.truncate(0)
            self._file.write(_line({"sweep": wanted}))
            self._file.flush()
            return
        good = len(lines[0])
        for line in lines[1:]:
            row = _row(line)
            if row is None:
                break
            self.rows.append(row)
            good += len(line)
        self._file.truncate(good)


def _line(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode() + b"\n"


def _same(line: bytes, wanted: str) -> bool:
    return line == _line({"sweep": wanted})


def _row(line: bytes) -> Row | None:
    """Return the row of a line, None if it is broken."""
    if not line.endswith(b"\n"):
        return None
    try:
        return Row.from_json(json.loads(line))
    except (ValueError, TypeError):
        return None
