"""Which blocks of a grid are emulated, and how many blocks each stands for.

Small grids are taken whole. Of others, blocks are sorted by where they lie along each axis: first, last, or
between; boundary checks treat these apart. Every such place gives at least one block, the inside several,
drawn with a fixed seed, and some of these bring their neighbours along each axis, which show what blocks
share. The cost does not depend on the size of the grid.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from warpwatt.core.arrays import GOLDEN
from warpwatt.core.launch import Dim3
from warpwatt.emulate.caches.sampled_blocks import SampledBlocks

if TYPE_CHECKING:
    from numpy.typing import NDArray

WHOLE_GRID = 24
"""Grids of so many blocks (or clusters) are run whole."""
INSIDE = 16
"""Slices of the inside, in order of block numbers; one block of each is drawn."""
LARGE = 0.05
"""Places of at least this share of the grid come first: long blocks may spend the budget after a few."""
WITH_NEIGHBOURS = 4
"""How many of them bring their neighbours."""
FEW_INSIDE = 3
"""How many of those inside are enough where they do the same, each at its own place: :attr:`Sample.spare`."""
FURTHER = 64
"""Blocks of the inside that are drawn besides, where those drawn before differ."""
_SEED = 0

Place = tuple[int, int, int]
Stratum = tuple[int, ...]
"""A :data:`Place`, or the number of a class of blocks."""


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """Units (blocks, or clusters of blocks) in the order they are to be run.

    ``units[k]`` are linear numbers of blocks that run together, ``strata[k]`` says where in the grid it
    lies (or which class it is of), ``populations`` how many units of the grid do. Where strata are classes
    that differ in work, ``work`` is how many warp instructions a unit takes, and ``order`` the grid as runs
    of units of one class: class, number of units. ``spare`` are places of units that tell nothing new if
    those before them do the same, each at its own place.
    """

    grid: Dim3
    units: tuple[tuple[int, ...], ...]
    strata: tuple[Stratum, ...]
    populations: Mapping[Stratum, float]
    work: Mapping[Stratum, float] = field(default_factory=dict)
    order: tuple[NDArray[np.int64], NDArray[np.float64]] | None = None
    spare: range = range(0)

    @property
    def whole(self) -> bool:
        """Whether every block of the grid is in the sample."""
        return sum(len(u) for u in self.units) == self.grid.count

    def weights(self, run: Sequence[int]) -> list[float]:
        """Return how many units each unit of ``run`` (places in ``units``) stands for.

        The work of strata none of whose units were run is shared among all.
        """
        strata = [self.strata[k] for k in run]
        reached = sum(map(self._work_of, dict.fromkeys(strata)))
        rest = sum(map(self._work_of, self.populations)) / reached if reached else 1.0
        run_of = Counter(strata)
        return [rest * self.populations[s] / run_of[s] for s in strata]

    def _work_of(self, stratum: Stratum) -> float:
        return self.populations[stratum] * self.work.get(stratum, 1.0)

    @property
    def needed(self) -> int:
        """How many of the first units have to be run so that every stratum that differs in work is met."""
        return len(self.work)

    @property
    def first_share(self) -> float:
        """Mean work of the grid's units over that of the first."""
        if not self.work:
            return 1.0
        units = sum(self.populations.values())
        return sum(map(self._work_of, self.populations)) / units / self.work[self.strata[0]]

    def drawn_further(self) -> Sample:
        """Return the sample with blocks of the inside behind it, no two in one row of anything.

        For grids without clusters whose blocks are told apart by place.
        """
        known = {units[0] for units in self.units}
        extents = _extents(self.grid)
        found = [place for place in _spread(extents) if _number(place, self.grid) not in known]
        return replace(
            self,
            units=(*self.units, *((_number(place, self.grid),) for place in found)),
            strata=(*self.strata, *(_stratum(place, extents) for place in found)),
        )

    def blocks(self, run: Sequence[int]) -> SampledBlocks:
        """Return the blocks of some units, with their weights."""
        pairs = [(b, w) for k, w in zip(run, self.weights(run), strict=True) for b in self.units[k]]
        classes = tuple(self.strata[k][0] for k in run) if self.order else ()
        numbers, weights = np.array([b for b, _ in pairs]), np.array([w for _, w in pairs])
        return SampledBlocks(self.grid, numbers, weights, classes, self.order)


