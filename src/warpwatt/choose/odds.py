"""How probable it is that one of two predicted quantities is really the smaller one.

What both get wrong alike cancels, because predictions share their parameter draws. What is wrong about each
program alone does not: :data:`OWN_SPREAD` is that part, taken from public searches over configurations.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from warpwatt.core.estimate import DRAWS, Estimate

Item = TypeVar("Item")
OWN_SPREAD = 0.15
"""Standard deviation of the logarithm of predicted over measured ratios of two configurations of one kernel
(docs/validation/ranking.md)."""

SURE = 0.8
"""Probability from which on one is told apart from another: what intervals hold."""
ALIKE = 0.01
"""Share up to which values of one program are the same: models settle clocks and power to a fifth of it."""


def told_apart(estimates: Sequence[Estimate]) -> int | None:
    """Return the place of the least value, None where some other may be the least as well.

    >>> a = Estimate.exact(1.0, "s")
    >>> told_apart([a.scaled(2.0), a]), told_apart([a, a.scaled(1.02)])
    (1, None)
    """
    first = min(range(len(estimates)), key=lambda place: estimates[place].value)
    others = (other for place, other in enumerate(estimates) if place != first)
    return first if all(probability_smaller(estimates[first], other) >= SURE for other in others) else None


def only_least(values: Sequence[float]) -> float | None:
    """Return the least of some values of one program, None where another is the same.

    >>> only_least([3.0, 2.0]), only_least([2.0, 2.01, 3.0])
    (2.0, None)
    """
    ordered = sorted(values)
    return ordered[0] if len(ordered) < 2 or ordered[1] > (1 + ALIKE) * ordered[0] else None


def probability_smaller(one: Estimate, other: Estimate, own_spread: float = OWN_SPREAD) -> float:
    """Return the probability that ``one`` is really smaller than ``other``.

    The mean over the shared draws of Φ(ln(other / one) / own_spread).

    >>> a = Estimate.spread(1.0, {"bandwidth": 0.5}, "s")
    >>> probability_smaller(a, a), round(probability_smaller(a, a.scaled(1.1), 0.1), 2)
    (0.5, 0.83)
    """
    mine = one.draws or (one.value,) * DRAWS
    theirs = other.draws or (other.value,) * DRAWS
    scale = 1.0 / (own_spread * math.sqrt(2))
    logs = (math.log(b / a) for a, b in zip(mine, theirs, strict=True))
    return sum(0.5 * math.erfc(-log * scale) for log in logs) / len(mine)


def in_order(items: Iterable[Item], value: Callable[[Item], Estimate]) -> list[Item]:
    """Return items by predicted value, the smallest first; what a ranking, a tuner and a search go by.

    >>> in_order([3.0, 1.0, 2.0], lambda x: Estimate.exact(x, "s"))
    [1.0, 2.0, 3.0]
    """
    return sorted(items, key=lambda item: value(item).value)
