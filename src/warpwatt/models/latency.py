"""How long one warp takes alone: the chain of dependent instructions, in SM cycles.

GPU cores issue in order, so a warp waits at the first use of a missing value, and a loop iteration takes at
least its longest dependence chain. Memory latencies are weighted by where the workload's bytes come from.
"""

from __future__ import annotations

from warpwatt.core.case import Case
from warpwatt.core.program import Access, Flow, Instruction, Space, Unit
from warpwatt.program.cfg import control_flow
from warpwatt.program.dataflow import block_graph
from warpwatt.program.waits import sleeps

UNIT_LATENCY_CYCLES = {
    Unit.FP32: 4.0,
    Unit.FP16: 5.0,
    Unit.INT: 4.5,
    Unit.FP64: 10.0,
    Unit.SFU: 22.0,
    Unit.TENSOR: 33.0,
    Unit.MOVE: 0.0,
    Unit.CONTROL: 10.0,
    Unit.UNIFORM: 6.0,
}
"""Issue distance between dependent instructions, Volta and later (facts: ptxas distances, MICRO 2025)."""
OLD_FACTOR = {"2": 4.5, "3": 2.25, "5": 1.5, "6": 1.5}
"""Factor on compute latencies before Volta: Fermi 18, Kepler 9, Maxwell and Pascal 6 cycles per FMA."""
FALLBACK_CYCLES = {"shared": 29.0, "l1": 34.0, "l2": 260.0, "dram": 600.0}
"""Memory latencies where no relative was measured: medians of the packaged measurements since Volta."""
BARRIER_CYCLES = 30.0


def warp_latency_cycles(case: Case) -> tuple[float, ...]:
    """Return, per instruction, its part in cycles of the time one warp takes alone over its whole life."""
    execution = case.workload.execution
    per_warp = [count / case.launch.warps for count in execution.counts]
    latencies = Latencies(case)
    result = [0.0] * len(per_warp)
    for number, block in enumerate(control_flow(execution.program).blocks):
        if any(per_warp[block.start : block.stop]):
            graph = block_graph(execution.program, number, memory=False)
            for instruction in graph.critical_path(latencies.of):
                result[instruction.index] = latencies.of(instruction) * per_warp[instruction.index]
    for index, seconds in sleeps(execution.program).items():
        result[index] += (seconds or 0.0) * case.clocks.sm * per_warp[index]
    return tuple(result)


def _in_flight(case: Case) -> float:
    """Return the share of the bytes read that arrive as late as the miss of another warp."""
    work = case.workload
    return sum(hits.in_flight * hits.l1.read for hits in work.hits.values()) / work.l1.read


class Latencies:
    """Latency of an instruction under the hit rates of one case."""

    def __init__(self, case: Case) -> None:
        memory, work = case.gpu.memory, case.workload
        self.shared = memory.shared_latency or FALLBACK_CYCLES["shared"]
        l1 = memory.l1_latency or FALLBACK_CYCLES["l1"]
        l2 = memory.l2_latency or FALLBACK_CYCLES["l2"]
        counted_at = memory.dram_latency_clock or case.gpu.boost_clock  # DRAM keeps its nanoseconds
        dram = (memory.dram_latency or FALLBACK_CYCLES["dram"]) * case.clocks.sm / counted_at
        slower_memory = case.gpu.memory_clock / case.clocks.memory
        dram += max(0.0, dram - l2) * (slower_memory - 1.0)  # what lies beyond L2 is the memory's own
        past_l1 = min(1.0, work.l2.read / work.l1.read + _in_flight(case)) if work.l1.read else 1.0
        past_l2 = min(1.0, work.dram.read / work.l2.read) if work.l2.read else 1.0
        self.load = (1 - past_l1) * l1 + past_l1 * ((1 - past_l2) * l2 + past_l2 * dram)
        self.atomic = l2
        self.factor = OLD_FACTOR.get(case.gpu.capability.version.split(".")[0], 1.0)

    def of(self, instruction: Instruction) -> float:
        """Return the cycles until a dependent instruction can issue."""
        if instruction.flow == Flow.BARRIER:
            return BARRIER_CYCLES
        memory = instruction.memory
        if memory is None:
            return UNIT_LATENCY_CYCLES.get(instruction.unit, 5.0) * self.factor
        if memory.access in (Access.STORE, Access.REDUCTION, Access.PREFETCH, Access.COPY):
            return 4.0
        if memory.space in (Space.PARAM, Space.CONST):
            return 0.0
        if memory.space == Space.SHARED:
            return self.shared
        return self.atomic if memory.access == Access.ATOMIC else self.load
