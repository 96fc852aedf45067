"""What predictions of some configurations tell about the others: a Gaussian process over the parameters.

Rasmussen and Williams, "Gaussian Processes for Machine Learning", 2006, chapters 2 and 5; how such a model
chooses what to look at next is that of Srinivas et al., "Gaussian Process Optimization in the Bandit
Setting", 2010. Configurations are as far apart as the ranks of their values; of words, all are.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from warpwatt.core.arrays import unique

if TYPE_CHECKING:
    from numpy.typing import NDArray

LENGTHS = (0.15, 0.3, 0.6, 1.2)
"""Distances over which configurations may be alike, in ranges of a parameter; the likeliest counts."""
NOISE = 1e-4
"""Variance of a prediction about what the parameters explain, relative to that of all."""


class Surrogate:
    """Predictions of configurations of a space, and what they make of the rest."""

    def __init__(self, space: Sequence[Mapping[str, object]]) -> None:
        self._places = _places(space)
        self._seen: list[int] = []
        self._logarithms: list[float] = []
        self._apart: list[NDArray[np.float64]] = []
        """Of each that was seen, how far all are from it."""

    def see(self, number: int, value: float) -> None:
        """Take what was predicted of the configuration with a number in the space; positive."""
        self._seen.append(number)
        self._logarithms.append(math.log(value))
        self._apart.append(np.abs(self._places - self._places[number]).sum(1))

    def likely_value(self) -> NDArray[np.float64]:
        """Return how small each value of the space may well be, in a scale of its own.

        That is the mean of what it may be less the standard deviation.

        >>> surrogate = Surrogate([{"n": n} for n in range(5)])
        >>> for number, value in ((0, 9.0), (2, 1.0)):
        ...     surrogate.see(number, value)
        >>> likely = surrogate.likely_value()
        >>> bool(likely[1] < likely[0]), bool(likely[3] < likely[1])
        (True, True)
        """
        values = np.array(self._logarithms)
        values = (values - values.mean()) / (values.std() or 1.0)
        apart = np.stack(self._apart, axis=1)
        length, lower = max(
            ((length, _cholesky(apart[self._seen], length)) for length in LENGTHS),
            key=lambda one: _likelihood(one[1], values),
        )
        alike = np.exp(-apart / length)
        explained = np.linalg.solve(lower, alike.T)
        mean = explained.T @ np.linalg.solve(lower, values)
        return np.asarray(mean - np.sqrt(np.maximum(0.0, 1.0 - (explained**2).sum(0))))


def _places(space: Sequence[Mapping[str, object]]) -> NDArray[np.float64]:
    """Return a row per configuration: of numbers the rank among the parameter's values, from 0 to 1.

    >>> _places([{"n": 8, "kind": "a"}, {"n": 32, "kind": "b"}, {"n": 64, "kind": "a"}]).tolist()
    [[0.0, 0.5, 0.0], [0.5, 0.0, 0.5], [1.0, 0.5, 0.0]]
    """
    columns = []
    for name in space[0]:
        values = [config.get(name) for config in space]
        if all(isinstance(value, int | float) for value in values):
            numbers = np.array(values, float)
            different = unique(numbers)
            columns.append(np.searchsorted(different, numbers) / max(1, len(different) - 1))
        else:  # two different words are apart by one
            columns += [
                np.array([0.5 * (value == word) for value in values]) for word in dict.fromkeys(values)
            ]
    return np.stack(columns, axis=1)


def _cholesky(apart: NDArray[np.float64], length: float) -> NDArray[np.float64]:
    """Return the lower Cholesky factor of the covariance of what was seen."""
    return np.asarray(np.linalg.cholesky(np.exp(-apart / length) + NOISE * np.eye(len(apart))))


def _likelihood(lower: NDArray[np.float64], values: NDArray[np.float64]) -> float:
    """Return the logarithm of the marginal likelihood of values, without a constant."""
    whitened = np.linalg.solve(lower, values)
    return float(-0.5 * whitened @ whitened - np.log(np.diag(lower)).sum())
