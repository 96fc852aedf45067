"""Classes of blocks that do alike, and the blocks of each to emulate where a grid's work is unequal.

Grids are often larger than the work, triangular, or leave everything to one block. A sample by place
(:mod:`~warpwatt.emulate.sampling`) would miss the blocks that work; here every class is met, and weighed by
its share of the grid.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from warpwatt.core.arrays import occurring, unique
from warpwatt.core.blocks import BlockClasses
from warpwatt.emulate.sampling import INSIDE, WITH_NEIGHBOURS, Sample, beside, sample, stratum_of
from warpwatt.program.block_work import BlockWork

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from warpwatt.core.launch import Dim3
    from warpwatt.core.streams import WarpStreams
    from warpwatt.emulate.sampling import Stratum

ALIKE = 1.1
"""Blocks on one path whose work differs by less are one class."""
BINS = 6
"""Of blocks on one path that differ more, no class has a larger part of the work than this part of it."""
LONG = 4.0
"""Blocks that work so many times longer than the mean are a class, wherever they lie."""
MOST = 16
"""Classes met; those with the least work are one class more."""


@dataclass(frozen=True, slots=True, eq=False)
class BlockClass:
    """Blocks that do alike: their numbers, how many of the grid, warp instructions of one on average."""

    members: NDArray[np.int64]
    population: float
    instructions: float

    @property
    def total(self) -> float:
        """Warp instructions of all."""
        return self.population * self.instructions


def sample_by_work(grid: Dim3, work: BlockWork | None, *, anywhere: bool = False) -> Sample:
    """Return the units to run of a grid without clusters: by classes where places do not tell them apart.

    ``anywhere`` takes one from anywhere in each slice of a class, not its middle: where a grid is a list of
    tiles, middles at equal distances may all lie in one row of them.
    """
    by_place = sample(grid)
    if work is None:
        return by_place
    classes = block_classes(work)
    if len(classes) == 1 or (_told_by_place(grid, classes) and not _one_works_long(classes)):
        return by_place
    return _sampled(grid, classes, work, anywhere)


def block_classes(work: BlockWork) -> tuple[BlockClass, ...]:
    """Return the classes of a grid's blocks, those with the most work first."""
    found = []
    for path in unique(work.paths):
        places = np.flatnonzero(work.paths == path)
        found += [_class(work, part) for part in _bins(work, places)]
    found.sort(key=lambda c: -c.total)
    if len(found) <= MOST:
        return tuple(found)
    rest = np.isin(work.blocks, np.concatenate([c.members for c in found[MOST:]]))
    return (*found[:MOST], _class(work, np.flatnonzero(rest)))


def _class(work: BlockWork, places: NDArray[np.intp]) -> BlockClass:
    weights = work.weights[places]
    mean = float(np.average(work.instructions[places], weights=weights))
    return BlockClass(work.blocks[places], float(weights.sum()), mean)


def _bins(work: BlockWork, places: NDArray[np.intp]) -> list[NDArray[np.intp]]:
    """Cut blocks on one path where their work jumps; a part differs at most twofold and is not too large."""
    order = places[np.argsort(work.instructions[places], kind="stable")]
    each = work.instructions[order]
    if each[-1] <= ALIKE * each[0]:
        return [places]
    doubled = np.floor(np.log2(each / max(1.0, each[0])))
    sixths = np.floor(BINS * np.cumsum(work.weights[order] * each) / (1.0 + work.weights[order] @ each))
    jumps = each[1:] > ALIKE * each[:-1]
    cuts = np.flatnonzero(jumps | (np.diff(doubled) != 0) | (np.diff(sixths) != 0)) + 1
    parts: list[NDArray[np.intp]] = []
    for part in np.split(order, cuts):
        if parts and work.instructions[part].mean() <= ALIKE * work.instructions[parts[-1]].mean():
            parts[-1] = np.concatenate([parts[-1], part])
        else:
            parts.append(part)
    return parts


def _one_works_long(classes: Sequence[BlockClass]) -> bool:
    """Whether some blocks may still work when the others have ended."""
    mean = sum(c.total for c in classes) / sum(c.population for c in classes)
    return max(c.instructions for c in classes) > LONG * mean


def _told_by_place(grid: Dim3, classes: Sequence[BlockClass]) -> bool:
    """Whether all blocks of a place (first, last, between on each axis) are of one class."""
    seen: set[int] = set()
    for of in classes:
        places = set(occurring(stratum_of(of.members, grid) @ (1, 3, 9)))
        if seen & places:
            return False
        seen |= places
    return True


