"""All result files of one device: a folder, one file for each protocol."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from warpwatt.lab.measure import protocol
from warpwatt.lab.measure.results import KEY, ResultFile

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime
    from pathlib import Path
    from types import TracebackType
    from typing import Self

    from warpwatt.lab.measure.columns import Column
    from warpwatt.lab.measure.corpus import CorpusProgram
    from warpwatt.lab.measure.device import DeviceInfo
    from warpwatt.lab.measure.results import Row


@dataclass(frozen=True, slots=True)
class Group:
    """All rows of one point in one protocol."""

    protocol: str
    rows: tuple[Row, ...]


@dataclass(slots=True)
class Store:
    """The files of a folder, opened when first needed. Use it as a context manager.

    ``columns`` are those of each protocol; a protocol without columns is an error of ours.
    """

    folder: Path
    columns: Mapping[str, Sequence[Column]]
    _files: dict[str, ResultFile] = field(default_factory=dict)
    _stack: ExitStack = field(default_factory=ExitStack)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def file(self, name: str) -> ResultFile:
        """Return the file of a protocol, open."""
        if name not in self._files:
            opened = ResultFile(self.folder / f"{name}.csv", self.columns[name])
            self._files[name] = self._stack.enter_context(opened)
        return self._files[name]

    def has(self, name: str, program: str, size: str, data: str) -> bool:
        """Whether a point is done in a protocol, in today's version of it."""
        return (str(protocol.VERSION), program, size, data) in self.file(name).done

    def holds(self, group: Group) -> bool:
        """Whether a group's point is in its file."""
        first = group.rows[0]
        return tuple(str(first[name]) for name in KEY) in self.file(group.protocol).done

    def unopened(self) -> Store:
        """Return the same files with none open; this can go to another process."""
        return Store(self.folder, self.columns)

    def add(self, group: Group) -> None:
        """Append a group."""
        self.file(group.protocol).append(group.rows)


def identity(info: DeviceInfo, date: datetime, seed: int) -> Row:
    """Return the cells that all rows of a session share."""
    return {
        "version": protocol.VERSION,
        "date": date.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "gpu": info.name,
        "uuid_hash": info.uuid_hash,
        "driver": info.driver,
        "target": info.target,
        "seed": seed,
    }


def describe(program: CorpusProgram, size: str, data: str) -> Row:
    """Return the cells that name a point."""
    return {
        "program": program.name,
        "family": program.family,
        "split": program.split,
        "size": size,
        "data": data,
    }


def conditions(seen: protocol.Conditions) -> Row:
    """Return the cells of clocks, temperature and throttling."""
    return {
        "sm_clock_before_hz": seen.before.sm_clock,
        "sm_clock_after_hz": seen.after.sm_clock,
        "memory_clock_before_hz": seen.before.memory_clock,
        "memory_clock_after_hz": seen.after.memory_clock,
        "temperature_before_c": seen.before.temperature,
        "temperature_after_c": seen.after.temperature,
        "throttle": "+".join(seen.throttle),
    }
