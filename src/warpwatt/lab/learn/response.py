"""How a model answers to one feature: averaged over all rows (partial dependence) or from one typical row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from warpwatt.lab.learn.samples import Floats, Samples

POINTS = 25


@dataclass(frozen=True, slots=True)
class Response:
    """A model's answer to a feature: its values, and the prediction at each, in the target's unit."""

    feature: str
    values: Floats
    predicted: Floats


def partial_dependence(
    predict: Callable[[Floats], Floats], samples: Samples, feature: str, points: int = POINTS
) -> Response:
    """Return the mean prediction over all rows with the feature set to each value (Figure 5.17)."""
    return _response(predict, samples.x, samples, feature, points)


def one_at_a_time(
    predict: Callable[[Floats], Floats], samples: Samples, feature: str, points: int = POINTS
) -> Response:
    """Return the prediction with all other features frozen at their medians (Figure 5.15)."""
    return _response(predict, np.median(samples.x, axis=0)[None, :], samples, feature, points)


def grid(samples: Samples, feature: str, points: int = POINTS) -> Floats:
    """Return up to so many distinct values of a feature, its quantiles."""
    column = samples.x[:, samples.features.index(feature)]
    return np.unique(np.quantile(column, np.linspace(0, 1, points)))


def _response(
    predict: Callable[[Floats], Floats], rows: Floats, samples: Samples, feature: str, points: int
) -> Response:
    """Return the mean prediction over rows with the feature set to each of its values."""
    values, column = grid(samples, feature, points), samples.features.index(feature)
    answers = []
    for value in values:
        changed = rows.copy()
        changed[:, column] = value
        answers.append(float(predict(changed).mean()))
    return Response(feature, values, np.array(answers))
