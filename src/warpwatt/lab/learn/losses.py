"""Loss curves of one fold: how errors fall with trees or epochs, on the rows trained on and held out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from warpwatt.lab.learn.scaling import SCALINGS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from warpwatt.lab.learn.regressors import Regressor
    from warpwatt.lab.learn.samples import Floats, Samples
    from warpwatt.lab.learn.splits import Fold

    Curve = tuple[tuple[float, float], ...]


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
    """Return predictions after each tree; the booster sums up the trees before it anew each time."""
    trees = estimator.get_booster().num_boosted_rounds()
    for end in range(1, trees + 1):
        yield estimator.predict(x, iteration_range=(0, end))


_STAGES: Mapping[str, Callable[[Any, Floats], Iterable[Floats]]] = {
    "GradientBoostingRegressor": _staged,
    "CatBoostRegressor": _staged,
    "XGBRegressor": _xgboost,
}
"""Regressors that grow step by step."""
