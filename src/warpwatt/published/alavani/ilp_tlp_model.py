"""Time from instruction and thread level parallelism: section 4.3 of Alavani's thesis, Algorithms 4 and 5.

Every instruction gets a delay that shrinks with ILP·TLP until its peak; the delays of all blocks add up to
d_k; an SM runs its blocks one after the other, each for d_k times its issue cycles.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from warpwatt.core.case import Case, Timing
from warpwatt.core.errors import LaunchError
from warpwatt.core.execution import AccessPattern
from warpwatt.core.program import Level
from warpwatt.published.alavani import equations, outcome
from warpwatt.published.alavani.blocks import Code, code
from warpwatt.published.alavani.machine import AbstractGpu, abstract_gpu, at_ilp
from warpwatt.published.alavani.opclass import InstructionType, Resource
from warpwatt.published.alavani.waves import rounds_of_blocks

_PARTS = {
    InstructionType.COMPUTE: "compute delay",
    InstructionType.GLOBAL: "global memory delay",
    InstructionType.SHARED: "shared memory delay",
    InstructionType.MISC: "other delay",
}
_GLOBAL_BOTTLENECK = "global memory bottleneck"
_SHARED_BOTTLENECK = "shared memory bottleneck"
_WORDS = {
    "compute delay": "instruction throughput",
    "global memory delay": "global memory latency",
    "shared memory delay": "shared memory",
    "other delay": "warp scheduler",
    _GLOBAL_BOTTLENECK: "DRAM bandwidth",
    _SHARED_BOTTLENECK: "shared memory",
}


@dataclass(frozen=True, slots=True)
class Memory:
    """What a memory instruction moves and waits for.

    ``latency`` 𝓛 in cycles, ``penalty`` p^m in cycles, ``degree`` MPD in warps per SM.
    """

    latency: float
    penalty: float
    degree: float


class AlavaniIlpTlp:
    """The first model of Alavani's thesis; the author finds it too low (4.3.7)."""

    name = "alavani-ilp-tlp"
    document = "Alavani 2023, section 4.3"
    summary = "instruction delays from ILP and TLP, block scheduling (Alavani 2023, section 4.3)"
    levels = (Level.PTX,)

    def predict(self, case: Case) -> Timing:
        """Return the timing; ``breakdown`` splits d_k by instruction type, bottlenecks apart.

        Raises
        ------
        UnsupportedGpuError
            If neither the thesis nor a relative's facts give the latencies the GPU needs.
        LaunchError
            If not even one block fits an SM.
        """
        machine = abstract_gpu(case.gpu, case.clocks)
        program = code(case)
        resident = case.workload.occupancy.blocks_per_sm
        if resident < 1:
            raise LaunchError(
                "no block fits an SM", hint="use smaller blocks or less shared memory per block"
            )
        rounds = rounds_of_blocks(case.launch.grid.count, machine.sms, resident)
        scale = issue_cycles(case, machine) * rounds
        delays = [d * scale for d in thread_delays(case, machine, program)]
        waits = bottlenecks(case, machine, program)
        return _timing(self.name, case, machine, program, delays, waits)


def instruction_level_parallelism(predecessors: Sequence[Sequence[int]], dispatch_units: int) -> float:
    """Return ILP = n_inst/n_cycles of a block (4.3.2.2).

    Instructions go to the dispatch units in order; one that depends on another of the same cycle, or finds
    no unit free, waits for the next. ``dispatch_units`` are those of the SM.

    >>> instruction_level_parallelism([(), (), (0,), (2,)], dispatch_units=8)
    1.3333333333333333
    >>> instruction_level_parallelism([(), (), (), ()], dispatch_units=2)
    2.0
    """
    cycle, issued = 1, 0
    cycles: list[int] = []
    for parents in predecessors:
        if issued == dispatch_units or any(cycles[p] == cycle for p in parents):
            cycle, issued = cycle + 1, 0
        cycles.append(cycle)
        issued += 1
    return len(cycles) / cycle if cycles else 1.0


def issue_cycles(case: Case, machine: AbstractGpu) -> float:
    """Return n_ic = nT_b/n_cSM (Algorithm 5, line 3): threads per block over cores per SM, as printed."""
    return case.launch.block.count / machine.instances[Resource.SP]


def thread_delays(case: Case, machine: AbstractGpu, program: Code) -> list[float]:
    """Return d_i times its executions per warp, in cycles, for every instruction; d_k is their sum.

    Algorithm 4 multiplies the delay of a block with its loop count; here every block counts as often as the
    execution says a warp runs it.
    """
    delays = [0.0] * len(program.classes)
    for block in program.blocks:
        ilp = instruction_level_parallelism(block.predecessors, machine.dispatch_units)
        for index in block.instructions:
            delays[index] = _delay(index, case, machine, program, ilp) * block.executions
    return delays


