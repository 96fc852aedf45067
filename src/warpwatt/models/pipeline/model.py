"""``pipeline``: cycles of the fullest SM, simulated over the compiler's own schedule."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from warpwatt.core.case import Case, Timing
from warpwatt.core.errors import UnsupportedGpuError
from warpwatt.core.estimate import Estimate, Source, factor_draws
from warpwatt.core.execution import LevelHits, with_assumed
from warpwatt.core.gpu import Clocks, clock_parameter
from warpwatt.core.program import Access, Level, Space
from warpwatt.core.streams import WarpStreams
from warpwatt.core.warps import Stall, WarpStates
from warpwatt.emulate.caches.code import is_cold
from warpwatt.emulate.workload import OFF_CHIP, STAND_IN
from warpwatt.gpus import default_clocks
from warpwatt.models.clock_curve import ClockCurve, draw_curve
from warpwatt.models.dram import slowdown, visit_bytes
from warpwatt.models.hot_lines import queue_roof
from warpwatt.models.memo import at_any_clock, at_each_clock
from warpwatt.models.pipeline.chip import ChipLaunch
from warpwatt.models.pipeline.local_memory import local_misses
from warpwatt.models.pipeline.machine import machine
from warpwatt.models.pipeline.reasons import KEYS, bottleneck, utilisation, warp_states
from warpwatt.models.pipeline.spread import STEEPNESS, model_spreads
from warpwatt.models.pipeline.streams import memory_pipe_accesses, merging_stores
from warpwatt.models.pipeline.table import OffChip, instruction_table
from warpwatt.models.pipeline.unequal import simulate_grid
from warpwatt.models.roofline import STARTUP_SECONDS, Roofline
from warpwatt.models.roofs import dram_bandwidth, l2_bandwidth
from warpwatt.program.waits import SLEEP_SPREAD, sleeps

OFF_SM_CLOCK = ("dram",)
"""Units that do not run on the SMs' clock."""


class Pipeline:
    """Cycles of one SM, instruction by instruction; the roofline's time where nothing was traced."""

    name = "pipeline"
    summary = "cycles of an SM simulated over the compiler's schedule; roofline where no code could be traced"
    levels: tuple[Level, ...] = (Level.SASS, Level.PTX)

    def predict(self, case: Case) -> Timing:
        """Return the timing: that of the fullest SM, or of L2 where few of its slices take atomics or stores.

        Without streams of machine code there is no schedule to simulate: then it is the roofline's timing,
        with a warning.
        """
        return _instead(Roofline().predict(case)) if not traced(case) else _timing(case)


@dataclass(frozen=True, slots=True, eq=False)
class Simulated:
    """What the simulation says at one clock."""

    seconds: float
    startup: float
    """Those before and behind the work of the SMs."""
    busy: dict[str, float]
    """Unit to its busy share of the others."""
    warps: WarpStates
    remarks: tuple[str, ...]
    queued: float
    """Share of the time in which the SMs are done, and atomics or stores still queue at L2."""


@at_each_clock
def _timing(case: Case) -> Timing:
    """Return the timing of a case with streams of machine code.

    All clocks follow from few simulations: times lie on one curve through that at the board's default clock,
    whose work the units do at every clock; what warps wait for is that of the nearest clock simulated.
    """
    default = default_clocks(case.gpu).sm
    reference = simulate_case(_at(case, default))
    seconds, busy, near = reference.seconds, dict(reference.busy), reference
    if case.clocks.sm != default:
        curve = _curve(_at(case, default))
        cycles = curve.cycles(case.clocks.sm) / curve.cycles(default)
        seconds *= cycles * default / case.clocks.sm
        slower = {unit: seconds / reference.seconds if unit in OFF_SM_CLOCK else cycles for unit in busy}
        busy = {unit: min(1.0, share / slower[unit]) for unit, share in busy.items()}
        near = simulate_case(_at(case, curve.nearest(case.clocks.sm)))
    stalls = near.warps.shares()
    by_instruction = (1.0 - near.queued) * near.warps.cycles.sum(axis=1) / near.warps.total
    if near.queued:
        loads = np.array(queue_roof(case).loads)
        by_instruction += near.queued * loads / loads.sum()
    asleep = sum(float(by_instruction[i]) for i in sleeps(case.workload.execution.program))
    draws = _draws(case, seconds, busy, asleep)
    return Timing(
        model=Pipeline.name,
        time=Estimate.from_draws(seconds, draws, "s", Source.MODELLED),
        bottleneck=bottleneck(busy, stalls),
        breakdown=_breakdown(stalls, near.queued, seconds, queue_roof(case).name),
        utilisation={KEYS.get(unit, unit): share for unit, share in busy.items()},
        stalls=stalls,
        shares=tuple(by_instruction.tolist()),
        warps=near.warps,
        warnings=reference.remarks,
        startup=reference.startup,
    )


