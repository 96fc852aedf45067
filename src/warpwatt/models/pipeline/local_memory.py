"""Which level answers local memory: spilled registers and arrays of a thread.

Every block writes and reads its stacks once, in the same order, and the next block in its place uses the same
addresses. So hardware counters of spilling convolutions (RTX 2080 Ti, github.com/AutoTuningAssociation/
benchmark_hub, rows of KTT) show all stores in L2, all loads there where the stacks of an SM do not fit into
L1, and nearly all stores in DRAM where the stacks of the chip and the stream past them fill L2.
"""

from __future__ import annotations

from warpwatt.core.case import Case
from warpwatt.core.launch import WARP_SIZE

Misses = tuple[float, float]
"""Share of sectors that miss L1, and of those the share that misses L2."""


def local_misses(case: Case) -> tuple[Misses, Misses]:
    """Return the misses of loads and those of stores; a store that misses L2 is written back to DRAM."""
    occupancy, gpu, work = case.workload.occupancy, case.gpu, case.workload
    warps = min(occupancy.warps_per_sm, occupancy.resident_blocks * case.launch.warps_per_block)
    on_sm = case.kernel.resources.local * WARP_SIZE * warps
    if on_sm == 0 or not gpu.l2_size:
        return (0.0, 0.0), (1.0, 0.0)
    on_chip = on_sm * work.active_sms
    passing = work.dram.total / max(1.0, work.waves)  # while a block keeps its place
    fits = on_sm <= (gpu.l1_shared_per_sm or 0) - occupancy.shared_carveout
    loads = 0.0 if fits else 1.0, max(0.0, 1.0 - gpu.l2_size / on_chip)
    return loads, (1.0, min(1.0, (on_chip + passing) / gpu.l2_size))
