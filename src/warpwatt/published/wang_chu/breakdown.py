"""Which types of instructions a kernel executes, as Figure 12 of Wang and Chu (2018) draws them."""

from __future__ import annotations

from collections.abc import Mapping

from warpwatt.core.execution import Workload
from warpwatt.core.program import Access, Instruction, Space
from warpwatt.emulate.workload import OFF_CHIP

COMPUTE, SHARED, L2, DRAM, OTHER = "computation", "shared memory", "L2", "DRAM", "other memory"
KINDS = (COMPUTE, SHARED, L2, DRAM, OTHER)


def breakdown(work: Workload) -> dict[str, float]:
    """Return type of instruction to its share of all executed warp instructions; sums to 1.

    Global memory instructions are parted by where their sectors come from, with the L2 hit rate of the
    kernel, as the figure does with transactions. Constants and parameters are other memory.
    """
    counts = dict.fromkeys(KINDS, 0.0)
    execution = work.execution
    for instruction, count in zip(execution.program.instructions, execution.counts, strict=True):
        counts[_kind(instruction)] += count
    hit = max(0.0, 1.0 - work.dram.total / work.l2.total) if work.l2.total else 0.0
    counts[L2], counts[DRAM] = counts[DRAM] * hit, counts[DRAM] * (1.0 - hit)
    return _shares(counts)


def breakdown_of_counters(counters: Mapping[str, float]) -> dict[str, float]:
    """Return the same from nvprof's counters: instructions, and requests to global and shared memory.

    Other memory is not counted apart. Empty where instructions were not counted.

    >>> breakdown_of_counters({"inst_executed": 10, "gld_transactions": 8, "gld_transactions_per_request": 4,
    ...     "l2_read_transactions": 8, "dram_read_transactions": 4})
    {'computation': 0.8, 'shared memory': 0.0, 'L2': 0.1, 'DRAM': 0.1, 'other memory': 0.0}
    """
    executed = counters.get("inst_executed", 0.0)
    off_chip = _requests(counters, "gld") + _requests(counters, "gst")
    shared = _requests(counters, "shared_load") + _requests(counters, "shared_store")
    if not executed:
        return {}
    at_l2 = counters.get("l2_read_transactions", 0.0) + counters.get("l2_write_transactions", 0.0)
    at_dram = counters.get("dram_read_transactions", 0.0) + counters.get("dram_write_transactions", 0.0)
    hit = max(0.0, 1.0 - at_dram / at_l2) if at_l2 else 0.0
    rest = max(0.0, executed - off_chip - shared)
    counts = {COMPUTE: rest, SHARED: shared, L2: off_chip * hit, DRAM: off_chip * (1.0 - hit), OTHER: 0.0}
    return _shares(counts)


def _requests(counters: Mapping[str, float], name: str) -> float:
    each = counters.get(f"{name}_transactions_per_request", 0.0)
    return counters.get(f"{name}_transactions", 0.0) / each if each else 0.0


def _kind(instruction: Instruction) -> str:
    memory = instruction.memory
    if memory is None:
        return COMPUTE
    if memory.space == Space.SHARED:
        return SHARED
    if memory.space in OFF_CHIP and memory.access is not Access.PREFETCH:
        return DRAM  # parted by the hit rate afterwards
    return OTHER


def _shares(counts: Mapping[str, float]) -> dict[str, float]:
    whole = sum(counts.values())
    return {kind: count / whole for kind, count in counts.items()} if whole else dict(counts)
