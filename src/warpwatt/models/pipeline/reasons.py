"""Why a launch takes its time: busy shares of units, warp states, and what to call the limit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from warpwatt.core.warps import Stall, WarpStates
from warpwatt.models.pipeline.codes import REASONS, Pipe, SmPipe

if TYPE_CHECKING:
    from warpwatt.models.pipeline.chip import ChipLaunch, ChipSimulation

BOUND = 0.75
"""A unit busy for this share of the time is called the bottleneck; else it is what warps wait for."""
MOSTLY = 0.8
"""A part of the load-store unit's work from which on the unit is called by that part's name."""
KEYS = {"fma": "fp32", "alu": "int", "xu": "sfu", "branch": "control"}
"""What other models call a unit."""
_PIPES = {
    Pipe.FMA: "fma", Pipe.FMA_LITE: "fma", Pipe.ALU: "alu", Pipe.FP16: "fp16", Pipe.XU: "xu",
    Pipe.FP64: "fp64", Pipe.TENSOR: "tensor", Pipe.UNIFORM: "uniform", Pipe.BRANCH: "branch",
}  # fmt: skip
_SM_PIPES = {SmPipe.FP64: "fp64", SmPipe.BARRIER: "barrier unit", SmPipe.TENSOR: "tensor"}
_NAMES = {
    "fma": "FP32 pipe", "alu": "INT pipe", "fp16": "FP16 pipe", "xu": "SFU", "fp64": "FP64 pipe",
    "tensor": "tensor cores", "uniform": "uniform datapath", "branch": "branch unit", "lsu": "LSU",
    "issue": "issue slots", "l2": "L2 bandwidth", "dram": "DRAM bandwidth",
    "barrier unit": "block barriers", "atomics": "atomics on one address", "l1": "L1 throughput",
    "shared": "shared memory", "dispatch": "block dispatch", "write port": "stores leaving the SMs",
    "hot lines": "stores to few lines",
}  # fmt: skip


def utilisation(result: ChipSimulation, launched: ChipLaunch) -> dict[str, float]:
    """Return unit or level to its busy share of the cycles.

    ``lsu`` is the load-store unit in all, ``l1`` and ``shared`` its parts for either memory.
    """
    sm, cycles, counted = launched.machine, max(1.0, result.sm.counters.cycles), result.sm.counters
    busy: dict[str, float] = {"issue": counted.issued_instructions / sm.sub_cores / cycles}
    for pipe, name in _PIPES.items():
        pipes = 2 if name == "fma" and sm.rates.get("fp32_add_mul_fma", 0) >= 128 else 1
        share = result.sm.pipe_busy[pipe] / sm.sub_cores / cycles / pipes
        busy[name] = busy.get(name, 0.0) + share
    for sm_pipe, name in _SM_PIPES.items():
        busy[name] = max(busy.get(name, 0.0), result.sm.sm_pipe_busy[sm_pipe] / cycles)
    busy["lsu"], busy["l1"] = counted.lsu_busy / cycles, counted.l1_busy / cycles
    busy["shared"] = counted.shared_memory_busy / cycles
    share = max(1.0, launched.machine.sm_count / launched.blocks)
    busy["dispatch"] = counted.dispatch_busy / cycles
    port = sm.values["write_port_bytes"] / sm.sharers(launched.blocks)
    busy["write port"] = counted.written_bytes / cycles / port
    busy["l2"] = counted.l2_bytes / cycles / sm.l2_bytes / share
    busy["dram"] = counted.dram_bytes / cycles / sm.dram_bytes / share
    return {name: float(min(1.0, value)) for name, value in busy.items() if value > 0}


def warp_states(result: ChipSimulation, launched: ChipLaunch) -> WarpStates:
    """Return where the warps' cycles went."""
    consumer, place = np.nonzero(result.sm.awaited)
    producer = result.sm.producers[consumer, place]
    reason = launched.table["result_stall"][producer]
    waits = np.column_stack((consumer, producer, reason, result.sm.awaited[consumer, place]))
    return WarpStates(REASONS, result.sm.stalls, waits, result.sm.counters.cycles, launched.machine.sub_cores)


def bottleneck(busy: Mapping[str, float], stalls: Mapping[Stall, float]) -> str:
    """Return the busiest unit, or what warps wait for where none is busy.

    >>> bottleneck({"lsu": 0.9, "l1": 0.1, "shared": 0.8}, {}), bottleneck({"lsu": 0.9, "l1": 0.5}, {})
    ('shared memory', 'LSU')
    >>> bottleneck({"dram": 0.3}, {Stall.NOT_SELECTED: 0.6, Stall.WAIT: 0.4})
    'latency (Wait)'
    """
    unit, share = busiest(busy)
    if share >= BOUND:
        return _NAMES[unit]
    waits = [stall for stall in stalls if stall not in (Stall.SELECTED, Stall.NOT_SELECTED)]
    return f"latency ({waits[0]})" if waits else "latency"


def busiest(busy: Mapping[str, float]) -> tuple[str, float]:
    """Return the busiest unit and its share; of the load-store unit the part that is most of its work.

    >>> busiest({"lsu": 0.9, "l1": 0.1, "shared": 0.8}), busiest({})
    (('shared', 0.9), ('', 0.0))
    """
    unit, share = max(busy.items(), key=lambda item: item[1], default=("", 0.0))
    if unit in ("lsu", "shared", "l1"):
        unit = next((part for part in ("shared", "l1") if busy.get(part, 0.0) >= MOSTLY * share), unit)
    return unit, share
