"""Stores to few lines: few slices of L2 have to take them, however many SMs send them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warpwatt.core.program import Access
from warpwatt.models.memo import at_any_clock
from warpwatt.models.roofs import L2_CLOCK_SHARE, SLICE_BYTES, Roof, atomics_roof, l2_slices

if TYPE_CHECKING:
    from warpwatt.core.case import Case
    from warpwatt.core.reuse import Growth


def queue_roof(case: Case) -> Roof:
    """Return the roof of what queues at slices of L2: atomics or stores, whichever take longer."""
    return max(atomics_roof(case), stores_roof(case), key=lambda roof: roof.seconds)


def stores_roof(case: Case) -> Roof:
    """Return the time in which slices of L2 take what is stored to the lines that resident blocks reach.

    A slice takes a sector per clock, as it does atomics of single lanes
    (:func:`~warpwatt.models.roofs.atomics_roof`): a byte for each of 2997 blocks, stored 128 times, takes an
    RTX 3080 57 us, twice what its SMs need for them (gpuFLOPBench, reduce_nms_bitmap). What fills all slices
    is for L2's bandwidth to tell.
    """
    cycles = _cycles(case)
    return Roof("stores to few lines", "hot lines", sum(cycles) / case.clocks.sm, cycles, 0.2)


@at_any_clock
def _cycles(case: Case) -> tuple[float, ...]:
    execution = case.workload.execution
    cycles = [0.0] * len(execution.counts)
    every = l2_slices(case)
    slices: dict[str, float] = {}
    for growth in execution.reuse.growths if execution.reuse else ():
        if growth.written and not growth.private:
            slices[growth.buffer] = max(slices.get(growth.buffer, 0.0), _slices(case, growth))
    for i, hits in case.workload.hits.items():
        memory, few = execution.program.instructions[i].memory, slices.get(hits.buffer, every)
        if memory is not None and memory.access is Access.STORE and few < every:
            cycles[i] = hits.sectors / few / L2_CLOCK_SHARE
    return tuple(cycles)


def _slices(case: Case, growth: Growth) -> float:
    """Return how many slices of L2 have what blocks that are resident together write, wherever it begins."""
    resident = case.workload.occupancy.blocks_per_sm * case.gpu.sm_count / case.launch.grid.count
    reached = max(growth.block_bytes, growth.total * min(1.0, resident)) * growth.lines
    return 1.0 + reached / SLICE_BYTES