def _breakdown(stalls: Mapping[Stall, float], queued: float, seconds: float, queue: str) -> dict[str, float]:
    """Return seconds by what warps do, and those in which they are done and what L2 takes in turn queues."""
    found = {str(stall): share * (1.0 - queued) * seconds for stall, share in stalls.items()}
    return found | ({queue: queued * seconds} if queued else {})


def _at(case: Case, clock: float) -> Case:
    """Return the case at another SM clock, however sure that is."""
    return replace(case, clocks=Clocks(clock, case.clocks.memory))


@at_each_clock
def _curve(case: Case) -> ClockCurve:
    """Return the cycles of a launch against the SM clock, its memory clock that of the case."""
    return draw_curve(lambda clock: simulate_case(_at(case, clock)).seconds * clock, case.clocks.sm)


@at_each_clock
def simulate_case(case: Case) -> Simulated:
    """Return what the simulation says at the case's clocks, evenly or not (see :func:`_timing`)."""
    launched = chip_launch(case)
    result = simulate_grid(launched)
    queue = queue_roof(case)
    simulated = result.cycles / case.clocks.sm
    working = max(simulated, queue.seconds)
    startup = _startup(case, launched)
    seconds = startup + working
    busy = {unit: share * simulated / working for unit, share in utilisation(result, launched).items()}
    if queue.seconds > 0:
        busy[queue.key] = queue.seconds / working
    queued = max(0.0, queue.seconds - simulated) / seconds
    return Simulated(seconds, startup, busy, warp_states(result, launched), result.remarks, queued)


def traced(case: Case) -> bool:
    """Whether there are streams of machine code to simulate."""
    execution = case.workload.execution
    return execution.streams is not None and execution.program.level is Level.SASS


def _startup(case: Case, launched: ChipLaunch) -> float:
    """Return seconds before and behind the work of the SMs.

    Nothing can be done before the parameters are there: behind a cold L2 they come from DRAM.
    """
    parameters = launched.machine.dram_latency / case.clocks.sm if is_cold(case.workload.execution) else 0.0
    return STARTUP_SECONDS + parameters


def _instead(timing: Timing) -> Timing:
    warning = "no machine code could be traced: the time is that of the roofline model"
    return replace(timing, warnings=(*timing.warnings, warning))


def chip_launch(case: Case) -> ChipLaunch:
    """Return what is simulated for a case; refuse what cannot be."""
    execution = case.workload.execution
    if execution.streams is None or not traced(case):
        raise UnsupportedGpuError(
            f"model pipeline needs traced machine code of {case.gpu.name}",
            hint="predict with --level sass, for compute capability 7.0 and later",
        )
    sm = machine(case.gpu, case.clocks, dram_bandwidth(case)[0], l2_bandwidth(case)[0])
    if is_cold(execution):
        sm = replace(sm, code_latency=sm.dram_latency)
    table = instruction_table(
        execution.program, sm, misses(case), _off_chip(case), _waits(case),
        merging_stores(execution.streams, execution.program, sm.values["l2_slot_bytes"]),
        execution.constants,
    )  # fmt: skip
    return ChipLaunch(
        execution.program, table, _memory_pipe_accesses(case), sm, case.launch.grid.count,
        max(1, case.workload.occupancy.blocks_per_sm), execution.accesses,
        instructions=execution.warp_instructions / case.launch.grid.count,
        classes=execution.classes,
    )  # fmt: skip


@at_any_clock
def _memory_pipe_accesses(case: Case) -> WarpStreams:
    """Return the streams as simulated; always the same ones, so that what is found in them is kept."""
    execution = case.workload.execution
    assert execution.streams is not None
    sm = machine(case.gpu, case.clocks, dram_bandwidth(case)[0], l2_bandwidth(case)[0])
    return memory_pipe_accesses(execution.streams, instruction_table(execution.program, sm))


