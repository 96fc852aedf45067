"""The abstract GPU of section 4.1, ⟨R, 𝒜, T, 𝒫𝒯𝒳, Rmap, 𝓛, 𝓣𝓟, 𝓑𝓦, 𝒫⟩, for any GPU at given clocks.

What the thesis measured on a GPU is taken from there. Anything else comes from the latency facts of the
nearest measured relative and from the specification; each such loan is reported and widens the interval.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from warpwatt.core.gpu import Capability, Clocks, Gpu
from warpwatt.published.alavani.opclass import Resource
from warpwatt.published.alavani.parameters import parameters
from warpwatt.published.alavani.waves import SmLimits

if TYPE_CHECKING:
    from warpwatt.published.alavani.parameters import AlavaniParameters

_HERE = Path(__file__).parent
_WORKED_EXAMPLE = {"Tesla K20": {"cvta": 33.0}}
"""Section 4.4.4.2 computes with 33 cycles for cvta on the K20; Table 3.2 has no row for it."""
MISC_LATENCY = 10.0
"""Cycles of a type M instruction: misc_lat_sm / misc_inst_sm in the feature tables the author released."""
_K20, _K20_LANES = "Tesla K20", 192
_LSU_DEFAULT = 32
_TENSOR_THREADS = 4.0
"""Threads a tensor core serves per cycle: a warp's m16n8k16 takes 8 cycles on the 4 of an sm_80 SM."""


@dataclass(frozen=True, slots=True)
class AbstractGpu:
    """The thesis' model of one GPU.

    Attributes
    ----------
    instances
        R: units per SM. ``WS`` counts the threads the warp schedulers issue in a cycle (32 each), so that
        ⌈nTW/R⌉ is in cycles for every resource.
    sms, clock, l2_size, bandwidth
        nSM, v_gpu in hertz, L2_sz in bytes, BW_g in bytes per second.
    latencies
        𝓛 in cycles by operation of :mod:`warpwatt.published.alavani.opclass`, without ``"global"``.
    throughputs, peak_warps
        𝓣𝓟 (threads per cycle and SM) and peakWarps by operation for ILP 1, 2 and 3.
    published
        Tables 3.3 and 4.5 and the launch overhead, with stand-ins where the thesis did not measure.
    latency_scale
        Cycles of v_gpu per cycle at which the DRAM latency was counted; 1 for Table 3.3.
    loans
        Operations whose latency was not measured by the thesis on this GPU, with where it comes from.
    """

    name: str
    sms: int
    clock: float
    l2_size: int
    bandwidth: float
    banks: int
    bank_width: int
    dispatch_units: int
    limits: SmLimits
    instances: Mapping[Resource, float]
    latencies: Mapping[str, float]
    throughputs: Mapping[str, tuple[float, ...]]
    peak_warps: Mapping[str, tuple[float, ...]]
    published: AlavaniParameters
    latency_scale: float
    loans: Mapping[str, str]

    def latency(self, operation: str, threads: int) -> int:
        """Return 𝓛 in whole cycles, rounded up (𝓛 maps to ℕ); that of ``"global"`` depends on nT_b·nB."""
        if operation == "global":
            return math.ceil(self.global_latency(threads))
        return math.ceil(self.latencies[operation])

    def global_latency(self, threads: int) -> float:
        """Return 𝓛(gm) in cycles: Table 3.3 where it was measured, else the DRAM latency of the facts."""
        return self.published.global_latency_at(threads) * self.latency_scale


def abstract_gpu(gpu: Gpu, clocks: Clocks) -> AbstractGpu:
    """Return the abstract model of a GPU at given clocks.

    Raises
    ------
    UnsupportedGpuError
        If the DRAM latency is known of neither the GPU nor a relative.
    """
    capability = gpu.capability
    published = parameters(gpu)
    latencies, loans = _latencies(gpu, published)
    throughputs = {name: _throughputs(gpu.name, name, capability) for name in latencies}
    return AbstractGpu(
        name=gpu.name,
        sms=gpu.sm_count,
        clock=clocks.sm,
        l2_size=gpu.l2_size,
        bandwidth=gpu.memory.dram_bandwidth or gpu.memory_bandwidth,
        banks=capability.shared_banks,
        bank_width=capability.shared_bank_width,
        dispatch_units=capability.dispatch_units,
        limits=SmLimits(
            capability.max_threads_per_sm,
            capability.max_blocks_per_sm,
            capability.registers_per_sm,
            capability.max_shared_per_sm,
        ),
        instances=_instances(capability),
        latencies=latencies,
        throughputs=throughputs,
        peak_warps={n: _peak_warps(gpu.name, n, latencies[n], tp) for n, tp in throughputs.items()},
        published=published,
        latency_scale=_latency_scale(gpu, clocks, published),
        loans=loans,
    )


