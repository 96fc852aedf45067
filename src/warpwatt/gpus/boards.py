"""From a board's file to a :class:`~warpwatt.core.gpu.Gpu`: inheritance, units, sources."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from warpwatt.core.errors import UnknownGpuError, UnsupportedGpuError
from warpwatt.core.gpu import Gpu
from warpwatt.core.units import GIB, KIB, MIB
from warpwatt.gpus import catalog
from warpwatt.gpus.board import Board
from warpwatt.gpus.capabilities import adjust, capability
from warpwatt.gpus.catalog import Entry
from warpwatt.gpus.datafile import Cited, DataFile
from warpwatt.gpus.latencies import Latencies
from warpwatt.gpus.timings import timings

KEYS = (
    "name",
    "aliases",
    "inherits",
    "die",
    "arch",
    "capability",
    "memory_from",
    "note",
    "values",
    "capability_values",
    "capability_throughput",
    "memory",
    "sources",
)


@dataclass(frozen=True, slots=True)
class Value:
    """How a key of ``[values]``, which carries the unit of the data sheet, is read.

    Attributes
    ----------
    field
        Field of :class:`~warpwatt.core.gpu.Gpu`; empty where the value is only for the reader and the check.
    read
        From the entry to SI units; raises ``ParseError`` if it is of the wrong type.
    low, high
        What a GPU made since 2010 can have; beyond it a unit is wrong.
    required
        Whether every board must have it.
    """

    field: str
    read: Callable[[Cited], Any]
    low: float = -math.inf
    high: float = math.inf
    required: bool = False


def _times(factor: float) -> Callable[[Cited], float]:
    return lambda cited: cited.number() * factor


VALUES = {
    "sm_count": Value("sm_count", Cited.whole, 1, 300, required=True),
    "base_clock_mhz": Value("base_clock", _times(1e6), 200, 4000),
    "boost_clock_mhz": Value("boost_clock", _times(1e6), 300, 4000, required=True),
    "observed_clock_mhz": Value("observed_clock", _times(1e6), 300, 4000),
    "memory_clock_mhz": Value("memory_clock", _times(1e6), 400, 20000, required=True),
    "compute_memory_clock_mhz": Value("compute_memory_clock", _times(1e6), 400, 20000),
    "memory_bandwidth_gbs": Value("memory_bandwidth", _times(1e9), 10, 20000, required=True),
    "ecc_dram_share": Value("ecc_dram_share", Cited.number, 0.5, 1),
    "memory_type": Value("memory_type", Cited.text, required=True),
    "memory_size_gib": Value("memory_size", lambda cited: round(cited.number() * GIB), 0.25, 1024),
    "l2_size_bytes": Value("l2_size", Cited.whole, 64 * KIB, 512 * MIB, required=True),
    "l1_shared_per_sm_bytes": Value("l1_shared_per_sm", Cited.whole, 16 * KIB, 512 * KIB),
    "l1_shared_unified": Value("l1_shared_unified", Cited.boolean, required=True),
    "power_limit_w": Value("power_limit", _times(1.0), 5, 2000),
    "idle_power_w": Value("idle_power", _times(1.0), 1, 200),
    "pcie_generation": Value("pcie_generation", Cited.whole, 1, 7),
    "memory_bus_bits": Value("", Cited.number, 32, 16384),
    "listed_memory_clock_mhz": Value("", Cited.number),
}


_FOLLOWS = {"observed_clock_mhz": "boost_clock_mhz", "compute_memory_clock_mhz": "memory_clock_mhz"}
"""What is known of a board at one clock, and is not inherited where that clock is another."""


def read_board(entry: Entry, below: tuple[Entry, ...] = ()) -> Board:
    """Return the board of an entry, ``inherits`` resolved among the entries of ``below`` and the rest.

    Raises
    ------
    ParseError
        If the file is malformed, has unknown keys, lacks citations (in the package) or inherits from
        nothing that exists, itself included.
    """
    file = catalog.open_entry(entry)
    file.only(KEYS)
    parent = _parent(file, (*below, entry)) if "inherits" in file.data else None
    values = file.cited("values")
    for key in values:
        if key not in VALUES:
            file.fail(f"unknown key {key!r}", key, hint=f"known keys are {', '.join(VALUES)}")
    return Board(
        file=file,
        name=file.text("name"),
        aliases=file.texts("aliases"),
        arch=file.text("arch", parent.arch if parent else None),
        capability=file.text("capability", parent.capability if parent else None),
        die=file.text("die", parent.die if parent else ""),
        note=file.text("note", parent.note if parent else ""),
        memory_from=file.texts("memory_from") or (parent.memory_from if parent else ()),
        values={**_inherited(parent, values), **values},
        capability_values={**(parent.capability_values if parent else {}), **file.cited("capability_values")},
        capability_throughput={
            **(parent.capability_throughput if parent else {}),
            **file.cited("capability_throughput"),
        },
        memory={**(parent.memory if parent else {}), **file.cited("memory")},
        inherits=(parent.inherits or parent.name) if parent else "",
        own=frozenset(values) | (parent.own if parent and parent.file.user else frozenset()),
    )


def _inherited(parent: Board | None, given: Mapping[str, Cited]) -> dict[str, Cited]:
    """Return the values of ``parent`` that hold beside those that are ``given``."""
    values = parent.values if parent else {}
    return {key: cited for key, cited in values.items() if _FOLLOWS.get(key) not in given}


def _parent(file: DataFile, lineage: tuple[Entry, ...]) -> Board:
    """Return the board that ``file`` inherits from; a file never inherits from one of its own lineage."""
    name = file.text("inherits")
    seen = {entry.path for entry in lineage}
    try:
        found = catalog.lookup(name, [e for e in catalog.entries() if e.path not in seen])
    except UnknownGpuError as error:
        file.fail(f"inherits from {error.message}", "inherits", hint=error.hint)
    return read_board(found, lineage)


def packaged(stem: str) -> Board:
    """Return the package's board of file ``stem`` (``"nvidia-h200"``)."""
    return read_board(catalog.Entry("", (), catalog.DATA / "boards" / f"{stem}.toml"))


def read_gpu(entry: Entry) -> Gpu:
    """Return the GPU of an entry, or raise ``ParseError``."""
    source = read_board(entry)
    try:
        limits = capability(source.capability)
    except UnsupportedGpuError as error:
        source.file.fail(error.message, "capability", hint=error.hint)
    return Gpu(
        name=source.name,
        aliases=source.aliases,
        die=source.die,
        arch=source.arch,
        note=source.note,
        capability=adjust(limits, source.capability_values, source.capability_throughput),
        memory=timings(source, packaged),
        latencies=Latencies(limits.version),
        inherits=source.inherits,
        inherited=tuple(_taken_over(source)),
        sources={VALUES[key].field or key: str(cited.source) for key, cited in source.values.items()},
        **_specification(source),
    )


def _taken_over(board: Board) -> Iterator[str]:
    """Yield the fields whose values are those of the board that ``board`` inherits from."""
    for key in board.values if board.inherits else ():
        if key not in board.own and VALUES[key].field:
            yield VALUES[key].field


def _specification(source: Board) -> dict[str, Any]:
    """Return the fields of ``[values]`` in SI units; None for what is not known."""
    for key, value in VALUES.items():
        if value.required:
            source.required(key)
    known = {VALUES[key].field: VALUES[key].read(cited) for key, cited in source.values.items()}
    return {value.field: known.get(value.field) for value in VALUES.values() if value.field}