def misses(case: Case) -> dict[int, tuple[float, float]]:
    """Return, by instruction, the shares of its sectors that miss L1, and of those that wait for DRAM.

    They miss L2, or find there that another SM has asked for them.
    """
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
            found[i.index] = (1.0 - hits.l1_hits, 1.0 - hits.l2_hits + hits.l2_in_flight)
        elif i.memory is not None and i.memory.space in OFF_CHIP:
            if i.memory.access is Access.STORE:
                found[i.index] = (1.0, l2_written)
            else:
                found[i.index] = (1.0 if i.memory.access in (Access.ATOMIC, Access.REDUCTION) else l1, l2)
    return found


def _off_chip(case: Case) -> dict[int, OffChip]:
    """Return, by instruction, what lies behind the load-store unit but for the shares that miss.

    Lines that are asked for side by side were brought, and are driven out, together.
    """
    slower, in_flight = _slower(case), _in_flight(case)
    return {
        index: OffChip(slower[index], in_flight.get(index, 0.0), hits.run)
        for index, hits in case.workload.hits.items()
    }


def _slower(case: Case) -> dict[int, float]:
    """Return, by instruction, how much longer DRAM takes for its bytes than for those of whole pages.

    It opens pages for them, and writes back what was dirty before where reads drive it out of L2. What others
    have asked for costs it nothing.
    """
    visit = visit_bytes(case.gpu, case.clocks)
    return {
        index: slowdown(hits.run, visit) * moved_over_missed(hits) * _missed_over_waiting(hits)
        for index, hits in case.workload.hits.items()
    }


def _missed_over_waiting(hits: LevelHits) -> float:
    """Return the part of what waits for DRAM that DRAM is asked for."""
    missed = 1.0 - hits.l2_hits
    return missed / (missed + hits.l2_in_flight) if hits.l2_in_flight else 1.0


def moved_over_missed(hits: LevelHits) -> float:
    """Return the bytes that DRAM moves for an instruction over those that miss L2.

    Of reads also what they drive out, and the rest of the smallest pieces that DRAM reads; of atomics what
    they read and what is written back; of stores also what is read to fill sectors that they write in part.
    """
    missed = (1.0 - hits.l2_hits) * (hits.l2.read or hits.l2.written)
    return hits.dram.total / missed if missed else 1.0


def _in_flight(case: Case) -> dict[int, float]:
    """Return, by instruction, the share of its L1 hits that wait for a line another warp has missed."""
    return {i: hits.in_flight / hits.l1_hits for i, hits in case.workload.hits.items() if hits.l1_hits > 0}


def _waits(case: Case) -> dict[int, float]:
    """Return, by instruction, the cycles that its warp sleeps behind it: ``nanosleep``, loops on clocks."""
    execution = case.workload.execution
    asked = sleeps(execution.program).items()
    slept = {index: seconds * case.clocks.sm for index, seconds in asked if seconds}
    return {**(execution.streams.waits if execution.streams else {}), **slept}


def _draws(case: Case, seconds: float, busy: dict[str, float], asleep: float) -> list[float]:
    """Return draws: rates spread the time as far as they bind, clock and code as far as DRAM does not.

    ``asleep`` is the share of the time that warps sleep for as long as the hardware likes.
    """
    gpu, on_sm = case.gpu.name, 1.0 - busy.get("dram", 0.0) ** 2
    spreads = {
        f"rate:dram:{gpu}": dram_bandwidth(case)[1] * busy.get("dram", 0.0) ** 2,
        f"rate:l2:{gpu}": l2_bandwidth(case)[1] * busy.get("l2", 0.0) ** STEEPNESS,
        clock_parameter(case.gpu): -case.clocks.spread * on_sm,
        **model_spreads(busy, case.kernel.name, case.clocks.sm / default_clocks(case.gpu).sm),
        "nanosleep": SLEEP_SPREAD * asleep,
    }
    every = with_assumed(spreads, case.workload.assumptions)
    if STAND_IN in every:
        every[STAND_IN] *= on_sm
    return [seconds * factor for factor in factor_draws(every)]
