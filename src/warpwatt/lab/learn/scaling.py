"""Scaling of features, learned from training rows only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from warpwatt.lab.learn.samples import Floats


@dataclass(frozen=True, slots=True)
class Scaling:
    """``(x − offset) / width``, feature by feature; shapes (features,)."""

    offset: Floats
    width: Floats

    def __call__(self, x: Floats) -> Floats:
        """Return scaled features of shape (rows, features); what is outside the training range stays so."""
        return (x - self.offset) / self.width


def min_max(x: Floats) -> Scaling:
    """Return the scaling of each feature to 0..1 (thesis 5.7.8); a constant feature becomes 0.

    >>> min_max(np.array([[1.0, 7.0], [3.0, 7.0]]))(np.array([[2.0, 7.0]])).tolist()
    [[0.5, 0.0]]
    """
    low, high = x.min(axis=0), x.max(axis=0)
    return Scaling(low, np.where(high > low, high - low, 1.0))


def standard(x: Floats) -> Scaling:
    """Return the scaling of each feature to zero mean and unit variance; a constant feature becomes 0."""
    deviation = x.std(axis=0)
    return Scaling(x.mean(axis=0), np.where(deviation > 0, deviation, 1.0))


SCALINGS = {"min-max": min_max, "standard": standard}
"""Scalings by the name that ``regressors.toml`` and model files use."""
