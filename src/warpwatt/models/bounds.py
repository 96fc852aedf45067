"""What no time may fall below: bytes, operations, instructions, the longest block.

Peaks are those of the data sheet at the case's clocks, whatever part of them a kernel can reach.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from functools import lru_cache

from warpwatt.core.case import Case, FittedModel, PublishedModel, TimeModel, Timing
from warpwatt.core.estimate import Estimate, factor_draws
from warpwatt.core.execution import Execution, with_assumed
from warpwatt.core.gpu import clock_parameter
from warpwatt.core.program import Instruction, Level, Unit
from warpwatt.core.units import si
from warpwatt.models.pipes import issue_slots
from warpwatt.models.tensor_rates import halves_fp32_sums, tensor_rate

FLOPS_PER_FMA = 2
COMPUTE = {
    Unit.FP32: ("FP32", "fp32_add_mul_fma"),
    Unit.FP64: ("FP64", "fp64_add_mul_fma"),
    Unit.FP16: ("FP16", "fp16_add_mul_fma"),
    Unit.TENSOR: ("Tensor FP16", "tensor_fp16_fma"),
}
"""Unit to its name and its row in the throughput table."""
DRAM = "DRAM bandwidth"
L2_PORT, BANKS = 64.0, 128.0
"""Bytes per clock that an SM gets from L2 or sends there, and that banks of one word each deliver."""
NOTICED = 0.005
"""A time so little below a bound is raised without a word."""


def dram_peak(case: Case) -> float:
    """Return the theoretical DRAM bandwidth at the case's memory clock in B/s."""
    return case.gpu.memory_bandwidth * case.clocks.memory / case.gpu.memory_clock


def compute_peak(case: Case, unit: Unit, product: Instruction | None = None) -> float:
    """Return a unit's peak in FLOP/s at the SM clock, 0 if unknown; of tensor cores that of a ``product``."""
    capability = case.gpu.capability
    lanes = {Unit.FP32: capability.fp32_lanes, Unit.FP64: capability.fp64_lanes}.get(unit, 0)
    rates = capability.throughput
    per_clock = rates.get(COMPUTE[unit][1], lanes)
    if product is not None and unit is Unit.TENSOR:
        per_clock = tensor_rate(product, rates, halved=halves_fp32_sums(case.gpu))
    return case.gpu.sm_count * per_clock * FLOPS_PER_FMA * case.clocks.sm


def unit_flops(execution: Execution) -> dict[Unit, float]:
    """Return the floating-point operations of the whole grid by unit, active lanes only."""
    work: dict[Unit, float] = defaultdict(float)
    for instruction, flops in _operations(execution):
        work[instruction.unit] += flops
    return dict(work)


@lru_cache(maxsize=8)
def _operations(execution: Execution) -> tuple[tuple[Instruction, float], ...]:
    """Return floating-point operations by unit and, of tensor cores, opcode, with an instruction of each."""
    work: dict[tuple[Unit, str], tuple[Instruction, float]] = {}
    for i, n, lanes in zip(execution.program.instructions, execution.counts, execution.lanes, strict=True):
        if i.flops * n > 0:
            key = (i.unit, i.opcode if i.unit is Unit.TENSOR else "")
            first, flops = work.get(key, (i, 0.0))
            work[key] = (first, flops + i.flops * n * lanes)
    return tuple(work.values())


def compute_times(case: Case) -> dict[Unit, tuple[float, float]]:
    """Return the floating-point operations of each unit, and the seconds they take at its peak."""
    found: dict[Unit, tuple[float, float]] = {}
    for instruction, flops in _operations(case.workload.execution):
        unit = instruction.unit
        peak = compute_peak(case, unit, instruction) if unit in COMPUTE else 0.0
        done, seconds = found.get(unit, (0.0, 0.0))
        found[unit] = (done + flops, seconds + (flops / peak if peak > 0 else 0.0))
    return found


def bounds(case: Case) -> dict[str, float]:
    """Return the seconds that each resource needs at its peak, by name."""
    found: dict[str, float] = defaultdict(float)
    if case.gpu.memory_bandwidth:
        found[DRAM] = case.workload.dram.total / dram_peak(case)
    for instruction, flops in _operations(case.workload.execution):
        unit = instruction.unit
        peak = compute_peak(case, unit, instruction) if unit in COMPUTE else 0.0
        if peak > 0:
            found[_pipe(unit, instruction.throughput_class)] += flops / peak
    banks = case.gpu.capability.shared_bytes_per_clock or BANKS
    all_sms = case.gpu.sm_count * case.clocks.sm
    found["L2 to SM port"] = max(case.workload.l2.read, case.workload.l2.written) / (L2_PORT * all_sms)
    found["shared memory"] = case.workload.shared_wavefronts * BANKS / max(banks, BANKS) / all_sms
    slots = case.gpu.sm_count * case.gpu.capability.warp_schedulers * case.clocks.sm
    found["issue slots"] = _issued(case.workload.execution) / slots
    found["longest block"] = (
        _longest_block(case.workload.execution, case.gpu.capability.warp_schedulers) / case.clocks.sm
    )
    return dict(found)


