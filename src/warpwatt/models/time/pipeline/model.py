"""``pipeline``: cycles of the fullest SM, simulated over the compiler's own schedule."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from warpwatt.core.case import Stall, Timing
from warpwatt.core.errors import UnsupportedGpuError
from warpwatt.core.estimate import Estimate, Source, factor_draws
from warpwatt.core.gpu import clock_parameter
from warpwatt.core.program import Access, Level, Space
from warpwatt.emulate.workload import OFF_CHIP
from warpwatt.models.time.pipeline import layout as c
from warpwatt.models.time.pipeline.chip import Launched, simulate_launch
from warpwatt.models.time.pipeline.local_memory import local_misses
from warpwatt.models.time.pipeline.machine import machine
from warpwatt.models.time.pipeline.streams import piped
from warpwatt.models.time.pipeline.table import instruction_table
from warpwatt.models.time.roofline import STARTUP_SECONDS, Roofline
from warpwatt.models.time.roofs import atomics_roof, dram_bandwidth, l2_bandwidth

if TYPE_CHECKING:
    from warpwatt.core.case import Case
    from warpwatt.models.time.pipeline.chip import Simulated

MODEL_SPREAD = 0.22
"""Standard deviation of log(measured / predicted) beyond what rates and assumptions explain: with it the
interval holds 80 % of the times of docs/validation/time_models.md, every program weighing the same."""
BOUND = 0.75
"""A unit busy for this share of the time is called the bottleneck; else it is what warps wait for."""


class Pipeline:
    """Cycles of one SM, instruction by instruction; the roofline's time where nothing was traced."""

    name = "pipeline"
    summary = "cycles of an SM simulated over the compiler's schedule; roofline where no code could be traced"
    levels = (Level.SASS, Level.PTX)

    def predict(self, case: Case) -> Timing:
        """Return the timing: that of the fullest SM, or of L2 where it takes atomics on one address in turn.

        Without streams of machine code there is no schedule to simulate: then it is the roofline's timing,
        with a warning.
        """
        if not traced(case):
            return _instead(Roofline().predict(case))
        launched = launched_of(case)
        result = simulate_launch(launched)
        queue = atomics_roof(case)
        seconds = STARTUP_SECONDS + max(result.cycles / case.clocks.sm, queue.seconds)
        busy = utilisation(result, launched)
        if queue.seconds > 0:
            busy[queue.key] = queue.seconds / seconds
        stalls = stall_shares(result)
        by_instruction = result.stalls.sum(axis=1)
        return Timing(
            model=self.name,
            time=Estimate.from_draws(seconds, _draws(case, seconds, busy), "s", Source.MODELLED),
            bottleneck=_bottleneck(busy, stalls),
            breakdown={str(stall): share * seconds for stall, share in stalls.items()},
            utilisation={_KEYS.get(unit, unit): share for unit, share in busy.items()},
            stalls=stalls,
            shares=tuple(by_instruction / by_instruction.sum()),
        )


def traced(case: Case) -> bool:
    """Whether there are streams of machine code to simulate."""
    execution = case.workload.execution
    return execution.streams is not None and execution.program.level is Level.SASS


def _instead(timing: Timing) -> Timing:
    warning = "no machine code could be traced: the time is that of the roofline model"
    return replace(timing, warnings=(*timing.warnings, warning))


def launched_of(case: Case) -> Launched:
    """Return what is simulated for a case; refuse what cannot be."""
    execution = case.workload.execution
    if execution.streams is None or not traced(case):
        raise UnsupportedGpuError(
            f"model pipeline needs traced machine code of {case.gpu.name}",
            hint="predict with --level sass, for compute capability 7.5 and later",
        )
    sm = machine(case.gpu, case.clocks, dram_bandwidth(case)[0], l2_bandwidth(case)[0])
    table = instruction_table(execution.program, sm, misses(case))
    return Launched(
        execution.program, table, piped(execution.streams, table), sm, case.launch.grid.count,
        max(1, case.workload.occupancy.blocks_per_sm), execution.accesses,
        execution.warp_instructions / case.launch.grid.count,
    )  # fmt: skip


def misses(case: Case) -> dict[int, tuple[float, float]]:
    """Return, by instruction, the shares of its sectors that miss L1, and of those that miss L2."""
    work = case.workload
    l1 = min(1.0, work.l2.read / work.l1.read) if work.l1.read else 1.0
    l2 = min(1.0, work.dram.read / work.l2.read) if work.l2.read else 1.0
    l2_written = min(1.0, work.dram.written / work.l2.written) if work.l2.written else 1.0
    loads, stores = local_misses(case)
    found = {}
    for i in work.execution.program.instructions:
        if i.memory is not None and i.memory.space is Space.LOCAL:
            found[i.index] = stores if i.memory.access is Access.STORE else loads
        elif i.index in work.hits:
            hits = work.hits[i.index]
            found[i.index] = (1.0 - hits.l1_hits, 1.0 - hits.l2_hits)
        elif i.memory is not None and i.memory.space in OFF_CHIP:
            if i.memory.access is Access.STORE:
                found[i.index] = (1.0, l2_written)
            else:
                found[i.index] = (1.0 if i.memory.access in (Access.ATOMIC, Access.REDUCTION) else l1, l2)
    return found