def _instances(capability: Capability) -> dict[Resource, float]:
    return {
        Resource.SP: capability.fp32_lanes,
        Resource.DPU: capability.fp64_lanes,
        Resource.SFU: capability.sfu_lanes,
        Resource.LSU: capability.lsu_lanes or _LSU_DEFAULT,
        Resource.WS: capability.warp_schedulers * capability.warp_size,
        Resource.TC: max(capability.tensor_cores, 1) * _TENSOR_THREADS,
    }


def _latencies(gpu: Gpu, published: AlavaniParameters) -> tuple[dict[str, float], dict[str, str]]:
    """Latency of every operation but ``"global"``, and where those come from that the thesis lacks.

    In this order: the thesis on this GPU, the facts on this GPU or a relative, another operation, the
    thesis on the GPU nearest to this one. The thesis comes last because its Maxwell and Volta columns are
    far from all other sources for several instructions.
    """
    rules = _read("fallbacks.toml")
    relative = published.borrowed_from.get("latencies")
    own = published.latencies if relative is None else {}
    values = {**own, **_WORKED_EXAMPLE.get(gpu.name, {}), "misc": MISC_LATENCY}
    loans: dict[str, str] = {}
    for name in sorted(rules.keys() - values.keys()):
        fact = next((o for o in rules[name]["opcodes"] if o in gpu.latencies), None)
        if fact is not None:
            values[name] = gpu.latencies[fact]
            loans[name] = f"facts on {fact}"
    for name in sorted(rules.keys() - values.keys()):
        other = _alike(name, rules, values)
        values[name] = published.latencies[name] if other is None else values[other]
        loans[name] = f"thesis on {relative}" if other is None else f"that of {other}"
    return values, loans


def _alike(name: str, rules: Mapping[str, Any], values: Mapping[str, float]) -> str | None:
    """Follow ``like`` until an operation with a known latency."""
    seen = {name}
    other: str | None = rules[name].get("like")
    while other is not None and other not in values and other not in seen:
        seen.add(other)
        other = rules[other].get("like")
    return other if other in values else None


def _latency_scale(gpu: Gpu, clocks: Clocks, published: AlavaniParameters) -> float:
    """Nanoseconds of DRAM, not cycles, stay the same when the clock differs from the one counted at."""
    counted_at = gpu.memory.dram_latency_clock
    if "global_latency" not in published.borrowed_from or counted_at is None:
        return 1.0
    return clocks.sm / counted_at


def _throughputs(gpu: str, name: str, capability: Capability) -> tuple[float, ...]:
    """𝓣𝓟 for ILP 1 to 3: Table 3.1 on the K20, else the documented rate, else the K20's per FP32 lane."""
    table: Mapping[str, list[float]] = _read("measured.toml")[_K20]["throughput"]
    if gpu == _K20 and name in table:
        return tuple(table[name])
    rate = capability.throughput.get(_read("fallbacks.toml")[name].get("throughput", ""))
    if rate is not None:
        return (rate,)
    per_lane = [t / _K20_LANES for t in table.get(name, [_K20_LANES])]
    return tuple(t * capability.fp32_lanes for t in per_lane)


def _peak_warps(gpu: str, name: str, latency: float, rates: tuple[float, ...]) -> tuple[float, ...]:
    """PeakWarps for ILP 1 to 3: Table 3.1 on the K20, else what Little's law asks for: 𝓛·𝓣𝓟/Sz_w."""
    measured = _read("measured.toml").get(gpu, {}).get("peak_warps", {}).get(name)
    return tuple(measured) if measured is not None else tuple(latency * r / 32 for r in rates)


def at_ilp(values: tuple[float, ...], ilp: float) -> float:
    """Return the value measured at the nearest ILP (1, 2, 3; the last one beyond).

    >>> at_ilp((122, 128, 167), 1.6), at_ilp((150,), 3)
    (128, 150)
    """
    return values[min(max(round(ilp), 1), len(values)) - 1]


def published_error(model: str, gpu: str) -> float | None:
    """Return the published MAPE of a model on a GPU as a fraction, or None.

    >>> round(published_error("reservation", "Tesla K20"), 4), published_error("ilp_tlp", "H200")
    (0.2835, None)
    """
    percent = _read("measured.toml")["mape"][model].get(gpu)
    return None if percent is None else percent / 100


def worst_published_error(model: str) -> float:
    """Return the largest published MAPE of a model as a fraction.

    >>> round(worst_published_error("reservation"), 4)
    0.4776
    """
    worst: float = max(_read("measured.toml")["mape"][model].values())
    return worst / 100


def reproduction_spread(model: str) -> float:
    """Return by how much our predictions scatter beyond the published error (logarithm).

    >>> reproduction_spread("reservation")
    0.65
    """
    spread: float = _read("measured.toml")["reproduction"][model]
    return spread


@lru_cache(maxsize=2)
def _read(name: str) -> dict[str, Any]:
    with (_HERE / name).open("rb") as file:
        return tomllib.load(file)
