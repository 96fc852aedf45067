"""What there is to see in a model and its data: weights of and responses to features, loss curves, outliers.

A response is averaged over all rows (partial dependence) or of one typical row. A loss curve says how errors
fall with trees or epochs, on the rows trained on and held out. Outliers are found by density (thesis 5.8.2):
GLOSH, the score of how far a row is out of HDBSCAN's clusters.

Why a model predicts what it predicts for one row is explained by a linear surrogate around it, LIME's method
(``models.trained.surrogate``); tree ensembles have exact SHAP values (``models.trained.shapley``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from warpwatt.lab.learn.errors import MissingPackageError, import_optional
from warpwatt.lab.learn.regressors import SCALINGS, min_max
from warpwatt.lab.learn.selection import shap_values
from warpwatt.models.trained.surrogate import Explanation, explain_locally

if TYPE_CHECKING:
    from warpwatt.lab.learn.evaluate import Fold
    from warpwatt.lab.learn.regressors import Fitted, Regressor
    from warpwatt.lab.learn.samples import Floats, Integers, Samples

    Curve = tuple[tuple[float, float], ...]

POINTS = 25
MOST_EXPLAINED = 400
"""Rows that SHAP values are computed for."""
OUTLIER_QUANTILE = 0.9
"""Scores above this quantile are outliers, HDBSCAN's documented rule; 97 of about 990 rows in the thesis."""
NEIGHBOURS = 5
"""Smallest cluster: HDBSCAN's default."""


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
    """Return up to ``points`` distinct values of a feature, its quantiles."""
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


def loss_curve(samples: Samples, regressor: Regressor, part: Fold, seed: int = 0) -> Curve:
    """Return the mean squared errors (training, held out) after each tree or epoch; empty if it has none."""
    scaling = SCALINGS[regressor.scaling](samples.x[part.train])
    train, test = scaling(samples.x[part.train]), scaling(samples.x[part.test])
    estimator = regressor.build(seed)
    stages = _STAGES.get(type(estimator).__name__)
    if type(estimator).__name__ == "Network":
        estimator.fit(train, samples.y[part.train], test, samples.y[part.test])
        return tuple(estimator.losses)
    if stages is None:
        return ()
    estimator.fit(train, samples.y[part.train])
    found = zip(stages(estimator, train), stages(estimator, test), strict=True)
    return tuple((_mse(a, samples.y[part.train]), _mse(b, samples.y[part.test])) for a, b in found)


def _mse(predicted: Floats, measured: Floats) -> float:
    return float(np.mean((predicted - measured) ** 2))


def _staged(estimator: Any, x: Floats) -> Iterable[Floats]:
    found: Iterable[Floats] = estimator.staged_predict(x)
    return found


def _xgboost(estimator: Any, x: Floats) -> Iterable[Floats]:
    """Return predictions after each tree; the booster adds up all trees before it each time."""
    trees = estimator.get_booster().num_boosted_rounds()
    for end in range(1, trees + 1):
        yield estimator.predict(x, iteration_range=(0, end))


_STAGES: Mapping[str, Callable[[Any, Floats], Iterable[Floats]]] = {
    "GradientBoostingRegressor": _staged,
    "CatBoostRegressor": _staged,
    "XGBRegressor": _xgboost,
}
"""Regressors that grow step by step."""


def outlier_scores(samples: Samples, neighbours: int = NEIGHBOURS) -> Floats:
    """Return GLOSH scores, 0 (in a cluster) to 1 (far out), of features and target scaled to 0..1."""
    whole = np.column_stack([samples.x, samples.y])
    clusterer = import_optional("hdbscan").HDBSCAN(min_cluster_size=neighbours, core_dist_n_jobs=1)
    clusterer.fit(min_max(whole)(whole))
    return np.nan_to_num(np.asarray(clusterer.outlier_scores_, dtype=np.float64))


def inliers(found: Floats, quantile: float = OUTLIER_QUANTILE) -> Integers:
    """Return the rows whose score is at most the quantile's.

    >>> inliers(np.array([0.0, 0.1, 0.9, 0.2]), 0.75).tolist()
    [0, 1, 3]
    """
    return np.flatnonzero(found <= np.quantile(found, quantile))


def feature_weights(samples: Samples, fitted: Fitted, kind: str) -> tuple[str, Floats]:
    """Return a title, and mean |SHAP| of a tree ensemble or how much shuffling a feature raises the error.

    ``kind`` is that of the estimator in a model file.
    """
    few = some_rows(samples)
    if kind in ("forest", "catboost"):
        try:
            values = shap_values(fitted.estimator, fitted.scaling(few.x))
            unit = "log" if fitted.logarithmic else samples.unit
            return f"mean |SHAP value|, {unit}", np.asarray(np.abs(values).mean(axis=0), dtype=np.float64)
        except MissingPackageError:
            pass
    return f"rise of the error when shuffled, {samples.unit}", _permutation(fitted.predict, samples)


def _permutation(predict: Callable[[Floats], Floats], samples: Samples) -> Floats:
    """Return how much each feature's shuffling raises the mean absolute error."""
    generator = np.random.default_rng(0)
    before = float(np.abs(predict(samples.x) - samples.y).mean())
    rises = []
    for column in range(len(samples.features)):
        shuffled = samples.x.copy()
        shuffled[:, column] = generator.permutation(shuffled[:, column])
        rises.append(float(np.abs(predict(shuffled) - samples.y).mean()) - before)
    return np.array(rises)


def some_rows(samples: Samples) -> Samples:
    """Return evenly spaced rows, few enough to explain quickly."""
    return samples.take(np.unique(np.linspace(0, len(samples) - 1, MOST_EXPLAINED).astype(np.int64)))


def explain(predict: Callable[[Floats], Floats], samples: Samples, row: Floats, seed: int = 0) -> Explanation:
    """Return the effects of each feature on the prediction of one row of shape (features,).

    ``samples`` are the training rows: they give each feature's mean and spread.
    """
    middle, spread = samples.x.mean(axis=0), samples.x.std(axis=0)
    return explain_locally(predict, samples.features, middle, spread, row, seed)
