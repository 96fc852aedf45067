"""Which blocks of a grid were run, and for how many each stands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from warpwatt.core.launch import Dim3

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class SampledBlocks:
    """The sampled blocks of a grid: their linear numbers and how many blocks each stands for."""

    grid: Dim3
    numbers: NDArray[np.int64]
    weights: NDArray[np.float64]
    classes: tuple[int, ...] = ()
    """Class of each sampled block, where blocks were classified by their work."""
    order: tuple[NDArray[np.int64], NDArray[np.float64]] | None = None
    """The grid as runs of blocks of one class: class, number of blocks."""

    def without_idle(self, touching: Sequence[int]) -> SampledBlocks | None:
        """Return the blocks of ``touching`` (ordinals) in the grid that is left without the other classes.

        None unless most blocks of their classes stand between blocks of other classes: then neighbours in the
        grid say nothing of what is shared.
        """
        if self.order is None:
            return None
        kinds, counts = self.order
        kept = np.isin(kinds, [self.classes[k] for k in touching])
        left = counts * kept
        if 2 * np.count_nonzero(np.diff(kept, prepend=False) & kept) <= left.sum():
            return None
        begins, numbers = np.cumsum(counts) - counts, self.numbers[list(touching)]
        run = np.searchsorted(begins, numbers, side="right") - 1
        rank = (np.cumsum(left) - left)[run] + numbers - begins[run]
        grid = Dim3(max(1, round(float(left.sum()))))
        return SampledBlocks(grid, rank.astype(np.int64), self.weights[list(touching)])

    @cached_property
    def coordinates(self) -> NDArray[np.int64]:
        """Coordinates of the blocks, shape (blocks, 3)."""
        x, y = self.grid.x, self.grid.y
        return np.stack([self.numbers % x, self.numbers // x % y, self.numbers // (x * y)], axis=1)

    @cached_property
    def extents_seen(self) -> NDArray[np.int64]:
        """How far apart the sampled blocks lie at most along each axis."""
        return np.asarray(self.coordinates.max(axis=0) - self.coordinates.min(axis=0))

    @cached_property
    def fits(self) -> dict[tuple[bytes, bytes], tuple[tuple[float, ...], bool]]:
        """What :func:`~warpwatt.emulate.caches.movement.steps_of` found, by ordinals and relative sectors."""
        return {}

    @cached_property
    def extents(self) -> dict[tuple[object, ...], tuple[Any, ...]]:
        """What :func:`~warpwatt.emulate.caches.growth.growths` found of footprints, by all they are."""
        return {}

    def neighbours(self, axis: int) -> list[tuple[int, int]]:
        """Return pairs of ordinals of blocks that are neighbours along an axis."""
        return self._neighbours[axis]

    @cached_property
    def _neighbours(self) -> tuple[list[tuple[int, int]], ...]:
        ordinal = {int(n): i for i, n in enumerate(self.numbers)}
        extents = (self.grid.x, self.grid.y, self.grid.z)
        found = []
        for axis, step in enumerate((1, self.grid.x, self.grid.x * self.grid.y)):
            at = self.coordinates[:, axis].tolist()
            pairs = [(i, ordinal.get(n + step, -1)) for n, i in ordinal.items() if at[i] < extents[axis] - 1]
            found.append([(i, j) for i, j in pairs if j >= 0])
        return tuple(found)
