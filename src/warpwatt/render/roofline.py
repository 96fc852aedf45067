"""The roofline of one prediction: the GPU's roofs at the predicted clocks and the kernel's point under them.

Williams, Waterman, Patterson: "Roofline: an insightful visual performance model", CACM 52(4), 2009.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from warpwatt.core.program import Unit

if TYPE_CHECKING:
    from warpwatt.core.case import Case
    from warpwatt.core.execution import Execution
    from warpwatt.core.prediction import Prediction

_COMPUTE = (
    (Unit.FP32, "FP32", "fp32_add_mul_fma"),
    (Unit.FP64, "FP64", "fp64_add_mul_fma"),
    (Unit.FP16, "FP16", "fp16_add_mul_fma"),
    (Unit.TENSOR, "Tensor FP16", "tensor_fp16_fma"),
)
FLOPS_PER_FMA = 2


@dataclass(frozen=True, slots=True)
class Roof:
    """One ceiling: ``peak`` in FLOP/s (compute) or B/s (memory)."""

    name: str
    kind: str
    """``"compute"`` or ``"memory"``."""
    peak: float


@dataclass(frozen=True, slots=True)
class Roofline:
    """Roofs, and the kernel: ``intensity`` in FLOP per DRAM byte, ``performance`` in FLOP/s with interval."""

    roofs: tuple[Roof, ...]
    intensity: float
    performance: float
    low: float
    high: float

    def ceiling(self, intensity: float) -> float:
        """Return the FLOP/s that the lowest DRAM roof and the highest compute roof allow at ``intensity``."""
        memory = [r.peak for r in self.roofs if r.name == "DRAM"]
        return min(max(self.compute_peaks()), min(memory) * intensity)

    def compute_peaks(self) -> list[float]:
        """Return the compute roofs in FLOP/s."""
        return [r.peak for r in self.roofs if r.kind == "compute"]

    @property
    def ridge(self) -> float:
        """Intensity at which the DRAM roof meets the highest compute roof, FLOP/B."""
        return max(self.compute_peaks()) / next(r.peak for r in self.roofs if r.name == "DRAM")


def roofline(prediction: Prediction) -> Roofline | None:
    """Return the roofline, or None where the kernel has no FLOP, moves no DRAM byte or takes no time."""
    workload, time = prediction.case.workload, prediction.time
    flops, traffic = workload.execution.flops, workload.dram.total
    if not flops > 0 or not traffic > 0 or not time.low > 0:
        return None
    roofs = (*compute_roofs(prediction.case), *memory_roofs(prediction.case))
    return Roofline(roofs, flops / traffic, flops / time.value, flops / time.high, flops / time.low)


def compute_roofs(case: Case) -> tuple[Roof, ...]:
    """Return the FLOP/s of FP32 and of every other arithmetic unit the kernel uses."""
    used = _flop_units(case.workload.execution)
    chosen = [row for row in _COMPUTE if row[0] is Unit.FP32 or row[0] in used]
    roofs = [Roof(name, "compute", compute_peak(case, unit, row)) for unit, name, row in chosen]
    return tuple(roof for roof in roofs if roof.peak > 0)


def compute_peak(case: Case, unit: Unit, row: str) -> float:
    """Return the peak of one unit at the case's SM clock in FLOP/s: SMs x results per clock x 2 x clock."""
    capability = case.gpu.capability
    lanes = {Unit.FP32: capability.fp32_lanes, Unit.FP64: capability.fp64_lanes}.get(unit, 0)
    per_clock = capability.throughput.get(row, lanes)
    return case.gpu.sm_count * per_clock * FLOPS_PER_FMA * case.clocks.sm


def dram_peak(case: Case) -> float:
    """Return the theoretical DRAM bandwidth at the case's memory clock in B/s."""
    return case.gpu.memory_bandwidth * case.clocks.memory / case.gpu.memory_clock


def memory_roofs(case: Case) -> tuple[Roof, ...]:
    """Return the DRAM roof and, where somebody measured it, the L2 roof in B/s."""
    l2 = case.gpu.memory.l2_bandwidth
    dram = Roof("DRAM", "memory", dram_peak(case))
    return (dram, Roof("L2", "memory", l2)) if l2 else (dram,)


def _flop_units(execution: Execution) -> set[Unit]:
    return {
        i.unit for i, n in zip(execution.program.instructions, execution.counts, strict=True) if i.flops * n > 0
    }
