"""How often loops ran, from the steps of a trace."""

from __future__ import annotations

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


def loop_trips(trace: Trace, routine: Routine, warp_weights: NDArray[np.float64]) -> tuple[LoopTrips, ...]:
    """Return the iterations of every loop that was entered, averaged over the grid's warps.

    ``warp_weights`` says how many warps of the grid each warp of the trace stands for. A loop is entered by a step into
    its header from outside it; one that is tested at its top runs once less than its header.
    """
    forest = natural_loops(control_flow(routine.program))
    steps = np.diff(trace.step_start)
    weight = np.repeat(warp_weights, steps)
    first = np.zeros(len(trace.step_block), bool)
    first[trace.step_start[:-1][steps > 0]] = True
    lanes = np.bitwise_count(trace.step_mask).astype(float)
    found = (_trips(loop, forest, routine, trace, weight, first, lanes) for loop in forest.loops)
    return tuple(loop for loop in found if loop is not None)


def _trips(
    loop: Loop,
    forest: LoopForest,
    routine: Routine,
    trace: Trace,
    weight: NDArray[np.float64],
    first: NDArray[np.bool_],
    lanes: NDArray[np.float64],
) -> LoopTrips | None:
    blocks = forest.flow.blocks
    start = blocks[loop.header].start
    inside = {i for b in loop.blocks for i in range(blocks[b].start, blocks[b].stop)}
    heads = np.array([len(b.instructions) > 0 and b.instructions.start == start for b in routine.blocks])
    within = np.array([_belongs(b.instructions, inside) for b in routine.blocks])
    at_head, in_loop = heads[trace.step_block], within[trace.step_block]
    came_from_inside = np.concatenate([[False], in_loop[:-1]]) & ~first
    entering = at_head & ~came_from_inside
    entries, lanes_in = float(weight[entering].sum()), float((weight * lanes)[entering].sum())
    if not entries:
        return None
    top = any(source == loop.header for source, _ in loop.exits) and loop.header not in loop.latches
    trips = float(weight[at_head].sum()) / entries - top
    own = float((weight * lanes)[at_head].sum()) / lanes_in - top
    return LoopTrips(start, trips, own, known=True, line=loop.line)


def _belongs(instructions: range, inside: set[int]) -> bool:
    """Whether a micro-block is part of a loop; one without instructions of its own is where it would be."""
    return instructions.start in inside if len(instructions) else False
