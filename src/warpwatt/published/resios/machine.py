"""What the model knows of a GPU: rates of operations, memory, limits. The thesis' GTX 460 or any other."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from warpwatt.core.gpu import Gpu
from warpwatt.models.latency import FALLBACK_CYCLES, OLD_FACTOR

_UNKNOWN_LATENCY_CYCLES = 4.5
"""Distance of dependent instructions since Volta where nobody measured it; older ones by OLD_FACTOR."""


@dataclass(frozen=True, slots=True)
class Rate:
    """An operation: latency in cycles, throughput in lanes per cycle and SM, warps for peak throughput."""

    latency: float
    throughput: float
    most: float


@dataclass(frozen=True, slots=True)
class Machine:
    """The parameters of Table 4.1 for one GPU. Bandwidths in bytes per cycle and SM (``bank``: and bank)."""

    name: str
    clock: float
    sms: int
    rates: Mapping[str, Rate]
    global_latency: float
    global_bandwidth: float
    line: int
    shared_latency: float
    bank_bandwidth: float
    banks: int
    bank_width: int
    peak_parallelism: float
    max_warps: int
    max_blocks: int
    warps_per_block: int
    registers: int
    registers_per_thread: int
    shared: int
    issue_factor: int
    """c of n_w³: instructions issued per cycle (5.2.1: 4 for compute capability 2.1)."""
    thesis: bool = False


@lru_cache
def tables() -> Mapping[str, Any]:
    """Return ``machine.toml``."""
    return tomllib.loads(Path(__file__).with_name("machine.toml").read_text(encoding="utf-8"))


def machine(gpu: Gpu) -> Machine:
    """Return the parameters for a GPU: the thesis' own for its GTX 460, data-sheet and measured ones else.

    The bandwidth is divided evenly among the SMs (chapter 7).

    >>> from warpwatt.gpus import find
    >>> m = machine(find("GTX 460"))
    >>> m.rates["mul"], round(m.global_bandwidth, 2), m.issue_factor
    (Rate(latency=20, throughput=16, most=16), 9.14, 4)
    """
    thesis, memory = gpu.name == tables()["thesis"]["gpu"], tables()["memory"]
    rates = {name: _rate(gpu, entry, thesis=thesis) for name, entry in tables()["operation"].items()}
    measured, cap = gpu.memory, gpu.capability
    bandwidth = memory["global_bandwidth"] if thesis else measured.dram_bandwidth or gpu.memory_bandwidth
    latency = memory["global_latency"] if thesis else measured.dram_latency or FALLBACK_CYCLES["dram"]
    shared = memory["shared_latency"] if thesis else measured.shared_latency or FALLBACK_CYCLES["shared"]
    per_cycle = bandwidth / (gpu.sm_count * gpu.boost_clock)
    line = memory["line"]
    return Machine(
        name=gpu.name,
        clock=gpu.boost_clock,
        sms=gpu.sm_count,
        rates=rates,
        global_latency=latency,
        global_bandwidth=per_cycle,
        line=line,
        shared_latency=shared,
        bank_bandwidth=memory["bank_bandwidth"],
        banks=cap.shared_banks,
        bank_width=cap.shared_bank_width,
        peak_parallelism=memory["peak_parallelism"] if thesis else max(1.0, latency * per_cycle / line),
        max_warps=cap.max_warps_per_sm,
        max_blocks=cap.max_blocks_per_sm,
        warps_per_block=cap.max_threads_per_block // cap.warp_size,
        registers=cap.registers_per_sm,
        registers_per_thread=cap.max_registers_per_thread,
        shared=cap.static_shared_limit,
        issue_factor=cap.dispatch_units,
        thesis=thesis,
    )


def _rate(gpu: Gpu, entry: Mapping[str, Any], *, thesis: bool) -> Rate:
    """Return an operation's rate; where nobody measured max_i it is what Little's law needs."""
    double = entry["class"].startswith("fp64")
    if thesis:
        latency, throughput, most = tables()["thesis"]["table"][entry["thesis"]]
        if double:
            throughput /= tables()["thesis"]["double_share"]
        return Rate(latency, throughput, most)
    work = entry.get("work", 1)
    known = (gpu.latencies[opcode] for opcode in entry["opcodes"] if opcode in gpu.latencies)
    factor = OLD_FACTOR.get(gpu.capability.version.split(".")[0], 1.0)
    latency = next(known, _UNKNOWN_LATENCY_CYCLES * factor) * work
    classes = gpu.capability.throughput
    throughput = (classes.get(entry["class"]) or classes["fp32_add_mul_fma"]) / work
    return Rate(latency, throughput, max(1, math.ceil(latency * throughput / gpu.capability.warp_size)))
