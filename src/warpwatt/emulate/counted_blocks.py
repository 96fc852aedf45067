"""Grids whose blocks differ, counted: many blocks run one by one without a trace, all where that is cheap.

A sample of a few blocks is enough for what all blocks do alike. Where memory says how much each has to do,
such as the length of its row or whether there is anything at all, most work may lie in blocks that a sample
does not meet, and nothing in the sample tells. Running a block without its trace costs little.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from warpwatt.core.arguments import Buffer
from warpwatt.emulate.idle_blocks import looked_at, short_blocks
from warpwatt.emulate.ir import Memory, Op
from warpwatt.emulate.run import Limits, Run, Stop
from warpwatt.emulate.units import KNOWN_WELL
from warpwatt.program.block_work import BlockWork

if TYPE_CHECKING:
    from warpwatt.emulate.ir import Routine
    from warpwatt.emulate.memory import DeviceMemory
    from warpwatt.emulate.units import Sampled, Start
    from warpwatt.program.binding import BoundLaunch

COUNTED = 3_000_000
"""Warp instructions of all blocks that are counted, about: a tenth of a second."""
MOST_BLOCKS = 16_384
"""Blocks that are counted; of larger grids one of each of so many stretches."""
MORE_THAN_SAMPLED = 4
"""How many times the sample's blocks they have to be, to be worth it."""
_OFF_CHIP = frozenset({"global", "generic"})


@dataclass(frozen=True, slots=True, eq=False)
class Counted:
    """What some blocks did, all together, how many of the grid each stands for, and how long each was."""

    run: Run
    each: float
    work: BlockWork

    def localised(self, memory: DeviceMemory) -> Counted:
        """Return the same with addresses that tell which buffer of the memory they lie in."""
        return replace(self, run=memory.localised(self.run))


def blocks_may_differ(sampled: Sampled, bound: BoundLaunch, routine: Routine, control: Routine) -> bool:
    """Whether blocks of a grid do more or less than others for a reason that their place does not tell.

    ``control`` is what is run of ``routine``. Contents that nobody described say nothing of the other blocks.
    """
    if sampled.cut is not None or sampled.sample.whole:
        return False
    if sampled.error > KNOWN_WELL or short_blocks(sampled) is not None:
        return True
    assumed = any(isinstance(a, Buffer) and a.assumed_fill for a in bound.arguments.values())
    return not assumed and _is_steered(routine, control)


def count_blocks(start: Start, sampled: Sampled) -> Counted | None:
    """Count the blocks of a grid, or as many as cost about :data:`COUNTED`; None where that tells too little.

    Those that are counted lie anywhere in stretches of equal length.
    """
    grid, weights = sampled.sample.grid.count, sampled.sample.weights(sampled.units)
    done = (w * float(run.executions.sum()) for w, run in zip(weights, sampled.runs, strict=True))
    mean = max(1.0, sum(done) / grid)
    most = min(grid, MOST_BLOCKS, int(COUNTED / mean))
    if most < grid and most < MORE_THAN_SAMPLED * len(sampled.units):
        return None
    blocks, stretches = looked_at(grid, most)
    found = start.each(blocks.tolist(), Limits(COUNTED, 0), 2 * COUNTED)
    if any(stop is not Stop.DONE for stop in found.stops):
        return None
    spent = np.array(found.spent, np.float64)
    work = BlockWork(blocks, stretches, np.zeros(len(blocks), np.int64), spent)
    return Counted(found.run, grid / len(blocks), work)


def _is_steered(routine: Routine, control: Routine) -> bool:
    """Whether memory off the chip decides where threads go or which accesses are made."""
    loads = any(
        o.op in (Op.LOAD, Op.ATOMIC)
        and isinstance(o.data, Memory)
        and o.data.space in _OFF_CHIP
        and not o.data.probe
        for b in control.blocks
        for o in b.operations
    )
    if not loads:
        return False
    from warpwatt.emulate.steering import data_dependence

    return bool(data_dependence(routine).control)