def _pipe(unit: Unit, row: str) -> str:
    """Return the name of a pipe; tensor cores are named by the type that they multiply.

    >>> _pipe(Unit.TENSOR, "tensor_fp8_fma"), _pipe(Unit.FP32, "")
    ('Tensor FP8 pipe', 'FP32 pipe')
    """
    kind = row.split("_")[1].upper() if row.startswith("tensor_") else ""
    return f"Tensor {kind} pipe" if kind else f"{COMPUTE[unit][0]} pipe"


@lru_cache(maxsize=8)
def _longest_block(execution: Execution, schedulers: int) -> float:
    """Return the cycles in which one SM can at best issue the block seen to execute most.

    A warp issues one instruction per cycle, a warp scheduler one of its warps'.
    """
    streams, classes = execution.streams, execution.classes
    if execution.program.level is not Level.SASS:
        return 0.0
    of_warp = float(streams.work_of_warps.max()) if streams else 0.0
    of_block = float(streams.work_of_blocks.max()) if streams else 0.0
    of_class = max(classes.instructions) if classes else 0.0
    return max(of_warp, of_block / schedulers, of_class / schedulers)


@lru_cache(maxsize=8)
def _issued(execution: Execution) -> float:
    program = execution.program
    if program.level is Level.SASS:
        return sum(execution.counts)
    pairs = zip(program.instructions, execution.counts, strict=True)
    return sum(count * issue_slots(i, program.level, program.target) for i, count in pairs)


def within_bounds(timing: Timing, case: Case) -> Timing:
    """Return the timing, its time and every draw of it raised to what the case needs at the peaks.

    Where what the launch does is assumed, a draw that takes it for less needs less. A time that is raised
    keeps the relative width of the model's: how far above the bound the launch stays is no better known.
    """
    needs = bounds(case)
    name = max(needs, key=needs.__getitem__)
    time, least = timing.time, needs[name]
    on_chip = max((seconds for key, seconds in needs.items() if key != DRAM), default=0.0)
    assumed = with_assumed({}, (a for a in case.workload.assumptions if a.spread))
    clock = {clock_parameter(case.gpu): -case.clocks.spread} if case.clocks.spread else {}
    floors = [
        max(needs.get(DRAM, 0.0) * amount, on_chip * amount * slower)
        for amount, slower in zip(factor_draws(assumed), factor_draws(clock), strict=True)
    ]
    if time.value >= least and all(map(float.__ge__, time.draws, floors)):
        return timing
    grown = max(1.0, least / time.value) if time.value > 0.0 else 1.0
    pairs = zip(time.draws, floors, strict=True)
    draws = [max(draw * grown, floor) for draw, floor in pairs] if time.draws else floors
    raised = Estimate.from_draws(max(time.value, least), draws, time.unit, time.source, time.warnings)
    if time.value >= least:
        return replace(timing, time=raised)
    return _raised(timing, raised, name)


def beside_bound(timing: Timing, case: Case) -> Timing:
    """Return a published model's timing as it is, with the bound beside it and a warning if it is less."""
    name, least = max(bounds(case).items(), key=lambda need: need[1])
    said = f"{timing.model} says {si(timing.time.value, 's')}; {name} at its peak needs {si(least, 's')}"
    below = timing.time.value < least * (1 - NOTICED)
    return replace(
        timing, bound=(name, least), warnings=(*timing.warnings, said) if below else timing.warnings
    )


def _raised(timing: Timing, time: Estimate, name: str) -> Timing:
    """Return a timing whose time fell below a bound."""
    share = timing.time.value / time.value
    said = f"{timing.model} says {si(timing.time.value, 's')}, less than {name} needs at its peak"
    return replace(
        timing,
        time=time,
        bottleneck=name,
        utilisation={unit: busy * share for unit, busy in timing.utilisation.items()},
        warnings=(*timing.warnings, said) if share < 1 - NOTICED else timing.warnings,
    )


@dataclass(frozen=True, slots=True)
class Bounded:
    """A time model whose times fall below no bound, unless they come from measurements of the kernel.

    A published model says its own time, and the bound stands beside it.
    """

    model: TimeModel

    @property
    def name(self) -> str:
        """Name of the model."""
        return self.model.name

    @property
    def summary(self) -> str:
        """What the model is."""
        return self.model.summary

    @property
    def levels(self) -> tuple[Level, ...]:
        """Levels that the model reads."""
        return self.model.levels

    def predict(self, case: Case) -> Timing:
        """Return the model's timing within its bounds."""
        timing = self.model.predict(case)
        if case.profile is not None or case.measured:
            return timing
        hold = beside_bound if isinstance(self.model, PublishedModel) else within_bounds
        return hold(timing, case)


def bounded(model: TimeModel) -> TimeModel:
    """Return a time model within its bounds; one that is fitted to measurements stays as it is."""
    return model if isinstance(model, FittedModel) else Bounded(model)  # type: ignore[return-value]
