"""The roofline of one prediction: the GPU's roofs at the predicted clocks and the kernel's points under them.

Williams, Waterman, Patterson: "Roofline: an insightful visual performance model", CACM 52(4), 2009. One point
for each level of memory: Yang et al., "Hierarchical Roofline analysis for GPUs", CCPE 32(20), 2020. Kernels
without FLOP: Ding, Williams, "An Instruction Roofline Model for GPUs", PMBS 2019.
"""

from __future__ import annotations

from dataclasses import dataclass

from warpwatt.core.case import Case
from warpwatt.core.prediction import Prediction
from warpwatt.core.program import Unit
from warpwatt.models.bounds import COMPUTE, compute_peak, compute_times, dram_peak, unit_flops
from warpwatt.models.roofs import l1_bytes, l2_bandwidth

MATTERS = 0.02
"""Compute roofs whose work needs less than this share of that of the slowest unit are not drawn."""


@dataclass(frozen=True, slots=True)
class Roof:
    """One ceiling: ``peak`` in FLOP/s (compute) or B/s (memory)."""

    name: str
    kind: str
    """``"compute"`` or ``"memory"``."""
    peak: float


@dataclass(frozen=True, slots=True)
class Level:
    """One level of memory: its roof, the bytes that cross it in the whole grid, FLOP per such byte."""

    roof: Roof
    bytes: float
    intensity: float


@dataclass(frozen=True, slots=True)
class Roofline:
    """The roofs of the units that the kernel uses, the two that bind, and the kernel's point.

    ``compute`` is the roof of the unit that would need longest for its share of the FLOP. ``intensity`` is
    in FLOP per DRAM byte, ``levels`` has it for each level of memory that is used, DRAM first;
    ``performance`` with ``low`` and ``high`` in FLOP/s.
    """

    roofs: tuple[Roof, ...]
    compute: Roof
    memory: Roof
    intensity: float
    performance: float
    low: float
    high: float
    levels: tuple[Level, ...] = ()
    unit: str = "FLOP"
    """What is counted: ``"FLOP"``, or ``"inst"`` for warp instructions."""

    def ceiling(self, intensity: float) -> float:
        """Return the FLOP/s that the two binding roofs allow at ``intensity``."""
        return min(self.compute.peak, self.memory.peak * intensity)

    @property
    def nearest(self) -> Roof:
        """The roof that the kernel comes nearest to at any level of memory: there it has least to gain."""
        allowed = [(min(self.compute.peak, one.roof.peak * one.intensity), one) for one in self.levels]
        if not allowed:
            return self.binding
        least, level = min(allowed, key=lambda pair: pair[0])
        return self.compute if least == self.compute.peak else level.roof

    @property
    def ridge(self) -> float:
        """Intensity at which the two binding roofs meet, FLOP/B."""
        return self.compute.peak / self.memory.peak

    @property
    def binding(self) -> Roof:
        """The roof above the kernel's point."""
        return self.memory if self.intensity < self.ridge else self.compute


def roofline(prediction: Prediction) -> Roofline | None:
    """Return the roofline, or None where the kernel has no FLOP, moves no DRAM byte or takes no time."""
    case, time = prediction.case, prediction.time
    work = unit_flops(case.workload.execution)
    flops, traffic = sum(work.values()), case.workload.dram.total
    compute = {unit: compute_roof(case, unit) for unit in COMPUTE}
    times = {unit: _least_time(done, compute.get(unit)) for unit, done in work.items()}
    slowest = max(times, key=times.__getitem__, default=None)
    binding = compute.get(slowest) if slowest else None
    if binding is None or not (binding.peak > 0 and traffic > 0 and time.low > 0):
        return None
    memory = memory_roofs(case)
    matter = MATTERS * max(times.values())
    used = (roof for unit, roof in compute.items() if roof.peak > 0 and times.get(unit, 0.0) > matter)
    point = (flops / traffic, flops / time.value, flops / time.high, flops / time.low)
    return Roofline((*used, *memory), binding, memory[0], *point, levels=_levels(case, memory, flops))


def instruction_roofline(prediction: Prediction) -> Roofline | None:
    """Return the same for warp instructions under the issue rate, None without DRAM traffic or time.

    Bytes are counted instead of transactions of 32 bytes, so that both pictures have the same memory roofs.
    """
    case, time = prediction.case, prediction.time
    work, traffic = case.workload.execution.warp_instructions, case.workload.dram.total
    schedulers = case.gpu.sm_count * case.gpu.capability.warp_schedulers
    issue = Roof("Issue", "compute", schedulers * case.clocks.sm)
    if not (work > 0 and traffic > 0 and time.low > 0):
        return None
    memory = memory_roofs(case)
    point = (work / traffic, work / time.value, work / time.high, work / time.low)
    return Roofline(
        (issue, *memory), issue, memory[0], *point, levels=_levels(case, memory, work), unit="inst"
    )


def _levels(case: Case, memory: tuple[Roof, ...], done: float) -> tuple[Level, ...]:
    work = case.workload
    crossing = (work.dram.total, work.l2.total, work.l1.total)
    pairs = zip(memory, crossing, strict=True)
    return tuple(Level(roof, moved, done / moved) for roof, moved in pairs if moved > 0)


def _least_time(flops: float, roof: Roof | None) -> float:
    return flops / roof.peak if roof is not None and roof.peak > 0 else 0.0


def compute_roof(case: Case, unit: Unit) -> Roof:
    """Return one unit's peak at the case's SM clock: SMs x results per clock x 2 x clock; 0 if unknown.

    Of tensor cores that of the products the kernel makes: TF32 and sums in FP32 may take them longer.
    """
    flops, seconds = compute_times(case).get(unit, (0.0, 0.0))
    peak = flops / seconds if unit is Unit.TENSOR and seconds > 0 else compute_peak(case, unit)
    return Roof(COMPUTE[unit][0], "compute", peak)


def memory_roofs(case: Case) -> tuple[Roof, Roof, Roof]:
    """Return the roofs of DRAM, L2 and L1 in B/s at the case's clocks; L2 and L1 as the models take them."""
    return (
        Roof("DRAM", "memory", dram_peak(case)),
        Roof("L2", "memory", l2_bandwidth(case)[0]),
        Roof("L1", "memory", case.gpu.sm_count * l1_bytes(case.gpu) * case.clocks.sm),
    )


def roof_origin(case: Case, name: str) -> str:
    """Return where the peak of a roof comes from: ``"measured"``, ``"from a relative"``, ..."""
    field = {"L2": "l2_bandwidth", "L1": "l1_bandwidth_per_sm_clock"}.get(name)
    measured = getattr(case.gpu.memory, field) if field else 0.0
    if measured is None:
        return "assumed"
    if field is None or (name == "L1" and l1_bytes(case.gpu) > measured):
        return "data sheet"
    return "from a relative" if case.gpu.memory.borrowed(field) else "measured"
