"""Blocks that exit at once because of what they load: found by starting many blocks and stopping them soon.

Grids are often made for the worst case (a router's padding, a queue's length), and each block asks memory
whether there is work for it. Analysis cannot know, and a sample by place takes all blocks inside the grid
for one kind.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from warpwatt.emulate.run import Limits, Stop
from warpwatt.program.block_work import BlockWork

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from warpwatt.emulate.units import Sampled, Start

SHORT = 0.1
"""A block that executes less than this part of what another at such a place does, has exited at once."""
LOOKED_AT = 4096
"""Blocks that are started; of larger grids one of each of so many stretches."""
MARGIN = 1.5
"""A block is stopped when it has executed this many times what the longest of the short ones did."""


def short_blocks(sampled: Sampled) -> float | None:
    """Return the most warp instructions of a block that exits at once, None where the sample has none.

    Only blocks whose place in the grid does not tell them from others that work count.
    """
    if sampled.sample.order is not None or sampled.cut is not None:
        return None
    by_place: dict[object, list[float]] = {}
    for unit, run in zip(sampled.units, sampled.runs, strict=True):
        by_place.setdefault(sampled.sample.strata[unit], []).append(float(run.warp_instructions))
    short = [x for alike in by_place.values() for x in alike if x < SHORT * max(alike)]
    return max(short, default=None)


def work_by_running(start: Start, sampled: Sampled, longest: float) -> BlockWork:
    """Return what blocks work: those that end within the instructions of a short one, and the others."""
    each = _instructions(sampled)
    limits = Limits(max(1, int(MARGIN * longest)), 1)
    grid = sampled.sample.grid.count
    blocks, weights = looked_at(grid, LOOKED_AT)
    unknown = [block for block in blocks.tolist() if block not in each]
    stops = dict(zip(unknown, start.each(unknown, limits).stops, strict=True)) if unknown else {}
    ended = np.array(
        [each[b] <= longest if b in each else stops[b] is Stop.DONE for b in blocks.tolist()], np.bool_
    )
    done = [x for x in each.values() if x > longest]
    instructions = np.where(ended, longest, sum(done) / max(1, len(done)))
    return BlockWork(blocks, weights, ended.astype(np.int64), instructions)


def _instructions(sampled: Sampled) -> dict[int, float]:
    """Return the warp instructions of the blocks that were run."""
    return {
        sampled.sample.units[unit][0]: float(run.warp_instructions)
        for unit, run in zip(sampled.units, sampled.runs, strict=True)
    }


def looked_at(grid: int, most: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return blocks, ascending, and how many each stands for: all, or one anywhere in each stretch.

    >>> blocks, weights = looked_at(3, 100)
    >>> blocks.tolist(), weights.tolist()
    ([0, 1, 2], [1.0, 1.0, 1.0])
    """
    edges = np.linspace(0, grid, min(grid, most) + 1).astype(np.int64)
    sizes = np.diff(edges)
    within = np.random.default_rng(0).random(len(sizes))
    return edges[:-1] + (within * sizes).astype(np.int64), sizes.astype(np.float64)
