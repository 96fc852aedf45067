"""What a ranking costs and saves an autotuner: losses by budget, runs until one is good enough."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from validation.timing.cases import BASELINES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from validation.timing.searches import Search

MODELS = ("pipeline", "roofline", BASELINES[0])
"""Rankings compared: ours, our roofline model, the classic roofline (operations and DRAM bytes)."""
BUDGETS = (0.01, 0.02, 0.05, 0.10, 0.20)
"""Shares of the space that are run."""
ALLOWED = 0.02
"""Loss at which runs saved are counted."""


@dataclass(frozen=True, slots=True)
class Tuned:
    """One search: seconds measured, seconds predicted by model, and the best of the whole search."""

    search: Search
    measured: tuple[float, ...]
    predicted: dict[str, tuple[float, ...]]
    best_of_all: float
    """Seconds of the fastest of all usable rows, whether or not it is in the sample."""
    rows: int
    """Usable rows of the search."""


def number(budget: float, whole: int) -> int:
    """Return how many configurations a budget is."""
    return max(1, math.ceil(budget * whole))


def loss(predicted: Sequence[float], measured: Sequence[float], runs: int) -> float:
    """Return how much slower the fastest of the first ``runs`` is than the fastest of all.

    >>> loss([1.0, 2.0, 3.0], [1.5, 1.0, 9.0], 1)
    0.5
    """
    return min(measured[i] for i in _order(predicted)[:runs]) / min(measured) - 1


def random_loss(measured: Sequence[float], runs: int) -> float:
    """Return the same, expected of ``runs`` different configurations drawn blindly; exact.

    The i-th fastest of n is the fastest of those drawn in C(n - i, runs - 1) of C(n, runs) draws.

    >>> random_loss([1.0, 2.0, 3.0], 3), round(random_loss([1.0, 2.0, 3.0], 2), 4)
    (0.0, 0.3333)
    """
    ordered, n = sorted(measured), len(measured)
    expected = sum(t * math.comb(n - i, runs - 1) for i, t in enumerate(ordered, start=1))
    return expected / math.comb(n, runs) / ordered[0] - 1


def runs_needed(predicted: Sequence[float], measured: Sequence[float], allowed: float = ALLOWED) -> int:
    """Return how many of the first are run until one is within ``allowed`` of the fastest.

    >>> runs_needed([1.0, 2.0, 3.0], [1.5, 1.0, 1.01])
    2
    """
    good = min(measured) * (1 + allowed)
    return next(k for k, i in enumerate(_order(predicted), start=1) if measured[i] <= good)


def random_runs_needed(measured: Sequence[float], allowed: float = ALLOWED) -> float:
    """Return the same, expected of blind draws: (n + 1)/(m + 1) with m good ones among n; exact.

    >>> random_runs_needed([1.0, 1.01, 2.0, 3.0, 4.0])
    2.0
    """
    good = sum(1 for t in measured if t <= min(measured) * (1 + allowed))
    return (len(measured) + 1) / (good + 1)


def _order(predicted: Sequence[float]) -> list[int]:
    return sorted(range(len(predicted)), key=lambda i: predicted[i])
