"""What units, stalls and sections are called for people, in Nsight Compute's order."""

from __future__ import annotations

from collections.abc import Mapping

from warpwatt.core.warps import Stall

COMPUTE_UNITS = {
    "fp32": "FP32 pipe",
    "fp64": "FP64 pipe",
    "fp16": "FP16 pipe",
    "int": "Integer pipe",
    "imad": "Integer multiplier",
    "sfu": "SFU",
    "tensor": "Tensor cores",
    "uniform": "Uniform pipe",
    "control": "Branch unit",
    "move": "Moves",
}
MEMORY_UNITS = {
    "dram": "DRAM",
    "l2": "L2 cache",
    "l1": "L1 cache",
    "shared": "Shared memory",
    "lsu": "LSU",
    "texture": "Texture unit",
}
SCHEDULER_UNITS = {"issue": "Issue slots"}
UNITS = {**MEMORY_UNITS, **COMPUTE_UNITS, **SCHEDULER_UNITS}
"""Keys of ``Timing.busy`` to their names; keys that are not here are shown as they are."""

STALL_REASONS: Mapping[Stall, str] = {
    Stall.SELECTED: "issuing an instruction",
    Stall.NOT_SELECTED: "ready, while the scheduler issued from another warp",
    Stall.LONG_SCOREBOARD: "waiting for data from L1, L2 or DRAM",
    Stall.SHORT_SCOREBOARD: "waiting for shared memory or a special function",
    Stall.LG_THROTTLE: "the queue of local and global accesses is full",
    Stall.MIO_THROTTLE: "the queue of shared-memory and special instructions is full",
    Stall.MATH_PIPE_THROTTLE: "the arithmetic pipe it needs is busy",
    Stall.TEX_THROTTLE: "the texture queue is full",
    Stall.BARRIER: "waiting for other warps of the block at a barrier",
    Stall.MEMBAR: "waiting for a memory fence",
    Stall.WAIT: "waiting out a fixed latency between dependent instructions",
    Stall.NO_INSTRUCTION: "waiting for instructions to be fetched",
    Stall.BRANCH_RESOLVING: "waiting for a branch target",
    Stall.DISPATCH: "held back by the dispatcher",
    Stall.DRAIN: "waiting for stores to drain before it exits",
    Stall.IMC_MISS: "waiting for constants that missed their cache",
    Stall.SLEEPING: "asleep by its own request",
}


COMPONENTS: Mapping[str, str] = {
    "board": "Board, always on",
    "memory": "Memory standby",
    "leakage": "Chip leakage",
    "clocks": "Clock tree",
    "active SMs": "SMs, awake",
    "dram": "DRAM traffic",
    "l2": "L2 traffic",
    "l1": "L1 traffic",
}
"""Keys of ``Prediction.energy_components`` that a unit's name would not tell from its busy share."""


def component_name(key: str) -> str:
    """Return the name of what energy goes into.

    >>> component_name("memory"), component_name("dram"), component_name("fp32")
    ('Memory standby', 'DRAM traffic', 'FP32 pipe')
    """
    return COMPONENTS.get(key, COMPONENTS.get(key.lower(), unit_name(key)))


GLOSSARY: Mapping[str, str] = {
    "Speed of Light": "Busy share of the time of every unit; of L2 and DRAM, rate over the rate they reach",
    "Roofline": "Work per second against work per byte, under what the units and memories allow",
    "Memory": "Bytes between the SMs, the caches and DRAM",
    "Scheduler and Warp State": "What warps do in each cycle: issue an instruction, or wait, and for what",
    "Occupancy": "Warps resident on an SM, in percent of the most that it can hold",
    "Theoretical": "Occupancy that registers, shared memory and block size allow",
    "Issue slots": "Cycles of the warp schedulers in which an instruction is issued",
    "DRAM": "The device's memory",
    "L2 cache": "The cache that all SMs share",
    "L1 cache": "The cache of each SM, in one memory with shared memory",
    "LSU": "Load/store unit: all accesses to shared, local and global memory pass through it",
    "FP32 pipe": "Single-precision additions, multiplications and multiply-adds (FMA)",
    "FP64 pipe": "Double-precision arithmetic",
    "FP16 pipe": "Half-precision arithmetic outside the tensor cores",
    "Integer pipe": "Additions, comparisons and logic of integers (ALU)",
    "Integer multiplier": "Integer multiply-adds",
    "SFU": "Special functions: reciprocal, square root, exponential, logarithm, sine (XU)",
    "Tensor cores": "Matrix multiply-accumulate instructions",
    "Uniform pipe": "Instructions whose operands are the same for all lanes of a warp",
    "Branch unit": "Branches, barriers and other control flow",
    "Moves": "Copies between registers",
    "Shared memory": "The memory of a block, on the SM; 32 banks of 4 bytes",
    "Texture unit": "Fetches from textures and surfaces",
    "dispatch": "The unit that gives blocks to the SMs",
}
"""What Nsight Compute's words mean, for those who do not know them."""


def unit_name(key: str) -> str:
    """Return the name of a utilisation key.

    >>> unit_name("L2"), unit_name("copy engine")
    ('L2 cache', 'copy engine')
    """
    return UNITS.get(key.lower(), key)


FEATURES: Mapping[str, str] = {
    "usual": "usual error",
    "active_sms": "active SMs",
    "lanes": "active lanes",
    "limit_share": "share of the power limit",
    "component.total": "power of the components",
    "clock.sm_share": "SM clock",
    "clock.memory_share": "memory clock",
    "issue.per_sm_clock": "issue rate",
}
_PREFIXES = {"utilisation.": "busy share of {}", "rate.": "rate at {}", "share.": "share of {}"}


def feature_name(key: str) -> str:
    """Return what a physical feature is called.

    >>> feature_name("utilisation.dram"), feature_name("share.l2"), feature_name("l2.per_sm_clock")
    ('busy share of DRAM', 'share of L2 cache', 'rate at L2 cache')
    """
    if key in FEATURES:
        return FEATURES[key]
    if key.endswith(".per_sm_clock"):
        return f"rate at {unit_name(key.partition('.')[0])}"
    for prefix, text in _PREFIXES.items():
        if key.startswith(prefix):
            return text.format(unit_name(key.removeprefix(prefix).replace("_", " ")))
    return key.replace("_", " ")


def names_unit(text: str, key: str) -> bool:
    """Return whether a model's words for a bottleneck mean the unit of a utilisation key.

    >>> names_unit("L1 throughput", "l1"), names_unit("shared memory", "shared"), names_unit("latency", "l2")
    (True, True, False)
    """
    lowered = text.lower()
    return key.lower() in lowered.split() or unit_name(key).lower() in lowered