def sample(grid: Dim3, cluster: Dim3 | None = None) -> Sample:
    """Return the units of a grid to run; the most telling first.

    >>> len(sample(Dim3(2**31 - 1)).units), sample(Dim3(3, 3)).whole
    (24, True)
    """
    cluster = cluster or Dim3()
    extents = (max(1, grid.x // cluster.x), max(1, grid.y // cluster.y), max(1, grid.z // cluster.z))
    small = math.prod(extents) <= WHOLE_GRID
    chosen, spare = (_all(extents), range(0)) if small else _chosen(extents)
    strata = tuple(_stratum(c, extents) for c in chosen)
    populations: dict[Stratum, float] = {s: _population(s, extents) for s in set(strata)}
    units = tuple(_blocks(c, cluster, grid) for c in chosen)
    return Sample(grid, units, strata, populations, spare=spare)


def whole(grid: Dim3) -> Sample:
    """Return every block of a grid as one unit.

    >>> whole(Dim3(5)).units
    ((0, 1, 2, 3, 4),)
    """
    return Sample(grid, (tuple(range(grid.count)),), ((0, 0, 0),), {(0, 0, 0): 1})


def stratum_of(blocks: NDArray[np.int64], grid: Dim3) -> NDArray[np.int64]:
    """Return 0 (first), 1 (between) or 2 (last) for each axis of each block.

    >>> stratum_of(np.array([0, 5, 11]), Dim3(4, 3)).tolist()
    [[0, 0, 0], [1, 1, 0], [2, 2, 0]]
    """
    x, y, z = blocks % grid.x, blocks // grid.x % grid.y, blocks // (grid.x * grid.y)
    axes = [
        np.where(c == 0, 0, np.where(c == e - 1, 2, 1))
        for c, e in zip((x, y, z), _extents(grid), strict=True)
    ]
    return np.stack(axes, axis=-1)


def beside(block: int, grid: Dim3) -> tuple[int, ...]:
    """Return a neighbour of a block along each axis.

    >>> beside(5, Dim3(4, 3)), beside(11, Dim3(4, 3))
    ((6, 9), (10, 7))
    """
    place = block % grid.x, block // grid.x % grid.y, block // (grid.x * grid.y)
    return tuple(x + grid.x * (y + grid.y * z) for x, y, z in _neighbours(place, _extents(grid)))


def _extents(grid: Dim3) -> Place:
    return grid.x, grid.y, grid.z


def sample_blocks(grid: Dim3) -> SampledBlocks:
    """Return the sampled blocks of a grid without clusters, with their weights."""
    taken = sample(grid)
    return taken.blocks(range(len(taken.units)))


def _all(extents: Place) -> list[Place]:
    """Return every unit of a small grid: one of each place first, since few may spend the budget."""
    every = [(x, y, z) for z, y, x in product(*(range(e) for e in reversed(extents)))]
    of = {place: _stratum(place, extents) for place in every}
    first = dict.fromkeys(of[place] for place in sorted(every, key=lambda u: -_population(of[u], extents)))
    middle = _middle(extents)
    one = [middle if s == of[middle] else next(u for u in every if of[u] == s) for s in first]
    return list(dict.fromkeys([*one, *_neighbours(middle, extents), *every]))


def _spread(extents: Place) -> Iterator[Place]:
    """Yield units of the inside spread evenly, in no step that rows of a flat grid may have."""
    thick = [(1, e - 2) if e > 2 else (0, e) for e in extents]
    count = math.prod(size for _, size in thick)
    for k in range(1, min(FURTHER, count) + 1):
        number = int(k * GOLDEN % 1 * count)
        x, rest = number % thick[0][1], number // thick[0][1]
        y, z = rest % thick[1][1], rest // thick[1][1]
        yield thick[0][0] + x, thick[1][0] + y, thick[2][0] + z


def _number(place: Place, grid: Dim3) -> int:
    return place[0] + grid.x * (place[1] + grid.y * place[2])


def _chosen(extents: Place) -> tuple[list[Place], range]:
    """Return the units of a large grid, and which of them are spare."""
    draw = random.Random(_SEED)  # noqa: S311 - statistics, not secrets
    inside = [_middle(extents), *_inside(extents, draw)]
    corners = [(0, 0, 0), (extents[0] - 1, extents[1] - 1, extents[2] - 1)]
    neighbours = [n for base in inside[:WITH_NEIGHBOURS] for n in _neighbours(base, extents)]
    boundary = _boundary(extents, draw)
    large = [b for b in boundary if _population(_stratum(b, extents), extents) >= LARGE * math.prod(extents)]
    first = {_stratum(place, extents): place for place in (*large, inside[0])}  # one of each large place
    beside = _neighbours(inside[0], extents)  # without them nothing is known about what blocks share
    telling = dict.fromkeys([*first.values(), *beside, *corners, *inside[: 1 + FEW_INSIDE]])
    further = [n for n in dict.fromkeys([*inside, *neighbours]) if n not in telling]
    last = [b for b in boundary if b not in telling and b not in further]
    return [*telling, *further, *last], range(len(telling), len(telling) + len(further))


def _middle(extents: Place) -> Place:
    return extents[0] // 2, extents[1] // 2, extents[2] // 2


def _inside(extents: Place, draw: random.Random) -> list[Place]:
    """Return one unit of each slice of the inside, the slices in an order that soon reaches everywhere."""
    thick = [(1, e - 2) if e > 2 else (0, e) for e in extents]
    count = thick[0][1] * thick[1][1] * thick[2][1]
    edges = [count * k // INSIDE for k in range(INSIDE + 1)]
    slices = sorted(range(INSIDE), key=lambda k: f"{k:08b}"[::-1])
    found = []
    for k in slices:
        if edges[k] < edges[k + 1]:
            number = draw.randrange(edges[k], edges[k + 1])
            x, rest = number % thick[0][1], number // thick[0][1]
            y, z = rest % thick[1][1], rest // thick[1][1]
            found.append((thick[0][0] + x, thick[1][0] + y, thick[2][0] + z))
    return found


def _neighbours(base: Place, extents: Place) -> list[Place]:
    moved = []
    for axis in range(3):
        if extents[axis] > 1:
            step = 1 if base[axis] + 1 < extents[axis] else -1
            x, y, z = (c + step * (a == axis) for a, c in enumerate(base))
            moved.append((x, y, z))
    return moved


def _boundary(extents: Place, draw: random.Random) -> list[Place]:
    """Return one unit of every place of the grid: corners, edges, faces."""
    kinds = [[k for k in (0, 1, 2) if _size(k, e)] for e in extents]
    found = []
    for place in product(*kinds):
        x, y, z = (_draw_at(k, e, draw) for k, e in zip(place, extents, strict=True))
        found.append((x, y, z))
    return found


def _draw_at(kind: int, extent: int, draw: random.Random) -> int:
    return (0, draw.randrange(1, extent - 1) if extent > 2 else 0, extent - 1)[kind]


def _stratum(unit: Place, extents: Place) -> Place:
    """Return 0 (first), 1 (between) or 2 (last) for each axis."""
    x, y, z = (0 if c == 0 else 2 if c == e - 1 else 1 for c, e in zip(unit, extents, strict=True))
    return x, y, z


def _population(stratum: Place, extents: Place) -> int:
    sizes = [_size(kind, extent) for kind, extent in zip(stratum, extents, strict=True)]
    return sizes[0] * sizes[1] * sizes[2]


def _size(kind: int, extent: int) -> int:
    """Return how many coordinates of an axis are first (0), between (1) or last (2).

    >>> [_size(kind, extent) for extent in (1, 2, 5) for kind in (0, 1, 2)]
    [1, 0, 0, 1, 0, 1, 1, 3, 1]
    """
    return (1, max(0, extent - 2), int(extent > 1))[kind]


def _blocks(unit: Place, cluster: Dim3, grid: Dim3) -> tuple[int, ...]:
    """Return the linear numbers of the blocks of a unit."""
    x, y, z = unit[0] * cluster.x, unit[1] * cluster.y, unit[2] * cluster.z
    return tuple(
        (z + dz) * grid.x * grid.y + (y + dy) * grid.x + x + dx
        for dz, dy, dx in product(range(cluster.z), range(cluster.y), range(cluster.x))
    )
