"""Time and energy of calls of closed libraries: operations and bytes under the roofs of the GPU.

Their kernels are not to be had, so what they reach of the roofs is assumed (``costs.toml``).
"""

from __future__ import annotations

import operator
import tomllib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from warpwatt.core.estimate import Estimate, Source, factor_draws
from warpwatt.core.program import Unit
from warpwatt.gpus import default_clocks
from warpwatt.models.component.table import tensor_weight
from warpwatt.models.roofs import DRAM_EFFICIENCY
from warpwatt.models.specification import MODEL_SPREAD, dram_joules_per_byte, flop_joules, static_watts

if TYPE_CHECKING:
    from warpwatt.core.gpu import Clocks, Gpu
    from warpwatt.run.libraries.calls import Operation

FLOPS_PER_FMA = 2
LEAST_USED = 1e-3
"""Share of the GPU that even the smallest product uses."""
_INSTEAD = {
    "tensor_fp64_fma": "fp64_add_mul_fma",
    "tensor_tf32_fma": "fp32_add_mul_fma",
    "tensor_fp16_fma": "fp16_add_mul_fma",
    "tensor_fp8_fma": "tensor_fp16_fma",
    "tensor_int8_mac": "fp32_add_mul_fma",
    "fp16_add_mul_fma": "fp32_add_mul_fma",
}
"""Who does the work where there is no such unit."""
_UNITS = {
    "fp64_add_mul_fma": (Unit.FP64, "FP64 pipe"),
    "fp32_add_mul_fma": (Unit.FP32, "FP32 pipe"),
    "fp16_add_mul_fma": (Unit.FP16, "FP16 pipe"),
}


@dataclass(frozen=True, slots=True, eq=False)
class Cost:
    """Seconds and joules of a call on one GPU, and what limits it."""

    time: Estimate
    energy: Estimate
    limiter: str


def cost(operation: Operation, gpu: Gpu, clocks: Clocks | None = None) -> Cost:
    """Return what an operation costs, at the GPU's default clocks if none are given.

    Where the board would need more than its power limit, it takes longer instead.

    Raises
    ------
    UnsupportedGpuError
        If the board's power is not known.
    """
    at = clocks or default_clocks(gpu)
    row = _table()[operation.kind]
    unit = _unit(gpu, operation.unit)
    rate = _rate(gpu, unit) * at.sm * row["efficiency"]["value"] * _used(operation, gpu)
    reached = gpu.memory.dram_bandwidth or DRAM_EFFICIENCY * gpu.memory_bandwidth
    bandwidth = reached * row["bandwidth"]["value"] * at.memory / gpu.memory_clock
    computing, moving = operation.work / rate, operation.bytes / bandwidth
    seconds = max(computing, moving) + row["latency"]["value"]
    kind, name = _UNITS.get(unit, (Unit.TENSOR, "tensor cores"))
    joules = operation.work * flop_joules(gpu, kind) * tensor_weight(unit)
    joules += operation.bytes * dram_joules_per_byte(gpu)
    static = sum(static_watts(gpu, gpu.sm_count).values())
    limiter = name if computing > moving else "DRAM bandwidth"
    limit = gpu.power_limit
    if limit is not None and static + joules / seconds > limit:
        seconds, limiter = joules / (limit - static), f"power limit ({limiter})"
    return _with_draws(operation, row["spread"]["value"], seconds, joules, static, limiter)


def _with_draws(
    operation: Operation, spread: float, seconds: float, joules: float, static: float, limiter: str
) -> Cost:
    """Return a cost as wide as what is assumed."""
    factors = factor_draws({f"library:{operation.kind}": spread})
    time = Estimate.from_draws(seconds, [seconds * f for f in factors], "s", Source.ASSUMED)
    activity = factor_draws({"model:specification": MODEL_SPREAD})
    moved = Estimate.from_draws(joules, [joules * f for f in activity], "J", Source.ASSUMED)
    energy = time.scaled(static).combine(moved, operator.add, "J")
    return Cost(time, energy, limiter)


def _unit(gpu: Gpu, wanted: str) -> str:
    """Return the row of the throughput table that the GPU has for a unit."""
    while wanted not in gpu.capability.throughput and wanted in _INSTEAD:
        wanted = _INSTEAD[wanted]
    return wanted


def _rate(gpu: Gpu, unit: str) -> float:
    """Return operations per clock of the whole GPU."""
    lanes = {"fp64_add_mul_fma": gpu.capability.fp64_lanes}.get(unit, gpu.capability.fp32_lanes)
    return float(gpu.sm_count * gpu.capability.throughput.get(unit, lanes) * FLOPS_PER_FMA)


def _used(operation: Operation, gpu: Gpu) -> float:
    """Return how much of the GPU a product keeps busy, with the tiles that do so best; else all of it."""
    if operation.results is None:
        return 1.0
    rows, columns, count = operation.results
    found = []
    for tile in _table()["tile"]:
        size = tile["size"]
        tiles = max(1, -(-rows // size) * -(-columns // size) * count)
        waves = -(-tiles // gpu.sm_count) * gpu.sm_count
        whole = rows * columns * count / (tiles * size * size)
        found.append(tile["efficiency"]["value"] * whole * tiles / waves)
    return float(max(*found, LEAST_USED))


@lru_cache(maxsize=1)
def _table() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name("costs.toml").read_text(encoding="utf-8"))
