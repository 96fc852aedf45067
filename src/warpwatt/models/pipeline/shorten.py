"""Choose which steps of the streams to simulate, so that a simulation stays within its budget."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from warpwatt.core.streams import WarpStreams
from warpwatt.native import ADDRESS, INT, addresses, function

if TYPE_CHECKING:
    from numpy.typing import NDArray


_FEWEST_REPETITIONS = 4
"""What repeats less often is no run."""


@dataclass(frozen=True, slots=True, eq=False)
class Runs:
    """Repetition in streams: rows (first step, steps per repetition, repetitions)."""

    streams: WarpStreams
    rows: NDArray[np.int64]
    work: NDArray[np.int64]
    """Warp instructions before each step, and in all."""

    @property
    def most(self) -> int:
        """Repetitions of the longest run."""
        return int(self.rows[:, 2].max(initial=0))

    def _limits(self, limit: int) -> NDArray[np.int64]:
        """Return how often each run may repeat if the longest may do so ``limit`` times: equal parts of all.

        So the short ones stay as rare beside the long ones as they are, warps end in the same order, and
        those that wait for one another by barrier objects still meet.
        """
        times = self.rows[:, 2]
        return np.maximum(2, -(-times * limit // max(limit, self.most)))

    def instructions(self, limit: int) -> float:
        """Return the warp instructions per block if the longest run repeats ``limit`` times."""
        first, period, times = self.rows.T
        once = self.work[first + period] - self.work[first]
        left_out = (np.maximum(0, times - self._limits(limit)) * once).sum()
        return float(self.work[-1] - left_out) / len(self.streams.blocks)

    def limit(self, instructions: float) -> int:
        """Return the largest limit (at least 3) with at most so many warp instructions per block."""
        low, high = 3, max(3, self.most)
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if self.instructions(middle) <= instructions else (low, middle - 1)
        return low

    def cut(self, limit: int) -> WarpStreams:
        """Return the streams, the longest run cut to ``limit`` repetitions: its first ones and the last."""
        keep = np.ones(len(self.streams.steps), bool)
        limits = self._limits(limit)
        cut = self.rows[:, 2] > limits
        for (first, period, times), most in zip(self.rows[cut], limits[cut], strict=True):
            keep[first + (most - 1) * period : first + (times - 1) * period] = False
        kept = np.concatenate(([0], np.cumsum(keep)))
        return replace(self.streams, starts=kept[self.streams.starts], steps=self.streams.steps[keep])


@lru_cache(maxsize=8)
def runs(streams: WarpStreams, *, longest: bool = True) -> Runs:
    """Return the repetition found in streams: of outer loops (``longest``) or of innermost ones."""
    steps = streams.steps
    codes = steps[:, 0] + 1  # 0: steps without instructions, which say -1
    rows = np.empty((len(codes) // _FEWEST_REPETITIONS + 1, 3), np.int64)
    find_runs = function("find_runs", INT, INT, ADDRESS, ADDRESS, INT, INT, ADDRESS)
    starts, given, found = addresses(streams.starts, codes, rows)
    count = find_runs(len(streams.starts) - 1, starts, given, int(codes.max(initial=0)), longest, found)
    work = np.concatenate(([0], np.cumsum(steps[:, 1] - steps[:, 0])))
    return Runs(streams, rows[:count], work)
