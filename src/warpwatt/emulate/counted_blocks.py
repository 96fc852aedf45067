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
from warpwatt.emulate.alike_units import KNOWN_WELL
from warpwatt.emulate.idle_blocks import looked_at, short_blocks
from warpwatt.emulate.run import Limits, Run, Stop
from warpwatt.emulate.slice import reads_contents
from warpwatt.program.block_work import BlockWork

if TYPE_CHECKING:
    from collections.abc import Callable

    from warpwatt.emulate.ir import Routine
    from warpwatt.emulate.memory import DeviceMemory
    from warpwatt.emulate.units import Sampled, Start
    from warpwatt.program.binding import BoundLaunch

    Fresh = Callable[[], tuple[Start, DeviceMemory]]

COUNTED = (250_000, 2_000_000, 10_000_000)
"""Warp instructions of all blocks that are counted, about: the first where these agree with the sample, the
last where fewer do not tell what the grid does. Ten million take a second at most."""
FEW_BLOCKS, COUNTED_OF_FEW = 128, 100_000_000
"""Blocks of a grid up to which all are counted if they take no more than so many warp instructions: they run
at one time, and the launch lasts as long as the longest, which a sample may not have met. Five seconds."""
MOST_BLOCKS = 16_384
"""Blocks that are counted; of larger grids one of each of so many stretches."""
MORE_THAN_SAMPLED = 4
"""How many times the sample's blocks they have to be, to be worth it."""


@dataclass(frozen=True, slots=True, eq=False)
class Counted:
    """What some blocks did, all together, how many of the grid each stands for, and how long each was."""

    run: Run
    each: float
    work: BlockWork

    def agrees(self, total: float) -> bool:
        """Whether the grid takes so many warp instructions, as far as can be told, and that is well known."""
        off = abs(self.work.total / max(1.0, total) - 1)
        return max(off, self.work.uncertainty) <= KNOWN_WELL

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


def count_blocks(fresh: Fresh, sampled: Sampled) -> Counted | None:
    """Count the blocks of a grid, or as many as tell how much all do; None where the sample tells it as well.

    Those that are counted lie anywhere in stretches of equal length; ``fresh`` begins with memory as it was.
    """
    weights = sampled.sample.weights(sampled.units)
    total = sum(w * float(run.executions.sum()) for w, run in zip(weights, sampled.runs, strict=True))
    alike = sampled.error <= KNOWN_WELL and short_blocks(sampled) is None
    found = None
    few = sampled.sample.grid.count <= FEW_BLOCKS
    for instructions in (*COUNTED, COUNTED_OF_FEW) if few else COUNTED:
        more = _counted(fresh()[0], sampled, total, instructions)
        if more is None:
            continue
        if alike and more.each > 1 and more.agrees(total):
            return None
        found, total = more, more.work.total
        known = more.work.uncertainty <= KNOWN_WELL and instructions > COUNTED[0]
        if more.each == 1 or known:
            break
    return found


def _counted(start: Start, sampled: Sampled, total: float, instructions: int) -> Counted | None:
    """Count as many blocks as take so many instructions, where the whole grid takes ``total``."""
    grid = sampled.sample.grid.count
    most = min(grid, MOST_BLOCKS, int(instructions * grid / max(1.0, total)))
    if most < grid and most < MORE_THAN_SAMPLED * len(sampled.units):
        return None
    blocks, stretches = looked_at(grid, most)
    found = start.each(blocks.tolist(), Limits(2 * instructions, 0), 2 * instructions)
    if any(stop is not Stop.DONE for stop in found.stops):
        return None
    spent = np.array(found.spent, np.float64)
    work = BlockWork(blocks, stretches, np.zeros(len(blocks), np.int64), spent)
    return Counted(found.run, grid / len(blocks), work)


def _is_steered(routine: Routine, control: Routine) -> bool:
    """Whether memory off the chip decides where threads go or which accesses are made."""
    if not reads_contents(control):
        return False
    from warpwatt.emulate.steering import data_dependence

    return bool(data_dependence(routine).control)
