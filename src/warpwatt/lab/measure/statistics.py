"""Order statistics of repeated measurements."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Summary:
    """Median, extremes and quartiles of a sample, in the sample's unit."""

    count: int
    median: float
    minimum: float
    maximum: float
    lower_quartile: float
    upper_quartile: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Summary:
        """Summarise values; NaN everywhere for none.

        >>> Summary.of([1.0, 2.0, 3.0, 4.0, 5.0])
        Summary(count=5, median=3.0, minimum=1.0, maximum=5.0, lower_quartile=2.0, upper_quartile=4.0)
        """
        if not values:
            return cls(0, *[math.nan] * 5)
        low, q1, median, q3, high = (float(v) for v in np.quantile(values, (0, 0.25, 0.5, 0.75, 1)))
        return cls(len(values), median, low, high, q1, q3)

    @property
    def interquartile(self) -> float:
        """Upper less lower quartile."""
        return self.upper_quartile - self.lower_quartile

    @property
    def spread(self) -> float:
        """Interquartile range relative to the median.

        >>> Summary.of([1.0, 1.0, 1.0]).spread
        0.0
        """
        return self.interquartile / self.median if self.median else math.nan


def median_error(values: Sequence[float] | NDArray[np.float64]) -> float:
    """Return the standard error of the median: 1.2533 σ/√n, σ from the interquartile range (normal scatter).

    >>> median_error([1.0, 1.0, 1.0])
    0.0
    """
    low, high = np.quantile(values, (0.25, 0.75))
    return float(1.2533 * (high - low) / 1.349 / math.sqrt(len(values)))
