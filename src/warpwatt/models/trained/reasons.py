"""Why a trained model predicts what it predicts for one launch: SHAP and LIME by feature."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from warpwatt.core.case import FeatureEffect, LearnedReasons
from warpwatt.models.trained.packed import ModelFileError, unpack
from warpwatt.models.trained.shapley import can_explain, shap
from warpwatt.models.trained.surrogate import explain_locally

if TYPE_CHECKING:
    from warpwatt.models.trained.file import TrainedModel
    from warpwatt.models.trained.predictors import Floats


def learned_reasons(model: TrainedModel, row: Floats) -> LearnedReasons:
    """Return the effects of every feature of one row of shape (features,), the largest first.

    Raises
    ------
    ModelFileError
        If the model's card does not say what the features' means and spreads were in training.
    """
    usual, contributions = _shap(model, row)
    local = explain_locally(model.predict, model.features, *_moments(model), row)
    effects = [
        FeatureEffect(
            name,
            float(row[i]),
            float(model.low[i]),
            float(model.high[i]),
            None if contributions is None else float(contributions[i]),
            local.effects[name],
        )
        for i, name in enumerate(model.features)
    ]
    effects.sort(key=lambda one: -abs(one.lime if one.shap is None else one.shap))
    return LearnedReasons(model.unit, usual, local.fit, tuple(effects))


def _shap(model: TrainedModel, row: Floats) -> tuple[float | None, Floats | None]:
    """Return the mean over training and contributions in the model's unit; None for what is no forest.

    Trees may answer in another quantity than the model: logarithms, or another GPU's watts. Contributions are
    then scaled so that they lead from the model's value at the trees' mean to its value at their answer.
    """
    links, estimator = _links(model)
    if not can_explain(estimator):
        return None, None
    mean, effects = shap(estimator, (row - model.offset) / model.width)
    total = math.fsum(effects)
    start, end = mean, mean + total
    for link in links:
        start, end = link(start), link(end)
    return start, effects * ((end - start) / total if total else 1.0)


def _links(model: TrainedModel) -> tuple[list[Callable[[float], float]], Mapping[str, Any]]:
    """Return what turns the trees' answer into the model's, in order, and the trees."""
    estimator, links = model.estimator, []
    if estimator["kind"] == "carried over":
        known, wanted = unpack(estimator["from"]), unpack(estimator["to"])
        links.append(lambda x: float(np.interp(x, known, wanted)))
        estimator = estimator["of"]
    if model.logarithmic:
        links.append(math.exp)
    return links, estimator


def _moments(model: TrainedModel) -> tuple[Floats, Floats]:
    """Return each feature's mean and standard deviation in training."""
    try:
        known = {str(one["name"]): one for one in model.card.get("features", ())}
        both = [(float(known[name]["mean"]), float(known[name]["deviation"])) for name in model.features]
    except (KeyError, TypeError, ValueError) as error:
        message = "its card does not say how its features were spread in training"
        raise ModelFileError(message, hint="train it again") from error
    return np.array([mean for mean, _ in both]), np.array([deviation for _, deviation in both])
