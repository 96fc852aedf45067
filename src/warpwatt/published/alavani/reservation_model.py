"""Time by resource reservation: section 4.4 of Alavani's thesis, (4.8)-(4.12) and Algorithms 6 to 8.

Every instruction of a wave reserves all units of its kind; independent instructions on other units overlap.
A wave lasts as long as the longest path through the blocks; waves follow one another; penalties for
global memory, shared memory and the L2 cache are added.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from enum import StrEnum
from functools import partial

from warpwatt.core.case import Case, Timing
from warpwatt.core.program import Level
from warpwatt.published.alavani import equations, outcome
from warpwatt.published.alavani.blocks import Code, code
from warpwatt.published.alavani.machine import AbstractGpu, abstract_gpu
from warpwatt.published.alavani.opclass import InstructionType, OpClass, Resource
from warpwatt.published.alavani.reservation import (
    CfgSchedule,
    FlowBlock,
    Vertex,
    batches,
    schedule_cfg,
)
from warpwatt.published.alavani.table import reservation_table
from warpwatt.published.alavani.waves import Waves, waves

_UNITS = {
    Resource.SP: "FP32 and integer pipe",
    Resource.DPU: "FP64 pipe",
    Resource.SFU: "special function unit",
    Resource.LSU: "load/store unit",
    Resource.WS: "warp scheduler",
    Resource.TC: "tensor cores",
}
_UTILISATION = {
    Resource.SP: "fp32",
    Resource.DPU: "fp64",
    Resource.SFU: "sfu",
    Resource.LSU: "lsu",
    Resource.TC: "tensor",
}


class Reading(StrEnum):
    """How (4.10) to (4.12) are computed.

    ``PRINTED``: their right-hand sides are added to cycles as the numbers they are, with 𝓣𝓟 in MB/s of
    Table 4.5 (128 B over MB/s is a number of microseconds, taken for cycles), the fits' argument is
    glob_inst_sm = nGM·waves as in the released data, and one L2 access is 128 B. This comes closest to the
    thesis' own predictions in Table 4.8 (see the validation report), so it is the default.

    ``CONVERTED``: the same penalties with their units put right: MB/s become bytes per second, the seconds
    become cycles of v_gpu, the fits' argument is the number of accesses of the whole launch, which is what
    the author varied when he recorded them, and an access of one thread is 4 B.
    """

    PRINTED = "printed"
    CONVERTED = "converted"


@dataclass(frozen=True, slots=True)
class Penalties:
    """(4.10), (4.11) and (4.12) in cycles."""

    global_: float
    shared: float
    cache: float


class AlavaniReservation:
    """The second model of Alavani's thesis. ``reading`` chooses how penalties are computed."""

    name = "alavani-reservation"
    document = "Alavani 2023, section 4.4"
    summary = "resource reservation from PTX, waves and memory penalties (Alavani 2023, section 4.4)"
    levels = (Level.PTX,)

    def __init__(self, reading: Reading = Reading.PRINTED) -> None:
        self.reading = reading

    def predict(self, case: Case) -> Timing:
        """Return the timing; ``breakdown`` is schedule, three penalties and the launch overhead beside them.

        Raises
        ------
        UnsupportedGpuError
            If neither the thesis nor a relative's facts give the latencies the GPU needs.
        LaunchError
            If not even one block fits an SM.
        """
        machine = abstract_gpu(case.gpu, case.clocks)
        program = code(case)
        wave = waves_of(case, machine)
        schedule = schedule_of(program, machine, wave.threads, case.launch.threads)
        penalties = penalties_of(case, machine, program, wave, self.reading)
        return _timing(self.name, case, machine, program, _Result(wave, schedule, penalties))


@dataclass(frozen=True, slots=True)
class _Result:
    wave: Waves
    schedule: CfgSchedule
    penalties: Penalties

    @property
    def scheduled_cycles(self) -> float:
        """d_kernel: the wave's delay times the waves."""
        return self.schedule.delay * self.wave.count


def waves_of(case: Case, machine: AbstractGpu) -> Waves:
    """Return the waves of a case (Algorithm 8)."""
    resources = case.kernel.resources
    shared = resources.static_shared + case.launch.dynamic_shared
    return waves(
        case.launch.grid.count,
        case.launch.block.count,
        resources.registers,
        shared,
        machine.sms,
        machine.limits,
    )


def schedule_of(program: Code, machine: AbstractGpu, threads: int, launched: int) -> CfgSchedule:
    """Return the schedule of one wave of ``threads`` threads per SM; ``launched`` is nT_b·nB."""
    blocks = [
        FlowBlock(
            tuple(_vertex(c, machine, launched) for c in block.classes),
            block.predecessors,
            block.successors,
            block.executions,
        )
        for block in program.blocks
    ]
    return schedule_cfg(blocks, threads, machine.instances)