def _sampled(grid: Dim3, classes: Sequence[BlockClass], work: BlockWork, anywhere: bool) -> Sample:
    """Return one block of each class, neighbours of the most telling, then more of those that work most."""
    one = [_typical(c, work) for c in classes]
    total = sum(c.total for c in classes)
    more = [
        (k, b)
        for k, c in enumerate(classes)
        for b in _slices(c, round(INSIDE * c.total / total), anywhere=anywhere)
    ]
    known = {int(b): k for k, c in enumerate(classes) for b in c.members}
    by_neighbours = [one[0], *(b for _, b in more[: WITH_NEIGHBOURS - 1])]
    near = [[(known.get(n), n) for n in beside(b, grid)] for b in by_neighbours]
    first_near, *others = [[(k, n) for k, n in found if k is not None] for found in near]
    ordered = [*enumerate(one), *first_near, *more, *(pair for found in others for pair in found)]
    units = {block: k for k, block in reversed(ordered)}
    places = dict.fromkeys(block for _, block in ordered)
    strata = tuple((units[block],) for block in places)
    return Sample(
        grid,
        tuple((block,) for block in places),
        strata,
        {(k,): c.population for k, c in enumerate(classes)},
        {(k,): max(1.0, c.instructions) for k, c in enumerate(classes)},
        _order(classes, work),
    )


def _order(classes: Sequence[BlockClass], work: BlockWork) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the grid as runs of blocks of one class: its number, how many blocks."""
    number = np.empty(len(work.blocks), np.int64)
    for k, c in enumerate(classes):
        number[np.searchsorted(work.blocks, c.members)] = k
    starts = np.flatnonzero(np.diff(number, prepend=-1))
    return number[starts], np.add.reduceat(work.weights, starts)


def measured_classes(sample: Sample, run: Mapping[int, float]) -> BlockClasses | None:
    """Return the classes of a sample; ``run`` are the warp instructions of each unit that was run.

    Classes none of whose units were run have what analysis says, in proportion.
    """
    if sample.order is None:
        return None
    done: dict[Stratum, list[float]] = {}
    for unit, instructions in run.items():
        done.setdefault(sample.strata[unit], []).append(instructions)
    each = {s: sum(found) / len(found) for s, found in done.items()}
    scale = sum(each.values()) / sum(sample.work[s] for s in each)
    strata = tuple(sample.work)
    return BlockClasses(
        tuple(sample.populations[s] for s in strata),
        tuple(each.get(s, scale * sample.work[s]) for s in strata),
        *sample.order,
        {units[0]: s[0] for units, s in zip(sample.units, sample.strata, strict=True)},
    )


def traced_classes(streams: WarpStreams) -> BlockClasses | None:
    """Return the classes of a grid every block of which was traced to its end; None if all are alike."""
    each = (streams.steps[:, 1] - streams.steps[:, 0]).astype(np.float64)
    ends = streams.starts[:: streams.warps_per_block]
    done = np.concatenate([[0.0], np.cumsum(each)])[ends]
    order = np.argsort(streams.blocks)
    blocks = np.array(streams.blocks, np.int64)[order]
    ones, path = np.ones(len(blocks)), np.zeros(len(blocks), np.int64)
    work = BlockWork(blocks, ones, path, np.diff(done)[order])
    classes = block_classes(work)
    if len(classes) == 1:
        return None
    return BlockClasses(
        tuple(c.population for c in classes),
        tuple(c.instructions for c in classes),
        *_order(classes, work),
        {int(block): k for k, c in enumerate(classes) for block in c.members},
    )


def _typical(of: BlockClass, work: BlockWork) -> int:
    """Return the block nearest to its class's mean work, of several the one in the middle."""
    each = work.instructions[np.searchsorted(work.blocks, of.members)]
    nearest = np.abs(each - of.instructions)
    members = np.sort(of.members[nearest <= nearest.min() + 1e-9 * of.instructions])
    return int(members[len(members) // 2])


def _slices(of: BlockClass, count: int, *, anywhere: bool) -> list[int]:
    """Return one of each of ``count`` slices of a class, in the order of their numbers in the grid."""
    members = np.sort(of.members)
    count = min(count, len(members))
    within = np.random.default_rng(0).random(count) if anywhere else np.full(count, 0.5)
    return [int(members[int((k + within[k]) * len(members) / max(1, count))]) for k in range(count)]
