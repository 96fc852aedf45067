"""What predictions of some configurations tell about the others: a Gaussian process over the parameters.

Rasmussen and Williams, "Gaussian Processes for Machine Learning", 2006, chapters 2 and 5: each parameter has
a length of its own, which the predictions themselves choose: one that matters little soon counts little. What
is looked at next is where most improvement is expected: Jones, Schonlau and Welch, "Efficient Global
Optimization of Expensive Black-Box Functions", 1998. Configurations are as far apart as the ranks of their
values; of words, all are.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from warpwatt.core.arrays import unique

if TYPE_CHECKING:
    from numpy.typing import NDArray

LENGTHS = (0.15, 0.3, 0.6, 1.2, 2.4, 9.6)
"""Distances over which configurations may be alike, in ranges of a parameter: from the steps of a list of
seven values to hardly any influence."""
FIRST_LENGTH = 0.6
NOISE = 1e-4
"""Variance of a prediction about what the parameters explain, relative to that of all."""


class Surrogate:
    """Predictions of configurations of a space, and what they make of the rest."""

    def __init__(self, space: Sequence[Mapping[str, object]]) -> None:
        self._places = _places(space)
        self._logarithms: dict[int, float] = {}
        self._lengths = np.full(self._places.shape[1], FIRST_LENGTH)

    def see(self, number: int, value: float) -> None:
        """Take what was predicted of the configuration with a number in the space; positive."""
        self._logarithms[number] = math.log(value)

    def see_only(self, values: Mapping[int, float]) -> None:
        """Take what is known of configurations by number in place of all that was taken before."""
        self._logarithms = {number: math.log(value) for number, value in values.items()}

    def expected_improvement(self) -> NDArray[np.float64]:
        """Return by how much each configuration is expected to beat the best one, in a scale of its own.

        >>> surrogate = Surrogate([{"n": n} for n in range(5)])
        >>> for number, value in ((0, 9.0), (2, 1.0)):
        ...     surrogate.see(number, value)
        >>> better = surrogate.expected_improvement()
        >>> bool(better[1] > better[0]), bool(better[3] > better[1])
        (True, True)
        """
        values = np.array(list(self._logarithms.values()))
        values = (values - values.mean()) / (values.std() or 1.0)
        known = self._places[list(self._logarithms)]
        self._choose_lengths(known, values)
        lower = _cholesky(known, self._lengths)
        explained = np.linalg.solve(lower, _alike(known, self._places, self._lengths))
        whitened = np.linalg.solve(lower, values)
        left = np.maximum(0.0, 1.0 - (explained**2).sum(0))
        variance = (whitened @ whitened) / len(values) or 1.0
        deviation = np.sqrt(left * variance)
        return _improvement(values.min() - whitened @ explained, deviation)

    def _choose_lengths(self, known: NDArray[np.float64], values: NDArray[np.float64]) -> None:
        """Take for one parameter after the other the length that makes the values likeliest."""
        best = _likelihood(_cholesky(known, self._lengths), values)
        for parameter in range(len(self._lengths)):
            for length in LENGTHS:
                lengths = self._lengths.copy()
                lengths[parameter] = length
                likelihood = _likelihood(_cholesky(known, lengths), values)
                if likelihood > best + NOISE:
                    best, self._lengths = likelihood, lengths


def _improvement(gained: NDArray[np.float64], deviation: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean of the positive part of normal variables, by their means and standard deviations."""
    score = gained / np.maximum(deviation, NOISE)
    below = np.array([0.5 * math.erfc(-one / math.sqrt(2)) for one in score.tolist()])
    density = np.exp(-0.5 * score**2) / math.sqrt(2 * math.pi)
    return np.asarray(gained * below + deviation * density)


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


def _alike(
    some: NDArray[np.float64], others: NDArray[np.float64], lengths: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the correlation of each of some configurations with each of others."""
    apart = np.zeros((len(some), len(others)))
    for mine, theirs, length in zip(some.T, others.T, lengths.tolist(), strict=True):
        apart += np.abs(mine[:, None] - theirs) / length
    return np.asarray(np.exp(-apart))


def _cholesky(known: NDArray[np.float64], lengths: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the lower Cholesky factor of the correlations of what was seen."""
    return np.asarray(np.linalg.cholesky(_alike(known, known, lengths) + NOISE * np.eye(len(known))))


def _likelihood(lower: NDArray[np.float64], values: NDArray[np.float64]) -> float:
    """Return the logarithm of the likelihood of values at their likeliest variance, without a constant."""
    whitened = np.linalg.solve(lower, values)
    variance = max(NOISE, float(whitened @ whitened) / len(values))
    return float(-0.5 * len(values) * math.log(variance) - np.log(np.diag(lower)).sum())