def _vertex(op: OpClass, machine: AbstractGpu, launched: int) -> Vertex:
    return Vertex(machine.latency(op.operation, launched), op.resource)


def penalties_of(case: Case, machine: AbstractGpu, program: Code, wave: Waves, reading: Reading) -> Penalties:
    """Return (4.10), (4.11) and (4.12) in cycles. nGM and nShM count one wave, loops multiplied."""
    threads, lsu = case.launch.threads, machine.instances[Resource.LSU]
    n_global = program.count(InstructionType.GLOBAL)
    n_shared = program.count(InstructionType.SHARED)
    converted = reading is Reading.CONVERTED
    times = threads if converted else wave.count
    unit = machine.clock if converted else equations.BYTES_PER_MEGABYTE
    rate_global = machine.published.global_throughput.at(n_global * times) / unit
    rate_shared = machine.published.shared_throughput.at(n_shared * times) / unit
    access = 4 if converted else equations.BYTES_PER_GLOBAL_ACCESS
    latency = machine.global_latency(threads)
    return Penalties(
        equations.global_penalty(threads, lsu, rate_global, n_global),
        equations.shared_penalty(threads, lsu, machine.sms, rate_shared, n_shared),
        equations.cache_penalty(threads, n_global, wave.count, machine.l2_size, latency, access),
    )


def _timing(name: str, case: Case, machine: AbstractGpu, program: Code, result: _Result) -> Timing:
    cycles = {
        "schedule": result.scheduled_cycles,
        "global penalty": result.penalties.global_,
        "shared penalty": result.penalties.shared,
        "cache penalty": result.penalties.cache,
    }
    seconds = {part: n / machine.clock for part, n in cycles.items()}
    overhead = outcome.launch_overhead(case, machine)
    on_path = _critical_cycles(program, result)
    time = outcome.estimate(sum(seconds.values()), on_path, case, machine, program, "reservation")
    return Timing(
        model=name,
        time=time,
        bottleneck=_bottleneck(cycles, on_path, program),
        breakdown={**seconds, outcome.LAUNCH_OVERHEAD: overhead},
        utilisation=_utilisation(program, machine, result, sum(cycles.values())),
        shares=outcome.normalised(_all_cycles(program, on_path, result.penalties)),
        warnings=time.warnings,
        reservations=partial(
            reservation_table,
            case.workload.execution.program,
            program,
            result.schedule,
            result.wave,
            machine.instances,
        ),
    )


def _critical_cycles(program: Code, result: _Result) -> list[float]:
    """Cycles of the schedule each instruction accounts for: 0 where it is hidden or off the longest path."""
    cycles = [0.0] * len(program.classes)
    for index in result.schedule.path:
        block = program.blocks[index]
        critical = result.schedule.blocks[index].critical()
        for instruction, n in zip(block.instructions, critical, strict=True):
            cycles[instruction] = n * block.executions * result.wave.count
    return cycles


def _all_cycles(program: Code, on_path: list[float], penalties: Penalties) -> list[float]:
    """Cycles of the schedule and, for memory instructions, their part of the penalties."""
    cycles = list(on_path)
    for kind, penalty in (
        (InstructionType.GLOBAL, penalties.global_ + penalties.cache),
        (InstructionType.SHARED, penalties.shared),
    ):
        weights = {i: program.per_warp[i] for i, c in enumerate(program.classes) if c.type is kind}
        for i, part in outcome.spread_over(penalty, weights).items():
            cycles[i] += part
    return cycles


def _bottleneck(cycles: dict[str, float], on_path: list[float], program: Code) -> str:
    """Name the largest part, the schedule split by what its longest path waits for."""
    parts: dict[str, float] = defaultdict(float)
    for n, op in zip(on_path, program.classes, strict=True):
        memory = {InstructionType.GLOBAL: "global memory latency", InstructionType.SHARED: "shared memory"}
        parts[memory.get(op.type, _UNITS[op.resource])] += n
    parts["DRAM bandwidth"] += cycles["global penalty"]
    parts["shared memory"] += cycles["shared penalty"]
    parts["L2 misses"] += cycles["cache penalty"]
    return outcome.largest(parts)


def _utilisation(program: Code, machine: AbstractGpu, result: _Result, total: float) -> dict[str, float]:
    """Share of the time in which a unit starts a batch: ⌈nTW/R⌉ cycles per instruction.

    Far below the reservation, which holds a unit for the whole latency of an instruction.
    """
    busy: dict[str, float] = defaultdict(float)
    for op, n in zip(program.classes, program.per_warp, strict=True):
        name = _UTILISATION.get(op.resource)
        if name is not None:
            busy[name] += n * batches(result.wave.threads, machine.instances[op.resource])
    return {name: min(1.0, n * result.wave.count / total) for name, n in busy.items() if total > 0}
