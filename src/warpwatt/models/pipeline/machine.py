"""The SM of one GPU at given clocks, in the numbers that the simulator needs."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np

from warpwatt.core.gpu import Clocks, Gpu
from warpwatt.models.dispatch import dispatch_rate, warp_rate
from warpwatt.models.pipeline.codes import IssueOrder
from warpwatt.models.pipeline.simulator import record_type
from warpwatt.models.roofs import l1_bytes
from warpwatt.models.tensor_rates import halves_fp32_sums

if TYPE_CHECKING:
    from warpwatt.models.pipeline.simulator import Records

FALLBACK_CYCLES = {"l1": 33.0, "l2": 260.0, "dram": 600.0}
"""Memory latencies where no relative was measured: medians of the packaged measurements since Volta."""


@dataclass(frozen=True, slots=True, eq=False)
class Machine:
    """An SM: latencies in SM cycles, rates in bytes per SM cycle and SM.

    ``values`` are those of ``machines.toml``; ``rates`` threads per clock and SM by throughput class.
    """

    name: str
    version: str
    sm_count: int
    sub_cores: int
    lsu_cycles: float
    """Cycles of the load-store unit that no memory instruction goes below: 32 over its lanes."""
    bank_cycles: float
    """Cycles per wavefront of shared memory."""
    l1_bytes: float
    l1_latency: float
    l2_latency: float
    dram_latency: float
    code_latency: float
    """Cycles until a line of code that the SM has not is there."""
    l2_bytes: float
    dram_bytes: float
    rates: dict[str, float]
    values: dict[str, Any]
    ns: float
    """SM cycles per nanosecond."""
    halves_fp32_sums: bool
    dispatch_cycles: float
    """Cycles between the blocks that one SM gets while all of them are being filled."""
    warp_dispatch_cycles: float
    """The same between their warps."""

    @property
    def one_kind_of_core(self) -> bool:
        """Whether the same lanes take FP32 and integers, as before Volta (NVIDIA, V100 whitepaper)."""
        return int(self.version.split(".")[0]) < 7

    def sharers(self, blocks: int) -> float:
        """Return how many SMs that share a write port have blocks: they go to ports that have none first."""
        most = self.values["write_port_sms"]
        return float(min(most, max(1.0, blocks * most / self.sm_count)))

    def interval(self, throughput_class: str, fallback: float = 16.0) -> float:
        """Return the cycles that one warp instruction of a class keeps its sub-core's pipe."""
        rate = self.rates.get(throughput_class) or fallback * self.sub_cores
        return self.sub_cores * 32.0 / rate


def machine(gpu: Gpu, clocks: Clocks, dram_bandwidth: float, l2_bandwidth: float) -> Machine:
    """Return the SM of ``gpu``; bandwidths in bytes per second for the whole chip at these clocks."""
    capability, memory = gpu.capability, gpu.memory
    values = parameters(capability.version)
    ns = clocks.sm * 1e-9
    l2 = memory.l2_latency or FALLBACK_CYCLES["l2"]
    banks = capability.shared_banks * capability.shared_bank_width
    return Machine(
        name=gpu.name,
        version=capability.version,
        sm_count=gpu.sm_count,
        sub_cores=capability.warp_schedulers,
        lsu_cycles=32.0 / (capability.lsu_lanes or 32),
        bank_cycles=banks / (capability.shared_bytes_per_clock or banks),
        l1_bytes=l1_bytes(gpu),
        l1_latency=memory.l1_latency or FALLBACK_CYCLES["l1"],
        l2_latency=l2,
        dram_latency=_dram_latency(gpu, clocks, values, l2),
        code_latency=l2,
        l2_bytes=l2_bandwidth / gpu.sm_count / clocks.sm,
        dram_bytes=dram_bandwidth / gpu.sm_count / clocks.sm,
        rates=dict(capability.throughput),
        values=values,
        ns=ns,
        halves_fp32_sums=halves_fp32_sums(gpu),
        dispatch_cycles=gpu.sm_count / dispatch_rate(gpu, clocks.sm)[0],
        warp_dispatch_cycles=gpu.sm_count / warp_rate(gpu),
    )


def _dram_latency(gpu: Gpu, clocks: Clocks, values: dict[str, Any], l2: float) -> float:
    """Return cycles to DRAM and back: the way to L2 in SM cycles, the rest in cycles of the memory.

    As equation (4) of Wang and Chu (2018) has it: slope · f_core / f_mem + intercept.
    """
    memory = gpu.memory
    measured_at = (memory.dram_latency_clock or gpu.boost_clock) * 1e-9
    total = values.get("dram_ns")
    if total is None:
        total = (memory.dram_latency or FALLBACK_CYCLES["dram"]) / measured_at
    beyond = max(0.0, total - l2 / measured_at) * gpu.memory_clock / clocks.memory
    return l2 + beyond * clocks.sm * 1e-9


@lru_cache(maxsize=16)
def parameters(version: str) -> dict[str, Any]:
    """Return name to value for a compute capability.

    >>> parameters("7.5")["shared_latency"], parameters("8.6")["shared_latency"]
    (19, 24)
    """
    data = _data()
    rows = {**data["common"], **data["capability"].get(version, {})}
    return {name: row["value"] for name, row in rows.items()}


@lru_cache(maxsize=1)
def _data() -> dict[str, Any]:
    text = files("warpwatt.models.pipeline").joinpath("machines.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def settings(
    machine: Machine,
    resident: int,
    warps_per_block: int,
    share: float,
    rotation: int = 0,
    sharers: float = 1.0,
) -> Records:
    """Return the simulator's record ``Settings``.

    ``share`` scales the even share of L2 and DRAM that this SM gets; ``sharers``: busy SMs at its write port;
    ``rotation``: issued instructions after which the oldest block becomes the youngest, 0 for never.
    """
    v = machine.values
    found = np.zeros((), record_type("Settings"))
    for name in found.dtype.names or ():
        if name in v and name != "issue_order":
            found[name] = v[name]
    found["issue_order"] = IssueOrder[v["issue_order"].upper().replace(" ", "_")]
    found["sub_cores"], found["resident_blocks"] = machine.sub_cores, resident
    found["warps_per_block"], found["rotation_instructions"] = warps_per_block, rotation
    found["l1i_miss_cycles"] = round(machine.code_latency)
    found["dispatch_cycles"] = max(machine.dispatch_cycles, warps_per_block * machine.warp_dispatch_cycles)
    found["write_port_bytes"] = v["write_port_bytes"] / sharers
    found["l2_bytes"], found["dram_bytes"] = machine.l2_bytes * share, machine.dram_bytes * share
    found["load_linear_cycles"] = v["load_linear_ns"] * machine.ns
    found["load_queue_cycles"] = v["load_queue_ns"] * machine.ns
    return found
