"""What a kernel does, as Table IV of Wang and Chu (2018) takes it from a profiler.

Here it comes from a :class:`~warpwatt.core.execution.Workload`, without a run, or from the counters of a
measured launch. Counters that a profile lacks are the workload's.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from warpwatt.core.case import Case
from warpwatt.core.gpu import Gpu
from warpwatt.core.program import Flow
from warpwatt.emulate.workload import OFF_CHIP
from warpwatt.models.roofs import SECTOR_BYTES, imbalance, roofs

NOT_ON_THE_SM = ("dram", "l2", "atomics", "latency", "dispatch")
"""Roofs that are not the compute server's; the paper knows nothing of block dispatch."""
LOADED, STORED = "l2_read_transactions", "l2_write_transactions"
READ, WRITTEN = "dram_read_transactions", "dram_write_transactions"
L2_COUNTERS, DRAM_COUNTERS = (LOADED, STORED), (READ, WRITTEN)
INSTRUCTIONS = "inst_executed"
USED = (*L2_COUNTERS, *DRAM_COUNTERS, INSTRUCTIONS, "achieved_occupancy")
"""Counters by nvprof's names; more refine what the compute server does."""


@dataclass(frozen=True, slots=True)
class Counts:
    """A launch on a GPU, at any clock.

    Attributes
    ----------
    warps, warps_per_block
        ``#W`` of the fullest SM and ``#Wpb``.
    active_warps
        ``#Aw``, on the fullest SM at a time.
    sm_share
        ``#Asm`` over the SMs there are.
    iterations
        ``o_itrs``: how often a warp executes its most executed global access.
    sectors
        ``gld_trans``: 32-byte sectors a warp asks of L2 within one iteration.
    l2_hit_rate
        ``l2_hr``: 1 - sectors at DRAM over sectors at L2.
    compute
        Core cycles that one warp keeps the busiest unit of the SM in all.
    shared
        ``i_itrs``: shared transactions of a warp within one iteration.
    barriers
        Whether warps of a block wait for each other.
    missing
        Counters that a profile should have had.
    """

    warps: float
    warps_per_block: float
    active_warps: float
    sm_share: float
    iterations: float
    sectors: float
    l2_hit_rate: float
    compute: float
    shared: float = 0.0
    barriers: bool = False
    missing: tuple[str, ...] = ()

    @property
    def rounds(self) -> float:
        """Rounds of active warps, equation (6); at least one."""
        return max(1.0, self.warps / self.active_warps)


def from_workload(case: Case) -> Counts:
    """Return the counts of a case, without a run."""
    work, launch = case.workload, case.launch
    per_block = launch.warps_per_block
    warps = launch.warps / case.gpu.sm_count * imbalance(case)
    iterations = _iterations(case)
    asked = work.l2.total / SECTOR_BYTES / launch.warps
    return Counts(
        warps=warps,
        warps_per_block=per_block,
        active_warps=min(warps, work.occupancy.resident_blocks * per_block),
        sm_share=work.active_sms / case.gpu.sm_count,
        iterations=iterations,
        sectors=asked / iterations,
        l2_hit_rate=_hit_rate(work.l2.total, work.dram.total),
        compute=_sm_cycles(case) / warps,
        shared=work.shared_wavefronts / launch.warps / iterations,
        barriers=_has_barriers(case),
    )


def from_counters(counters: Mapping[str, float], gpu: Gpu, otherwise: Counts) -> Counts:
    """Return ``otherwise`` with everything in it that the counters of the same launch know better.

    Counters are nvprof's, by name, of the whole launch; those of memory are in sectors.
    """
    missing = tuple(name for name in USED if name not in counters)
    found = replace(otherwise, missing=missing)
    all_warps = found.warps * gpu.sm_count * found.sm_share
    if all(name in counters for name in L2_COUNTERS):
        sectors = math.fsum(counters[name] for name in L2_COUNTERS)
        found = replace(found, sectors=sectors / all_warps / found.iterations)
        if all(name in counters for name in DRAM_COUNTERS):
            moved = math.fsum(counters[name] for name in DRAM_COUNTERS)
            found = replace(found, l2_hit_rate=_hit_rate(sectors, moved))
    if "achieved_occupancy" in counters:
        active = counters["achieved_occupancy"] * gpu.capability.max_warps_per_sm
        found = replace(found, active_warps=min(found.warps, max(1.0, active)))
    if INSTRUCTIONS in counters:
        found = replace(found, compute=compute_cycles(counters, gpu) / all_warps)
    return found


def compute_cycles(counters: Mapping[str, float], gpu: Gpu) -> float:
    """Return the cycles of the busiest unit, summed over SMs: issue, FP64, SFU or shared memory."""
    capability = gpu.capability
    return max(
        counters.get(INSTRUCTIONS, 0.0) / capability.warp_schedulers,
        counters.get("inst_fp_64", 0.0) / max(1, capability.fp64_lanes),
        counters.get("flop_count_sp_special", 0.0) / max(1, capability.sfu_lanes),
        counters.get("shared_load_transactions", 0.0) + counters.get("shared_store_transactions", 0.0),
    )


def _hit_rate(at_l2: float, at_dram: float) -> float:
    """Return the share of sectors that L2 keeps from DRAM, 0 where write-backs exceed what was asked."""
    return max(0.0, 1.0 - at_dram / at_l2) if at_l2 > 0 else 0.0


def _sm_cycles(case: Case) -> float:
    """Return the cycles of the busiest unit on the fullest SM."""
    own = (roof.seconds for roof in roofs(case) if roof.key not in NOT_ON_THE_SM)
    return max(own, default=0.0) * case.clocks.sm


def _iterations(case: Case) -> float:
    execution = case.workload.execution
    pairs = zip(execution.program.instructions, execution.counts, strict=True)
    most = max((n for i, n in pairs if i.memory is not None and i.memory.space in OFF_CHIP), default=0.0)
    return max(1.0, most / case.launch.warps)


def _has_barriers(case: Case) -> bool:
    execution = case.workload.execution
    pairs = zip(execution.program.instructions, execution.counts, strict=True)
    return any(n and i.flow is Flow.BARRIER for i, n in pairs)
