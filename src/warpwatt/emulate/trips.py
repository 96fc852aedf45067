"""How often loops ran, from the steps of a trace."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from warpwatt.core.execution import LoopTrips
from warpwatt.program.cfg import control_flow
from warpwatt.program.loops import natural_loops

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from warpwatt.emulate.ir import Routine
    from warpwatt.emulate.run import Trace
    from warpwatt.program.loops import Loop, LoopForest


@dataclass(frozen=True, slots=True, eq=False)
class _Steps:
    """Steps of all warps with what each stands for; ``first`` marks the first of each warp."""

    trace: Trace
    routine: Routine
    weight: NDArray[np.float64]
    lanes: NDArray[np.float64]
    first: NDArray[np.bool_]

    def at(self, start: int) -> NDArray[np.bool_]:
        """Return which steps begin at an instruction."""
        begins = [len(b.instructions) > 0 and b.instructions.start == start for b in self.routine.blocks]
        return np.asarray(np.array(begins)[self.trace.step_block])


def loop_trips(
    trace: Trace, routine: Routine, warp_weights: NDArray[np.float64], executions: NDArray[np.float64]
) -> tuple[LoopTrips, ...]:
    """Return the iterations of every loop that was entered, averaged over the grid's warps.

    ``warp_weights`` says how many warps of the grid each warp of the trace stands for; ``executions`` are
    those of the grid, which count where the trace was cut short. A loop is entered by a step into its
    header from outside it; one that is tested at its top runs once less than its header.
    """
    forest = natural_loops(control_flow(routine.program))
    counts = np.diff(trace.step_start)
    first = np.zeros(len(trace.step_block), bool)
    first[trace.step_start[:-1][counts > 0]] = True
    lanes = np.bitwise_count(trace.step_mask).astype(float)
    steps = _Steps(trace, routine, np.repeat(warp_weights, counts), lanes, first)
    found = (_trips(loop, forest, steps, executions) for loop in forest.loops)
    return tuple(loop for loop in found if loop is not None)


def _trips(
    loop: Loop, forest: LoopForest, steps: _Steps, executions: NDArray[np.float64]
) -> LoopTrips | None:
    blocks = forest.flow.blocks
    start = blocks[loop.header].start
    inside = {i for b in loop.blocks for i in range(blocks[b].start, blocks[b].stop)}
    within = np.array([_belongs(b.instructions, inside) for b in steps.routine.blocks])
    at_head, in_loop = steps.at(start), within[steps.trace.step_block]
    entering = at_head & ~(np.concatenate([[False], in_loop[:-1]]) & ~steps.first)
    around = 0 if loop.parent is None else blocks[forest.loops[loop.parent].header].start
    seen_around = float(steps.weight[steps.at(around)].sum())
    entries = float(steps.weight[entering].sum()) * float(executions[around]) / max(1e-9, seen_around)
    if not entries:
        return None
    top = any(source == loop.header for source, _ in loop.exits) and loop.header not in loop.latches
    trips = float(executions[start]) / entries - top
    mean_in = float(np.average(steps.lanes[entering], weights=steps.weight[entering]))
    mean_at = float(np.average(steps.lanes[at_head], weights=steps.weight[at_head]))
    own = float(executions[start]) * mean_at / (entries * mean_in) - top
    return LoopTrips(start, trips, own, known=True, line=loop.line)


def _belongs(instructions: range, inside: set[int]) -> bool:
    """Whether a micro-block is part of a loop; one without instructions of its own is where it would be."""
    return instructions.start in inside if len(instructions) else False
