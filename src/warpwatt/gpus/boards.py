"""From a board's file to a :class:`~warpwatt.core.gpu.Gpu`: inheritance, units, sources."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from warpwatt.core.errors import UnknownGpuError, UnsupportedGpuError
from warpwatt.core.gpu import Gpu
from warpwatt.core.units import GIB
from warpwatt.gpus import catalog
from warpwatt.gpus.capabilities import adjusted, capability
from warpwatt.gpus.latencies import Latencies
from warpwatt.gpus.timings import timings

if TYPE_CHECKING:
    from collections.abc import Mapping

    from warpwatt.gpus.catalog import Entry
    from warpwatt.gpus.datafile import Cited, DataFile

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
# Key in [values] -> field of Gpu; the key carries the unit of the data sheet.
FIELDS = {
    "sm_count": "sm_count",
    "base_clock_mhz": "base_clock",
    "boost_clock_mhz": "boost_clock",
    "observed_clock_mhz": "observed_clock",
    "memory_clock_mhz": "memory_clock",
    "compute_memory_clock_mhz": "compute_memory_clock",
    "memory_bandwidth_gbs": "memory_bandwidth",
    "memory_type": "memory_type",
    "memory_size_gib": "memory_size",
    "l2_size_bytes": "l2_size",
    "l1_shared_per_sm_bytes": "l1_shared_per_sm",
    "l1_shared_unified": "l1_shared_unified",
    "power_limit_w": "power_limit",
    "idle_power_w": "idle_power",
    "pcie_generation": "pcie_generation",
}
# Kept for the reader and for the check of the bandwidth; no field of Gpu.
EXTRA = ("memory_bus_bits", "listed_memory_clock_mhz")
REQUIRED = (
    "sm_count",
    "boost_clock_mhz",
    "memory_clock_mhz",
    "memory_bandwidth_gbs",
    "memory_type",
    "l2_size_bytes",
    "l1_shared_unified",
)


@dataclass(frozen=True, slots=True)
class Board:
    """A board's file with everything it inherits, still in the units of the data sheet."""

    file: DataFile
    name: str
    aliases: tuple[str, ...]
    arch: str
    capability: str
    die: str = ""
    note: str = ""
    memory_from: tuple[str, ...] = ()
    values: Mapping[str, Cited] = field(default_factory=dict)
    capability_values: Mapping[str, Cited] = field(default_factory=dict)
    capability_throughput: Mapping[str, Cited] = field(default_factory=dict)
    memory: Mapping[str, Cited] = field(default_factory=dict)

    def number(self, key: str) -> float:
        """Return a required number of ``[values]``, or raise ``ParseError``."""
        return self.required(key).number()

    def required(self, key: str) -> Cited:
        """Return a required entry of ``[values]``, or raise ``ParseError``."""
        if key not in self.values:
            self.file.fail(
                f"{key} is missing", "values", hint="add it to [values], or inherits = a GPU that has it"
            )
        return self.values[key]


def board(entry: Entry, below: tuple[Entry, ...] = ()) -> Board:
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
        if key not in FIELDS and key not in EXTRA:
            file.fail(f"unknown key {key!r}", key, hint=f"known keys are {', '.join((*FIELDS, *EXTRA))}")
    return Board(
        file=file,
        name=file.text("name"),
        aliases=file.texts("aliases"),
        arch=file.text("arch", parent.arch if parent else None),
        capability=file.text("capability", parent.capability if parent else None),
        die=file.text("die", parent.die if parent else ""),
        note=file.text("note", parent.note if parent else ""),
        memory_from=file.texts("memory_from") or (parent.memory_from if parent else ()),
        values={**(parent.values if parent else {}), **values},
        capability_values={**(parent.capability_values if parent else {}), **file.cited("capability_values")},
        capability_throughput={
            **(parent.capability_throughput if parent else {}),
            **file.cited("capability_throughput"),
        },
        memory={**(parent.memory if parent else {}), **file.cited("memory")},
    )


def _parent(file: DataFile, lineage: tuple[Entry, ...]) -> Board:
    """Return the board that ``file`` inherits from; a file never inherits from one of its own lineage."""
    name = file.text("inherits")
    seen = {entry.path for entry in lineage}
    try:
        found = catalog.lookup(name, [e for e in catalog.entries() if e.path not in seen])
    except UnknownGpuError as error:
        file.fail(f"inherits from {error.message}", "inherits", hint=error.hint)
    return board(found, lineage)


def packaged(stem: str) -> Board:
    """Return the package's board of file ``stem`` (``"nvidia-h200"``)."""
    return board(catalog.Entry("", (), catalog.DATA / "boards" / f"{stem}.toml"))


def gpu(entry: Entry) -> Gpu:
    """Return the GPU of an entry, or raise ``ParseError``."""
    source = board(entry)
    try:
        limits = capability(source.capability)
    except UnsupportedGpuError as error:
        source.file.fail(error.message, "capability", hint=error.hint)
    memory = timings(source)
    latencies = Latencies(limits.version)
    return Gpu(
        name=source.name,
        aliases=source.aliases,
        die=source.die,
        arch=source.arch,
        note=source.note,
        capability=adjusted(limits, source.capability_values, source.capability_throughput),
        memory=memory,
        latencies=latencies,
        sources={FIELDS.get(key, key): str(cited.source) for key, cited in source.values.items()},
        **_specification(source),
    )


def _specification(source: Board) -> dict[str, Any]:
    """Return the fields of ``[values]`` in SI units; None for what is not known."""
    for key in REQUIRED:
        source.required(key)
    got = source.values
    for key in EXTRA:
        if key in got:
            got[key].number()
    scales = {
        "base_clock_mhz": 1e6,
        "boost_clock_mhz": 1e6,
        "observed_clock_mhz": 1e6,
        "memory_clock_mhz": 1e6,
        "compute_memory_clock_mhz": 1e6,
        "memory_bandwidth_gbs": 1e9,
    }
    fields: dict[str, Any] = dict.fromkeys(FIELDS.values())
    for key, scale in scales.items():
        if key in got:
            fields[FIELDS[key]] = got[key].number() * scale
    for key in ("power_limit_w", "idle_power_w"):
        if key in got:
            fields[FIELDS[key]] = float(got[key].number())
    for key in ("sm_count", "l2_size_bytes", "l1_shared_per_sm_bytes", "pcie_generation"):
        if key in got:
            fields[FIELDS[key]] = got[key].whole()
    if "memory_size_gib" in got:
        fields["memory_size"] = round(got["memory_size_gib"].number() * GIB)
    fields["memory_type"] = got["memory_type"].text()
    fields["l1_shared_unified"] = got["l1_shared_unified"].truth()
    return fields
