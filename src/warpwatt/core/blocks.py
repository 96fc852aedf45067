"""Blocks of a grid that do unequal work: what classes there are, and in what order the grid has them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


UNEQUAL = 0.5
"""Standard deviation over mean of the blocks' work from which on their classes are looked at apart."""
SURPLUS = 0.05
"""Share of blocks that do next to nothing from which on these are looked at apart."""
NEXT_TO_NOTHING = 0.1
"""Work of a block over that of the busiest up to which it does next to nothing: it looks and has none."""


@dataclass(frozen=True, slots=True, eq=False)
class BlockClasses:
    """Classes of blocks that do alike, those with the most work first.

    Attributes
    ----------
    populations
        Blocks of the grid in each class.
    instructions
        Warp instructions of one block of each class.
    order, counts
        The grid from its first block to its last, as runs of blocks of one class: its number, how many.
    of_block
        Class of each block that was emulated, by its linear number.
    """

    populations: tuple[float, ...]
    instructions: tuple[float, ...]
    order: NDArray[np.int64]
    counts: NDArray[np.float64]
    of_block: Mapping[int, int]

    @property
    def unequal(self) -> bool:
        """Whether the mean block says little of what the launch does.

        >>> [BlockClasses((90.0, 10.0), (500.0, w), None, None, {}).unequal for w in (4.0, 40.0, 300.0)]
        [True, True, False]
        """
        return self.inequality > UNEQUAL or self.idle() > SURPLUS

    @property
    def inequality(self) -> float:
        """Standard deviation of the work of a block over its mean."""
        pairs = tuple(zip(self.populations, self.instructions, strict=True))
        blocks = sum(self.populations)
        mean = sum(n * w for n, w in pairs) / blocks
        variance = sum(n * (w - mean) ** 2 for n, w in pairs) / blocks
        return float(variance**0.5) / mean if mean else 0.0

    @property
    def working(self) -> tuple[int, ...]:
        """The classes whose blocks do more than next to nothing beside what the busiest do."""
        limit = NEXT_TO_NOTHING * max(self.instructions)
        return tuple(k for k, w in enumerate(self.instructions) if w >= limit)

    def idle(self) -> float:
        """Return which part of the blocks does next to nothing.

        >>> BlockClasses((10.0, 30.0), (500.0, 4.0), None, None, {}).idle()
        0.75
        """
        return 1.0 - sum(self.populations[k] for k in self.working) / sum(self.populations)
