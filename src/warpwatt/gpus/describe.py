"""GPUs as plain rows for tables: no printing here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields

from warpwatt.core.gpu import Capability, Gpu, MemoryTimings
from warpwatt.core.units import binary_bytes, si
from warpwatt.gpus.catalog import names
from warpwatt.gpus.latencies import Latencies
from warpwatt.gpus.load import find, missing
from warpwatt.gpus.loans import lender

# Field -> unit of the number: of a Gpu, a Capability or MemoryTimings. The rest are counts or words.
_UNITS = {
    **dict.fromkeys(("base_clock", "boost_clock", "observed_clock"), "Hz"),
    **dict.fromkeys(("memory_clock", "compute_memory_clock", "dram_latency_clock"), "Hz"),
    **dict.fromkeys(("memory_bandwidth", "l2_bandwidth", "dram_bandwidth"), "B/s"),
    **dict.fromkeys(("dram_copy_bandwidth", "h2d_bandwidth"), "B/s"),
    **dict.fromkeys(("memory_size", "l2_size", "l1_shared_per_sm", "l1_shared_pool"), "B"),
    **dict.fromkeys(("max_shared_per_sm", "max_shared_per_block", "static_shared_limit"), "B"),
    **dict.fromkeys(("shared_allocation_granularity", "reserved_shared_per_block"), "B"),
    **dict.fromkeys(("shared_carveouts", "shared_bank_width"), "B"),
    **dict.fromkeys(("power_limit", "idle_power"), "W"),
    **dict.fromkeys(("launch_interval", "graph_launch_interval"), "s"),
    **dict.fromkeys(("shared_latency", "l1_latency", "l2_latency", "dram_latency"), "cycles"),
    "l1_bandwidth_per_sm_clock": "B/cycle/SM",
}
_SKIPPED = frozenset(
    {
        *("sources", "memory", "latencies", "capability", "throughput", "calibration"),
        *("borrowed_from", "inherits", "inherited"),
    }
)


@dataclass(frozen=True, slots=True)
class Field:
    """One line of ``gpus show``: ``value`` in ``unit`` as a number or words, ``shown`` for people.

    ``value`` is None, and ``shown`` empty, where nobody knows. ``source`` is the full citation.
    """

    section: str
    name: str
    value: float | str | bool | tuple[int, ...] | None
    unit: str
    shown: str
    source: str


@dataclass(frozen=True, slots=True)
class Row:
    """One line of ``gpus``; SI units, None where unknown. ``missing`` is what a prediction would lack."""

    name: str
    aliases: tuple[str, ...]
    arch: str
    capability: str
    sm_count: int
    boost_clock: float
    memory_type: str
    memory_size: int | None
    memory_bandwidth: float
    l2_size: int
    power_limit: float | None
    missing: tuple[str, ...]


def rows() -> tuple[Row, ...]:
    """Return one row per GPU, in the order of :func:`~warpwatt.gpus.catalog.names`.

    >>> next(row.sm_count for row in rows() if row.name == "NVIDIA H200")
    132
    """
    return tuple(row(find(name)) for name in names())


def row(gpu: Gpu) -> Row:
    """Return the row of one GPU."""
    return Row(
        name=gpu.name,
        aliases=gpu.aliases,
        arch=gpu.arch,
        capability=gpu.capability.version,
        sm_count=gpu.sm_count,
        boost_clock=gpu.boost_clock,
        memory_type=gpu.memory_type,
        memory_size=gpu.memory_size,
        memory_bandwidth=gpu.memory_bandwidth,
        l2_size=gpu.l2_size,
        power_limit=gpu.power_limit,
        missing=missing(gpu),
    )


def describe(gpu: Gpu) -> tuple[Field, ...]:
    """Return every field of a GPU: board, capability, throughput, memory and latencies, each with its source.

    >>> next(f.shown for f in describe(find("h200")) if f.name == "l2_size")
    '60 MiB'
    """
    return (
        *_fields("board", gpu, gpu.sources, dict.fromkeys(gpu.inherited, f", as on {gpu.inherits}")),
        *_fields(f"compute capability {gpu.capability.version}", gpu.capability, gpu.capability.sources),
        *_throughput(gpu.capability),
        *_fields("memory", gpu.memory, gpu.memory.sources, _lenders(gpu.memory)),
        *_latencies(gpu),
        *_calibration(gpu),
    )


def _fields(
    section: str,
    holder: Gpu | Capability | MemoryTimings,
    sources: Mapping[str, str],
    whose: Mapping[str, str] | None = None,
) -> Iterator[Field]:
    """Yield the fields of ``holder``; ``whose`` follows the value of a field that is another GPU's."""
    for item in fields(holder):
        if item.name not in _SKIPPED:
            value = getattr(holder, item.name)
            unit = _UNITS.get(item.name, "")
            text = shown(value, unit) + (whose or {}).get(item.name, "")
            yield Field(section, item.name, value, unit, text, sources.get(item.name, ""))


def _lenders(memory: MemoryTimings) -> Mapping[str, str]:
    named = {field: lender(source) for field, source in memory.sources.items()}
    return {field: f", of {name}" for field, name in named.items() if name}


def _throughput(capability: Capability) -> Iterator[Field]:
    for name, rate in capability.throughput.items():
        source = capability.sources.get(f"throughput.{name}", "")
        yield Field("throughput", name, rate, "results/cycle/SM", f"{rate:g} results/cycle/SM", source)


def _latencies(gpu: Gpu) -> Iterator[Field]:
    for opcode, cycles in gpu.latencies.items():
        source = gpu.latencies.source(opcode) if isinstance(gpu.latencies, Latencies) else ""
        yield Field("latencies", opcode, cycles, "cycles", f"{cycles:g} cycles", source)


def _calibration(gpu: Gpu) -> Iterator[Field]:
    layers = gpu.calibration.layers if gpu.calibration else ()
    holds = {name: layer for layer in layers for name in layer.constants}
    for name, layer in holds.items():
        value, error = layer.constants[name]
        source = f"measured on {layer.gpu}, {layer.date}, protocol {layer.protocol}"
        yield Field("calibration", name, value, "", f"{value:.4g} ± {error:.2g}", source)


def shown(value: object, unit: str) -> str:
    """Return a value for people: SI or binary prefixes, lists with commas, nothing for unknown.

    >>> shown(1.98e9, "Hz"), shown(49152, "B"), shown((0, 8192), "B"), shown(True, ""), shown(None, "W")
    ('1.98 GHz', '48 KiB', '0 B, 8 KiB', 'yes', '')
    """
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: ""}[value]
    if isinstance(value, tuple):
        return ", ".join(shown(item, unit) for item in value)
    if not isinstance(value, int | float):
        return str(value)
    if unit == "B":
        return binary_bytes(value)
    return si(value, unit) if unit in {"Hz", "B/s", "W", "s"} else f"{value:g} {unit}".rstrip()
