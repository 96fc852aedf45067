"""One profile at baseline clocks teaches what counters cannot say (Wang and Chu 2018, section VI).

The paper feeds counters alone to its closed forms. A profile has a time too, which two unknowns explain: how
much longer computation takes than its busiest unit is busy (dependences, replays), and how much longer DRAM
takes than at its best. Among all pairs that give exactly the measured time, the most likely one is taken.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from warpwatt.core.gpu import Clocks
from warpwatt.published.wang_chu.rounds import KNEE, answer

if TYPE_CHECKING:
    from warpwatt.published.wang_chu.counts import Counts
    from warpwatt.published.wang_chu.memory import MemoryParameters

COMPUTE = 0.3, 0.3
"""Mean and standard deviation of log(computation / busiest unit); GTX 980 (docs/validation/wang_chu.md)."""
QUEUE = 0.03
"""Standard deviation of log(DRAM's service / its best)."""
STEPS = tuple(0.01 * step for step in range(-15, 31))
"""Logarithms of DRAM's service over its best that are tried."""
BISECTIONS = 30
RANGE = 6.0
"""Logarithm of the most that computation may be off, either way."""


@dataclass(frozen=True, slots=True)
class FittedCounts:
    """Counts that give the measured time at the baseline, times ``factor`` where nothing else does."""

    counts: Counts
    factor: float = 1.0

    def seconds(self, memory: MemoryParameters, clocks: Clocks, *, knee: float = KNEE) -> float:
        """Return the time at other clocks."""
        return self.factor * answer(self.counts, memory, clocks, knee=knee).seconds


def fit_counts(
    counts: Counts, memory: MemoryParameters, clocks: Clocks, measured: float, *, knee: float = KNEE
) -> FittedCounts:
    """Return the counts as a measured time in seconds at baseline ``clocks`` corrects them."""
    together = replace(counts, iterations=1.0, sectors=counts.sectors * counts.iterations)
    for start in (counts, together):  # requests may be in flight together where iterations say otherwise
        pairs = [_pair(start, step, memory, clocks, measured, knee) for step in STEPS]
        likely = min(pairs, key=lambda pair: pair[0])
        if math.isfinite(likely[0]):
            return FittedCounts(likely[1])
    return FittedCounts(together, measured / answer(together, memory, clocks, knee=knee).seconds)


def _pair(
    counts: Counts,
    queue: float,
    memory: MemoryParameters,
    clocks: Clocks,
    measured: float,
    knee: float,
) -> tuple[float, Counts]:
    """Return how unlikely the counts are that fit with a given queue, and them; infinite if none do."""
    slower = replace(counts, sectors=counts.sectors * math.exp(queue))

    def computing(shift: float) -> Counts:
        return replace(slower, compute=counts.compute * math.exp(shift))

    def seconds(shift: float) -> float:
        return answer(computing(shift), memory, clocks, knee=knee).seconds

    low, high = -RANGE, RANGE
    if seconds(low) > measured or seconds(high) < measured:
        return math.inf, slower
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        low, high = (middle, high) if seconds(middle) < measured else (low, middle)
    mean, deviation = COMPUTE
    return (queue / QUEUE) ** 2 + ((high - mean) / deviation) ** 2, computing(high)
