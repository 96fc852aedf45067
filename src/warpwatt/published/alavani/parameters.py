"""Parameters of Alavani's models (PhD thesis, BITS Pilani, 2023): Tables 3.2, 3.3, 4.5, section 3.4.

The thesis measured instruction latencies on five GPUs, memory throughput on four of them, and global
latency and launch overhead on the Tesla K20 alone. Elsewhere a documented stand-in is used and named in
``borrowed_from``:

- instruction latencies: the nearest generation measured (``data/alavani/relatives.toml``);
- global latency: the board's DRAM latency as a constant (:mod:`warpwatt.gpus.timings`);
- throughput: the nearest fit with ``a`` scaled by theoretical DRAM bandwidth (global) or by SMs times
  boost clock (shared);
- launch overhead: the line of the Tesla K20.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from warpwatt.core.errors import UnsupportedGpuError
from warpwatt.core.gpu import MEASURED_ON, Gpu
from warpwatt.gpus.catalog import DATA
from warpwatt.gpus.datafile import DataFile
from warpwatt.gpus.load import find

_REFERENCE = "tesla-k20"  # the only GPU with Table 3.3 and section 3.4


@dataclass(frozen=True, slots=True)
class Piece:
    """``latency = slope × threads + intercept`` cycles for ``low < threads <= high`` in the grid."""

    low: float
    high: float
    slope: float
    intercept: float


@dataclass(frozen=True, slots=True)
class Throughput:
    """``a (b - exp(-c n))`` bytes per second for ``n`` memory requests (Table 4.5)."""

    a: float
    b: float
    c: float

    def at(self, requests: float) -> float:
        """Return the throughput in bytes per second.

        >>> f"{Throughput(76363.8e6, 1.04, 0.00021342).at(1e6):.4g}"
        '7.942e+10'
        """
        return self.a * (self.b - math.exp(-self.c * requests))


@dataclass(frozen=True, slots=True)
class AlavaniParameters:
    """What the models of the thesis need of a GPU.

    ``latencies`` are cycles by the thesis' instruction names (``addf``, ``adds``, ..., ``shared``).
    ``borrowed_from`` maps a field's name to whose data stand in for it; a field that is this GPU's own
    is absent. ``sources`` cites each field.
    """

    gpu: str
    latencies: Mapping[str, float]
    global_latency: tuple[Piece, ...]
    global_throughput: Throughput
    shared_throughput: Throughput
    launch_slope: float
    """Seconds per thread of the grid."""
    launch_intercept: float
    """Seconds."""
    borrowed_from: Mapping[str, str] = field(default_factory=dict)
    sources: Mapping[str, str] = field(default_factory=dict)

    def global_latency_at(self, threads: float) -> float:
        """Return the cycles of a global load or store in a grid of ``threads`` threads.

        Beyond the last piece its end value holds: the line would turn negative.

        >>> from warpwatt.gpus import find
        >>> k20 = parameters(find("k20"))
        >>> round(k20.global_latency_at(3328), 1), round(k20.global_latency_at(1e9))
        (314.1, 446)
        """
        for piece in self.global_latency:
            if threads <= piece.high:
                return piece.slope * threads + piece.intercept
        last = self.global_latency[-1]
        return last.slope * last.high + last.intercept

    def launch_overhead_at(self, threads: float) -> float:
        """Return the launch overhead in seconds of a grid of ``threads`` threads (section 3.4)."""
        return self.launch_slope * threads + self.launch_intercept


def parameters(gpu: Gpu) -> AlavaniParameters:
    """Return the thesis' parameters for a GPU, stand-ins named where it has none.

    Raises
    ------
    UnsupportedGpuError
        If nobody has measured the GPU's DRAM latency, nor that of a relative.

    >>> from warpwatt.gpus import find
    >>> parameters(find("k20")).borrowed_from
    {}
    >>> parameters(find("h200")).borrowed_from["latencies"]
    'Tesla V100 SXM2 16GB'
    """
    borrowed: dict[str, str] = {}
    sources: dict[str, str] = {}

    def choose(table: str, fallback: str, *names: str) -> DataFile:
        own = _own(gpu.name)
        file = own if own is not None and table in own.data else _file(fallback)
        for name in names:
            sources[name] = str(file.source(file.table(table).get("source")))
            if file is not own:
                borrowed[name] = file.text("gpu")
        return file

    cycles = choose("latencies", _relative("latencies", gpu), "latencies").table("latencies")
    fits = choose("throughput", _relative("throughput", gpu), "global_throughput", "shared_throughput")
    overhead = choose("launch_overhead", _REFERENCE, "launch_slope", "launch_intercept").table(
        "launch_overhead"
    )
    bandwidth, clock = _scales(gpu, fits.text("gpu"))
    return AlavaniParameters(
        gpu=gpu.name,
        latencies={name: value for name, value in cycles.items() if name != "source"},
        global_latency=_global_latency(gpu, borrowed, sources),
        global_throughput=_fit(fits.table("throughput")["global"], bandwidth),
        shared_throughput=_fit(fits.table("throughput")["shared"], clock),
        launch_slope=overhead["slope_us_per_thread"] * 1e-6,
        launch_intercept=overhead["intercept_us"] * 1e-6,
        borrowed_from=borrowed,
        sources=sources,
    )


def _global_latency(gpu: Gpu, borrowed: dict[str, str], sources: dict[str, str]) -> tuple[Piece, ...]:
    """Return Table 3.3 for the GPU it was measured on, else the DRAM latency as one flat piece."""
    own = _own(gpu.name)
    if own is not None and "global_latency" in own.data:
        table = own.table("global_latency")
        sources["global_latency"] = str(own.source(table.get("source")))
        return tuple(Piece(p["min"], p["max"], p["slope"], p["intercept"]) for p in table["pieces"])
    latency = gpu.memory.dram_latency
    if latency is None:
        raise UnsupportedGpuError(
            f"no DRAM latency is known for {gpu.name}",
            hint="give it as memory.dram_latency_cycles in its file",
        )
    sources["global_latency"] = gpu.memory.sources["dram_latency"]
    _, _, lender = sources["global_latency"].partition(MEASURED_ON)
    borrowed["global_latency"] = f"the constant DRAM latency of {lender or gpu.name}"
    return (Piece(0, math.inf, 0.0, latency),)


def _scales(gpu: Gpu, fitted_on: str) -> tuple[float, float]:
    """Return own over fitted GPU: theoretical DRAM bandwidth, and SMs times boost clock."""
    if gpu.name == fitted_on:
        return 1.0, 1.0
    other = find(fitted_on)
    clock = gpu.sm_count * gpu.boost_clock / (other.sm_count * other.boost_clock)
    return gpu.memory_bandwidth / other.memory_bandwidth, clock


def _fit(entry: Mapping[str, Any], scale: float) -> Throughput:
    return Throughput(entry["a"] * 1e6 * scale, entry["b"], entry["c"])


def _relative(table: str, gpu: Gpu) -> str:
    relatives = _file("relatives").table(table)
    version = gpu.capability.version
    return str(relatives.get(version) or relatives[version.split(".")[0]])


@lru_cache(maxsize=8)
def _file(stem: str) -> DataFile:
    return DataFile(DATA / "alavani" / f"{stem}.toml")


def _own(name: str) -> DataFile | None:
    """Return the tables the thesis has for the GPU of that name, or None."""
    stems = (path.stem for path in sorted((DATA / "alavani").glob("*.toml")) if path.stem != "relatives")
    return next((file for file in map(_file, stems) if file.text("gpu") == name), None)
