"""Why a launch takes its time: busy shares of units, warp states, and what to call the limit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from warpwatt.core.case import Stall
from warpwatt.core.warps import WarpStates
from warpwatt.models.pipeline import layout as c

if TYPE_CHECKING:
    from collections.abc import Mapping

    from warpwatt.models.pipeline.chip import Launched, Simulated

BOUND = 0.75
"""A unit busy for this share of the time is called the bottleneck; else it is what warps wait for."""
MOSTLY = 0.8
"""A part of the load-store unit's work from which on the unit is called by that part's name."""
KEYS = {"fma": "fp32", "alu": "int", "xu": "sfu", "branch": "control"}
"""What other models call a unit."""
_NAMES = {
    "fma": "FP32 pipe", "alu": "INT pipe", "fp16": "FP16 pipe", "xu": "SFU", "fp64": "FP64 pipe",
    "tensor": "tensor cores", "uniform": "uniform datapath", "branch": "branch unit", "lsu": "LSU",
    "issue": "issue slots", "l2": "L2 bandwidth", "dram": "DRAM bandwidth", "texture": "texture unit",
    "barrier unit": "block barriers", "atomics": "atomics on one address", "l1": "L1 throughput",
    "shared": "shared memory", "dispatch": "block dispatch",
}  # fmt: skip


def utilisation(result: Simulated, launched: Launched) -> dict[str, float]:
    """Return unit or level to its busy share of the cycles.

    ``lsu`` is the load-store unit in all, ``l1`` and ``shared`` its parts for either memory.
    """
    sm, cycles, counted = launched.machine, max(1.0, result.simulated), result.results
    busy: dict[str, float] = {"issue": counted[c.ISSUED] / sm.sub_cores / cycles}
    for number, name in enumerate(c.PIPE_NAMES):
        pipes = 2 if name == "fma" and sm.rates.get("fp32_add_mul_fma", 0) >= 128 else 1
        share = result.pipe_busy[number] / sm.sub_cores / cycles / pipes
        busy[name] = busy.get(name, 0.0) + share
    for number, name in enumerate(c.SHARED_PIPE_NAMES):
        busy[name] = max(busy.get(name, 0.0), result.pipe_busy[c.PIPES + number] / cycles)
    for name, column in (("lsu", c.LSU_BUSY), ("l1", c.L1_BUSY), ("shared", c.SHARED_BUSY)):
        busy[name] = counted[column] / cycles
    share = max(1.0, launched.machine.sm_count / launched.blocks)
    busy["dispatch"] = counted[c.DISPATCH_BUSY] / cycles
    busy["l2"] = counted[c.L2_BYTES_MOVED] / cycles / sm.l2_bytes / share
    busy["dram"] = counted[c.DRAM_BYTES_MOVED] / cycles / sm.dram_bytes / share
    return {name: float(min(1.0, value)) for name, value in busy.items() if value > 0}


def warp_states(result: Simulated, launched: Launched) -> WarpStates:
    """Return where the warps' cycles went."""
    consumer, place = np.nonzero(result.awaited)
    producer = result.producers[consumer, place] - 1
    reason = launched.table.ints[producer, c.REASON]
    waits = np.column_stack((consumer, producer, reason, result.awaited[consumer, place]))
    return WarpStates(c.REASONS, result.stalls, waits, result.simulated, launched.machine.sub_cores)


def bottleneck(busy: Mapping[str, float], stalls: Mapping[Stall, float]) -> str:
    """Return the busiest unit, or what warps wait for where none is busy.

    >>> bottleneck({"lsu": 0.9, "l1": 0.1, "shared": 0.8}, {}), bottleneck({"lsu": 0.9, "l1": 0.5}, {})
    ('shared memory', 'LSU')
    >>> bottleneck({"dram": 0.3}, {Stall.NOT_SELECTED: 0.6, Stall.WAIT: 0.4})
    'latency (Wait)'
    """
    unit, share = max(busy.items(), key=lambda item: item[1])
    if share >= BOUND:
        parts = (part for part in ("shared", "l1") if busy.get(part, 0.0) >= MOSTLY * share)
        return _NAMES[next(parts, unit) if unit in ("lsu", "shared", "l1") else unit]
    waits = [stall for stall in stalls if stall not in (Stall.SELECTED, Stall.NOT_SELECTED)]
    return f"latency ({waits[0]})" if waits else "latency"
