"""What the features need to know about a GPU, in either convention."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from warpwatt.core.errors import UnsupportedGpuError
from warpwatt.core.gpu import Gpu
from warpwatt.published.alavani.features.equations import WARP_SIZE, ThroughputFit
from warpwatt.published.alavani.parameters import parameters

_TABLE = Path(__file__).with_name("published.toml")
_MISC_LATENCY = 10.0
_STAND_INS = {"cvta": "cvt", "sfu": "sqrt", "shuffle": "shared", "tensor": "fma", "other": "and"}


@dataclass(frozen=True, slots=True)
class LatencyPiece:
    """Global latency ``slope·threads + intercept`` in cycles for grids below ``below`` threads."""

    below: float
    slope: float
    intercept: float


@dataclass(frozen=True, slots=True)
class GlobalLatency:
    """Latency of global memory in cycles: pieces by threads of the grid, or one each for loads and stores."""

    pieces: tuple[LatencyPiece, ...] = ()
    load: float = 0.0
    store: float = 0.0

    def at(self, threads: float) -> float:
        """Return the latency of a load or store in a grid of ``threads`` (pieces only).

        >>> GlobalLatency((LatencyPiece(4096, 0.02828, 220), LatencyPiece(math.inf, 0, 574.1))).at(10**7)
        574.1
        """
        piece = next(p for p in self.pieces if threads < p.below)
        return piece.slope * threads + piece.intercept

    def total(self, threads: float, accesses: float, loads: float, stores: float) -> float:
        """Return the cycles of all accesses of one SM."""
        if self.pieces:
            return accesses * self.at(threads)
        return loads * self.load + stores * self.store


@dataclass(frozen=True, slots=True)
class SharedConflict:
    """Factor on the shared-memory penalty of grids above ``above_threads``."""

    above_threads: float
    factor: float


@dataclass(frozen=True, slots=True)
class Constants:
    """One GPU's constants for the features. Units as in their names; latencies in cycles.

    ``latencies`` maps operations of :mod:`warpwatt.published.alavani.opclass` to cycles, ``"other"`` the
    rest.
    """

    gpu: str
    sm_count: int
    warp_schedulers: int
    dispatch_units: int
    load_store_units: int
    max_threads_per_sm: int
    l2_size: int
    memory_clock_ghz: float
    latencies: Mapping[str, float]
    global_latency: GlobalLatency
    global_throughput: ThroughputFit | None = None
    shared_throughput: ThroughputFit | None = None
    shared_conflict: SharedConflict = SharedConflict(math.inf, 1.0)
    shared_whole_batches: bool = True
    cache_latency_is_total: bool = False
    later_threads_per_wave: int | None = None
    """Threads per wave and SM in the later rows of the larger K20 table; see ``published.toml``."""
    borrowed: tuple[str, ...] = ()
    """What another GPU's constants stand in for, in words."""

    def latency(self, operation: str) -> float:
        """Return the cycles of one instruction that is not a global access."""
        return self.latencies.get(operation, self.latencies["other"])

    @property
    def batch(self) -> int:
        """Load-store units of the whole chip."""
        return self.load_store_units * self.sm_count


@dataclass(frozen=True, slots=True)
class Rules:
    """Rules of the released data that hold on every GPU (``published.toml``, ``[rules]``)."""

    wave_slope_per_thread: float
    wave_intercept: float
    misc_per_compute: int
    misc_per_branch: int
    misc_per_kernel: int
    cache_access_bytes: int


def published_rules() -> Rules:
    """Return the rules that hold in all released tables."""
    return Rules(**_load()["rules"])


def has_released_table(name: str) -> bool:
    """Return whether a table of features was released for a GPU.

    >>> has_released_table("Tesla K20"), has_released_table("NVIDIA H200")
    (True, False)
    """
    return released_table(name) is not None


def released_table(name: str) -> str | None:
    """Return the GPU whose released table holds for one of that name, None without any.

    >>> released_table("Tesla V100 SXM2 16GB")
    'Tesla V100'
    """
    return next((key for key, row in _load()["gpus"].items() if name in row["boards"]), None)


