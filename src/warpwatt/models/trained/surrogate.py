"""Why a model predicts what it predicts for one row: a linear model around it.

LIME's method (Ribeiro et al. 2016; Alavani's thesis, 6.1.4): draw rows around the one to explain, weight them
by nearness, fit a linear model to the predictions. Written out here, since it is short and the package
``lime`` is distributed as source with heavy needs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from warpwatt.models.trained.predictors import Floats

DRAWS = 5000
"""Rows drawn around the explained one: LIME's default."""
KERNEL_WIDTH = 0.75
"""Width of the exponential kernel, times the square root of the number of features: LIME's default."""
RIDGE = 1.0
"""Penalty of the linear fit: LIME's default."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """What moves one prediction.

    Attributes
    ----------
    predicted
        The model's prediction, in the target's unit.
    effects
        By feature, falling in size: what the row's value adds to the prediction, against an average value.
    fit
        R² of the surrogate, weighted by nearness: below about 0.5 it is no explanation of the model.
    """

    predicted: float
    effects: Mapping[str, float]
    fit: float


def explain_locally(
    predict: Callable[[Floats], Floats],
    features: Sequence[str],
    middle: Floats,
    spread: Floats,
    row: Floats,
    seed: int = 0,
) -> Explanation:
    """Return the effects of each feature on the prediction of one row.

    ``middle`` and ``spread`` are each feature's mean and standard deviation in training; all of shape
    (features,).
    """
    spread = np.where(spread > 0, spread, 1.0)
    drawn = np.random.default_rng(seed).normal(size=(DRAWS, len(row)))
    drawn[0] = 0.0
    places = (row - middle) / spread + drawn
    answers = predict(places * spread + middle)
    width = KERNEL_WIDTH * np.sqrt(len(row))
    weights = np.sqrt(np.exp(-np.sum(drawn**2, axis=1) / width**2))
    slopes, fitted = _ridge(places, answers, weights)
    effects = dict(zip(features, slopes * (row - middle) / spread, strict=True))
    ordered = sorted(effects, key=lambda name: -abs(effects[name]))
    return Explanation(float(answers[0]), {name: float(effects[name]) for name in ordered}, fitted)


def _ridge(x: Floats, y: Floats, weights: Floats) -> tuple[Floats, float]:
    """Return the slopes of a weighted ridge regression, and its weighted R²."""
    if np.ptp(y) == 0:
        return np.zeros(x.shape[1]), 1.0
    total = weights.sum()
    centred = x - (weights @ x) / total
    target = y - (weights @ y) / total
    gram = centred.T @ (weights[:, None] * centred) + RIDGE * np.eye(x.shape[1])
    slopes = np.linalg.solve(gram, centred.T @ (weights * target))
    rest = target - centred @ slopes
    explained = 1.0 - float(weights @ rest**2) / float(weights @ target**2)
    return np.asarray(slopes, dtype=np.float64), explained
