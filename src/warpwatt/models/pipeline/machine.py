"""The SM of one GPU at given clocks, in the numbers that the simulator needs."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np

from warpwatt.models.dispatch import dispatch_rate
from warpwatt.models.pipeline import layout as c

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from warpwatt.core.gpu import Clocks, Gpu

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
    l2_bytes: float
    dram_bytes: float
    rates: dict[str, float]
    values: dict[str, Any]
    ns: float
    """SM cycles per nanosecond."""
    geforce: bool
    dispatch_cycles: float
    """Cycles between the blocks that one SM gets while all of them are being filled."""

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
        l1_bytes=memory.l1_bandwidth_per_sm_clock or 128.0,
        l1_latency=memory.l1_latency or FALLBACK_CYCLES["l1"],
        l2_latency=l2,
        dram_latency=_dram_latency(gpu, clocks, values, l2),
        l2_bytes=l2_bandwidth / gpu.sm_count / clocks.sm,
        dram_bytes=dram_bandwidth / gpu.sm_count / clocks.sm,
        rates=dict(capability.throughput),
        values=values,
        ns=ns,
        geforce=gpu.name.startswith(("GeForce", "Titan", "TITAN")),
        dispatch_cycles=gpu.sm_count / dispatch_rate(gpu)[0],
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
    machine: Machine, resident: int, warps_per_block: int, share: float, turn: int = 0
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the simulator's settings: whole numbers, rates.

    ``share`` scales the even share of L2 and DRAM that this SM gets; ``turn``: see :data:`.layout.TURN`.
    """
    v = machine.values
    numbers = np.zeros(c.INT_SETTINGS, np.int64)
    numbers[[c.SUB_CORES, c.RESIDENT, c.WARPS_PER_BLOCK]] = machine.sub_cores, resident, warps_per_block
    numbers[c.ISSUE_ORDER], numbers[c.TURN] = _ORDERS[v["issue_order"]], turn
    numbers[c.L1I_MISS_CYCLES] = round(machine.l2_latency)
    for column, name in _COUNTS.items():
        numbers[column] = v[name]
    rates = np.zeros(c.FLOAT_SETTINGS)
    rates[[c.L2_BYTES, c.DRAM_BYTES]] = machine.l2_bytes * share, machine.dram_bytes * share
    rates[[c.PORT_BYTES, c.WRITE_PORT_BYTES]] = v["port_bytes"]
    rates[c.LOAD_LINEAR], rates[c.LOAD_QUEUE] = (
        v["load_linear_ns"] * machine.ns,
        v["load_queue_ns"] * machine.ns,
    )
    rates[c.LOAD_WINDOW], rates[c.BACKLOG] = v["load_window_cycles"], v["backlog_cycles"]
    rates[c.DISPATCH] = machine.dispatch_cycles
    rates[c.BURST], rates[c.BURST_AFTER] = v["burst_cycles"], v["burst_after_cycles"]
    return numbers, rates


_ORDERS = {
    "oldest": c.OLDEST, "youngest": c.YOUNGEST, "longest waiting": c.LONGEST_WAITING,
    "oldest block": c.OLDEST_BLOCK,
}  # fmt: skip
_COUNTS = {
    c.QUEUE_DEPTH: "queue_depth", c.ADDRESS_CYCLES: "address_cycles", c.BARRIER_CYCLES: "barrier_cycles",
    c.BLOCK_CYCLES: "block_cycles", c.L0_LINES: "l0_lines", c.L0_MISS_CYCLES: "l0_miss_cycles",
    c.READ_WINDOW: "read_window", c.OFF_CYCLES: "off_cycles", c.WARP_CYCLES: "warp_cycles",
    c.L1I_LINES: "l1i_lines", c.L1I_AHEAD: "l1i_ahead",
}  # fmt: skip
"""Settings that are values of ``machines.toml`` as they stand."""