def released_boards(table: str) -> tuple[str, ...]:
    """Return the names of the GPUs that a released table holds for."""
    return tuple(_load()["gpus"][table]["boards"])


def published_constants(name: str) -> Constants:
    """Return the constants behind the released table of a GPU.

    Raises
    ------
    UnsupportedGpuError
        If no table was released for it.

    >>> published_constants("Tesla V100").dispatch_units
    4
    """
    tables, match = _load()["gpus"], released_table(name)
    if match is None:
        hint = f"released tables: {', '.join(tables)}; use the thesis convention for other GPUs"
        raise UnsupportedGpuError(f"no released features for {name}", hint=hint)
    return _published(match, tables[match])


def _published(name: str, row: Mapping[str, Any]) -> Constants:
    pieces = tuple(LatencyPiece(**piece) for piece in row.get("global_latency", ()))
    return Constants(
        gpu=name,
        sm_count=row["sm_count"],
        warp_schedulers=4,
        dispatch_units=row["dispatch_units"],
        load_store_units=row["load_store_units"],
        max_threads_per_sm=row["max_threads_per_sm"],
        l2_size=row["l2_size_bytes"],
        memory_clock_ghz=row["memory_clock_ghz"],
        latencies=row["latencies"],
        global_latency=GlobalLatency(pieces, row.get("load_latency", 0.0), row.get("store_latency", 0.0)),
        global_throughput=_fit(row.get("global_throughput")),
        shared_throughput=_fit(row.get("shared_throughput")),
        shared_conflict=SharedConflict(**row["shared_conflict"]),
        shared_whole_batches=row["shared_whole_batches"],
        cache_latency_is_total=row["cache_latency"] == "total",
        later_threads_per_wave=row.get("later_threads_per_wave"),
    )


def _fit(row: Mapping[str, float] | None) -> ThroughputFit | None:
    return None if row is None else ThroughputFit(**row)


def thesis_constants(gpu: Gpu) -> Constants:
    """Return the constants the thesis prints for a GPU (Tables 3.2, 3.3, 4.5), or those of a relative.

    ``borrowed`` says what stands in for what. The thesis prints no latency of cvta, of approximate special
    functions, shuffles, tensor instructions and miscellaneous instructions: those of its nearest
    instruction, and for the last the 10 cycles of the released tables.

    Raises
    ------
    UnsupportedGpuError
        If nobody measured the latency of the GPU's memory.

    >>> from warpwatt.gpus import find
    >>> round(thesis_constants(find("k20")).global_latency.at(43008))
    315
    """
    printed, capability = parameters(gpu), gpu.capability
    cycles = printed.latencies
    stand_ins = {name: cycles[like] for name, like in _STAND_INS.items()}
    pieces = tuple(
        LatencyPiece(math.nextafter(p.high, math.inf), p.slope, p.intercept) for p in printed.global_latency
    )
    last = LatencyPiece(math.inf, 0.0, printed.global_latency_at(math.inf))
    fits = printed.global_throughput, printed.shared_throughput
    glob, shared = (ThroughputFit(fit.a / 1e6, fit.b, fit.c) for fit in fits)
    return Constants(
        gpu=gpu.name,
        sm_count=gpu.sm_count,
        warp_schedulers=capability.warp_schedulers,
        dispatch_units=capability.dispatch_units,
        load_store_units=capability.lsu_lanes or WARP_SIZE,
        max_threads_per_sm=capability.max_threads_per_sm,
        l2_size=gpu.l2_size,
        memory_clock_ghz=gpu.memory_clock / 1e9,
        latencies={**stand_ins, "misc": _MISC_LATENCY, **cycles},
        global_latency=GlobalLatency((*pieces, last)),
        global_throughput=glob,
        shared_throughput=shared,
        borrowed=tuple(f"{what} of {whose}" for what, whose in sorted(printed.borrowed_from.items())),
    )


@lru_cache(maxsize=1)
def _load() -> dict[str, Any]:
    with _TABLE.open("rb") as file:
        return tomllib.load(file)