def _delay(index: int, case: Case, machine: AbstractGpu, program: Code, ilp: float) -> float:
    """d_i by (4.3) for types C and M and (4.4) for Gm and Sm. TLP is the occupancy's warps per SM."""
    op = program.classes[index]
    tlp = warps_per_sm(case)
    if op.type in (InstructionType.GLOBAL, InstructionType.SHARED):
        memory = memory_of(index, case, machine, program)
        return equations.memory_delay(memory.latency, ilp, tlp, memory.degree, memory.penalty)
    latency = machine.latency(op.operation, case.launch.threads)
    peak = at_ilp(machine.peak_warps[op.operation], ilp)
    rate = at_ilp(machine.throughputs[op.operation], ilp)
    return equations.compute_delay(latency, ilp, tlp, peak, rate)


def warps_per_sm(case: Case) -> int:
    """Return TLP, the active warps of an SM: what the occupancy allows, or the grid fills."""
    occupancy = case.workload.occupancy
    blocks = min(occupancy.blocks_per_sm, math.ceil(case.launch.grid.count / case.gpu.sm_count))
    return blocks * case.launch.warps_per_block


def memory_of(index: int, case: Case, machine: AbstractGpu, program: Code) -> Memory:
    """Return latency, penalty (4.5) and MPD of a memory instruction.

    The thesis leaves the coalescing factor c and the bank conflicts n_bc open; here they are the 128-byte
    lines and the further passes of the access pattern the tool found, 1 and 0 where it found none. MPD takes
    the place of peakWarps in (4.4), for which the thesis names no value.
    """
    op = program.classes[index]
    execution = case.workload.execution
    access = execution.program.instructions[index].memory
    pattern = execution.accesses.get(index)
    size = access.bytes if access is not None else 4
    latency = machine.latency(op.operation, case.launch.threads)
    if op.type is InstructionType.SHARED:
        return _shared(machine, latency, size, pattern)
    requests = pattern.lines if pattern is not None and pattern.lines else max(1.0, size * 32 / 128)
    bandwidth = machine.bandwidth / machine.clock  # bytes per cycle of the whole GPU
    penalty = equations.coalescing_penalty(requests, bandwidth)
    share = bandwidth / max(case.workload.active_sms, 1)
    degree = equations.memory_access_parallel_degree(latency, 128 * requests, share)
    return Memory(latency, penalty, degree)


def _shared(machine: AbstractGpu, latency: float, size: int, pattern: AccessPattern | None) -> Memory:
    passes = pattern.wavefronts if pattern is not None and pattern.wavefronts else 1.0
    ideal = pattern.ideal if pattern is not None and pattern.ideal else 1.0
    conflicts = max(0.0, passes - ideal)
    penalty = equations.bank_conflict_penalty(size, conflicts, machine.bank_width, machine.banks)
    row = machine.banks * machine.bank_width
    return Memory(latency, penalty, equations.memory_access_parallel_degree(latency, row * passes, row))


def bottlenecks(case: Case, machine: AbstractGpu, program: Code) -> dict[int, float]:
    """Return b_penalty of (4.2) by memory instruction, cycles of the whole launch.

    Each occurrence in each wave waits as :func:`~.equations.bottleneck_penalty` says.
    """
    tlp, waves = warps_per_sm(case), max(1, math.ceil(case.workload.waves))
    waits: dict[int, float] = {}
    for index, (op, executions) in enumerate(zip(program.classes, program.per_warp, strict=True)):
        if op.type in (InstructionType.GLOBAL, InstructionType.SHARED) and executions:
            memory = memory_of(index, case, machine, program)
            once = equations.bottleneck_penalty(memory.latency, tlp, memory.degree)
            waits[index] = once * executions * waves
    return waits


def _timing(
    name: str, case: Case, machine: AbstractGpu, program: Code, delays: list[float], waits: dict[int, float]
) -> Timing:
    cycles: dict[str, float] = defaultdict(float)
    for op, delay in zip(program.classes, delays, strict=True):
        cycles[_PARTS[op.type]] += delay
    for index, wait in waits.items():
        is_shared = program.classes[index].type is InstructionType.SHARED
        cycles[_SHARED_BOTTLENECK if is_shared else _GLOBAL_BOTTLENECK] += wait
    seconds = {part: equations.thread_time(n, machine.clock) for part, n in cycles.items()}
    overhead = outcome.launch_overhead(case, machine)
    by_instruction = [d + waits.get(i, 0.0) for i, d in enumerate(delays)]
    time = outcome.estimate(sum(seconds.values()), by_instruction, case, machine, program, "ilp_tlp")
    return Timing(
        model=name,
        time=time,
        bottleneck=_WORDS[outcome.largest(cycles)] if cycles else "launch",
        breakdown={**seconds, outcome.LAUNCH_OVERHEAD: overhead},
        utilisation={},
        shares=outcome.normalised(by_instruction),
        warnings=time.warnings,
    )
