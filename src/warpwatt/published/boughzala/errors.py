"""Worst, best and average relative error, equation (8) of the paper.

As printed, (8) sums signed errors and does not divide by their number; its tables can only be the mean of
sizes, which is what stands here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence


class RelativeErrors(NamedTuple):
    """Sizes of relative errors in percent: the largest, the smallest, the mean."""

    worst: float
    best: float
    average: float


def relative_errors(predicted: Sequence[float], measured: Sequence[float]) -> RelativeErrors:
    """Return WRE, BRE and ARE in percent; raises ValueError for no or unequally many values.

    >>> relative_errors([1.1, 1.9, 3.0], [1.0, 2.0, 3.0])
    RelativeErrors(worst=10.0..., best=0.0, average=5.0...)
    """
    sizes = [100 * abs(p - m) / m for p, m in zip(predicted, measured, strict=True)]
    if not sizes:
        raise ValueError("no errors to sum up")
    return RelativeErrors(max(sizes), min(sizes), sum(sizes) / len(sizes))