def utilisation(result: Simulated, launched: Launched) -> dict[str, float]:
    """Return unit or level to its busy share of the simulated cycles."""
    sm, cycles = launched.machine, max(1.0, result.simulated)
    busy: dict[str, float] = {"issue": result.results[c.ISSUED] / sm.sub_cores / cycles}
    for number, name in enumerate(c.PIPE_NAMES):
        pipes = 2 if name == "fma" and sm.rates.get("fp32_add_mul_fma", 0) >= 128 else 1
        share = result.pipe_busy[number] / sm.sub_cores / cycles / pipes
        busy[name] = busy.get(name, 0.0) + share
    for number, name in enumerate(c.SHARED_PIPE_NAMES):
        busy[name] = max(busy.get(name, 0.0), result.pipe_busy[c.PIPES + number] / cycles)
    busy["lsu"] = result.results[c.LSU_BUSY] / cycles
    share = max(1.0, launched.machine.sm_count / launched.blocks)
    busy["l2"] = result.results[c.L2_BYTES_MOVED] / cycles / sm.l2_bytes / share
    busy["dram"] = result.results[c.DRAM_BYTES_MOVED] / cycles / sm.dram_bytes / share
    return {name: float(min(1.0, value)) for name, value in busy.items() if value > 0}


def stall_shares(result: Simulated) -> dict[Stall, float]:
    """Return Nsight's stall names with their share of warp time, largest first."""
    sums = result.stalls.sum(axis=0)
    order = np.argsort(-sums)
    return {c.REASONS[i]: float(sums[i] / sums.sum()) for i in order if sums[i] > 0}


_NAMES = {
    "fma": "FP32 pipe", "alu": "INT pipe", "fp16": "FP16 pipe", "xu": "SFU", "fp64": "FP64 pipe",
    "tensor": "tensor cores", "uniform": "uniform datapath", "branch": "branch unit", "lsu": "LSU",
    "issue": "issue slots", "l2": "L2 bandwidth", "dram": "DRAM bandwidth", "texture": "texture unit",
    "barrier unit": "block barriers", "atomics": "atomics on one address",
}  # fmt: skip


_KEYS = {"fma": "fp32", "alu": "int", "xu": "sfu", "branch": "control"}
"""What other models call a unit."""


def _bottleneck(busy: dict[str, float], stalls: dict[Stall, float]) -> str:
    unit, share = max(busy.items(), key=lambda item: item[1])
    if share >= BOUND:
        return _NAMES[unit]
    waits = [stall for stall in stalls if stall not in (Stall.SELECTED, Stall.NOT_SELECTED)]
    return f"latency ({waits[0]})" if waits else "latency"


def _draws(case: Case, seconds: float, busy: dict[str, float]) -> list[float]:
    """Return draws: rates spread the time as far as they bind, the clock as far as DRAM does not."""
    gpu = case.gpu.name
    spreads = {
        f"rate:dram:{gpu}": dram_bandwidth(case)[1] * busy.get("dram", 0.0) ** 2,
        f"rate:l2:{gpu}": l2_bandwidth(case)[1] * busy.get("l2", 0.0) ** 2,
        clock_parameter(case.gpu): -case.clocks.spread * (1.0 - busy.get("dram", 0.0) ** 2),
        "model:pipeline": MODEL_SPREAD,
    }
    for assumption in case.workload.assumptions:
        spreads[assumption.parameter] = max(spreads.get(assumption.parameter, 0.0), assumption.spread)
    return [seconds * factor for factor in factor_draws(spreads)]


WHAT_IFS = ("perfect coalescing", "no bank conflicts", "double occupancy")


def what_ifs(case: Case) -> dict[str, float]:
    """Return change to the seconds the launch would take with it, by simulating again."""
    launched = launched_of(case)
    return {
        name: STARTUP_SECONDS + simulate_launch(_changed(launched, name)).cycles / case.clocks.sm
        for name in WHAT_IFS
    }


def _changed(launched: Launched, name: str) -> Launched:
    """Return a launch without one of its troubles."""
    if name == "double occupancy":
        return replace(launched, resident=2 * launched.resident)
    streams = launched.streams
    size = np.zeros(len(launched.program.instructions))
    for i in launched.program.instructions:
        if i.memory is not None:
            size[i.index] = i.memory.bytes
    moved = size[streams.access_instruction] * streams.lanes
    if name == "no bank conflicts":
        ideal = np.minimum(streams.wavefronts, np.ceil(moved / 128))
        return replace(launched, streams=replace(streams, wavefronts=ideal))
    sectors, lines = np.ceil(moved / 32), np.ceil(moved / 128)
    better = replace(
        streams, sectors=np.minimum(streams.sectors, sectors), lines=np.minimum(streams.lines, lines)
    )
    return replace(launched, streams=better)
