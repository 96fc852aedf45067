"""Instruction latencies (``data/latencies/*.toml``), one file per capability, board and source.

Which files a capability uses, and in which order, its own file says (``latencies_from``): its own before
borrowed ones; the distance ptxas keeps between dependent instructions before dependent chains measured on
silicon, because it is exact and agrees with them where both exist; then measured chains, sources that
contradict all others last; then cycles per instruction of dependent chains. Settings of simulators and
models are data too, but never used here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

from warpwatt.gpus import capabilities
from warpwatt.gpus.catalog import DATA
from warpwatt.gpus.datafile import DataFile, Source


@dataclass(frozen=True, slots=True)
class Latency:
    """Latency of one opcode in SM cycles; ``low`` and ``high`` its range, ``issue`` its issue interval.

    ``to`` names the dependent instruction where it is another opcode; ``cycles`` is None where only the
    issue interval is known.
    """

    opcode: str
    cycles: float | None
    low: float | None = None
    high: float | None = None
    issue: float | None = None
    to: str = ""
    sass: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class LatencyTable:
    """What one source says about one capability; ``isa`` is ``"PTX"``, ``"SASS"`` or a simulator's class.

    ``scoreboard`` lists opcodes whose latency varies: the compiler waits for a scoreboard instead.
    """

    stem: str
    capability: str
    gpu: str
    isa: str
    kind: str
    source: Source
    entries: tuple[Latency, ...]
    scoreboard: tuple[str, ...] = ()
    note: str = ""


@lru_cache(maxsize=128)
def table(stem: str) -> LatencyTable:
    """Return ``data/latencies/STEM.toml``, or raise ``ParseError``."""
    file = DataFile(DATA / "latencies" / f"{stem}.toml")
    return LatencyTable(
        stem=stem,
        capability=file.text("capability"),
        gpu=file.text("gpu", ""),
        isa=file.text("isa"),
        kind=file.text("kind"),
        source=file.source(file.data.get("source")),
        entries=tuple(_entries(file)),
        scoreboard=file.texts("scoreboard"),
        note=file.text("note", ""),
    )


def _entries(file: DataFile) -> Iterator[Latency]:
    for opcode, value in file.table("cycles").items():
        for row in value if isinstance(value, list) else [value]:
            entry: dict[str, Any] = row if isinstance(row, dict) else {"cycles": row}
            yield Latency(
                opcode,
                entry.get("cycles"),
                entry.get("min"),
                entry.get("max"),
                entry.get("issue"),
                *(entry.get(key, "") for key in ("to", "sass", "note")),
            )


def stems(version: str) -> tuple[str, ...]:
    """Return the names of the tables a capability uses, first wins."""
    return capabilities.file(version).texts("latencies_from")


def tables(version: str) -> tuple[LatencyTable, ...]:
    """Return the tables a capability uses, first wins.

    >>> [t.stem for t in tables("9.0")][0]
    '9.0-ptxas-13-0-sass'
    """
    return tuple(table(stem) for stem in stems(version))


def all_tables() -> tuple[LatencyTable, ...]:
    """Return every table there is, in order of file name."""
    return tuple(table(path.stem) for path in sorted((DATA / "latencies").glob("*.toml")))


class Latencies(Mapping[str, float]):
    """Opcode to latency in SM cycles for one capability, read when first asked for.

    >>> Latencies("9.0")["FFMA"], Latencies("3.5")["add.f32"]
    (4, 9)
    """

    def __init__(self, version: str) -> None:
        self.version = version

    def __repr__(self) -> str:
        """Return the same in every process: what is kept on disk is found by it."""
        return f"Latencies({self.version!r})"

    @cached_property
    def _found(self) -> dict[str, tuple[float, LatencyTable]]:
        found: dict[str, tuple[float, LatencyTable]] = {}
        for source in tables(self.version):
            for entry in source.entries:
                if entry.cycles is not None:
                    found.setdefault(entry.opcode, (entry.cycles, source))
        return found

    def __getitem__(self, opcode: str) -> float:
        return self._found[opcode][0]

    def __iter__(self) -> Iterator[str]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)

    def source(self, opcode: str) -> str:
        """Return where the latency of ``opcode`` comes from; says so where it is of another capability."""
        where = self._found[opcode][1]
        borrowed = "" if where.capability == self.version else f"; of compute capability {where.capability}"
        return f"{where.source}{borrowed}"
