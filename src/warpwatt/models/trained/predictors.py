"""Inference: what each kind of trained model computes, from its JSON.

Every kind takes scaled features of shape (rows, features) and returns shape (rows,). All but XGBoost's are
NumPy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from warpwatt.core.errors import ToolchainError
from warpwatt.models.trained.packed import ModelFileError, unpack, unpack_bytes
from warpwatt.models.trained.trees import forest, oblivious

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]
    Predictor = Callable[[Floats], Floats]


def predictor(model: Mapping[str, Any], features: int) -> Predictor:
    """Return the function that a model is.

    Raises
    ------
    ModelFileError
        If the kind is unknown, or the model takes another number of features.
    ToolchainError
        If it needs a booster that is not installed.
    """
    kind = model["kind"]
    if kind not in _KINDS:
        raise ModelFileError(f"no model of kind {kind!r}", hint=f"known: {', '.join(_KINDS)}")
    return _KINDS[kind](model, features)


def _constant(model: Mapping[str, Any], _: int) -> Predictor:
    value = float(model["value"])
    return lambda x: np.full(len(x), value)


def _linear(model: Mapping[str, Any], features: int) -> Predictor:
    weights = _shaped(unpack(model["weights"]), (features,))
    intercept = float(model["intercept"])
    return lambda x: np.asarray(x @ weights + intercept, dtype=np.float64)


def _kernel(model: Mapping[str, Any], features: int) -> Predictor:
    """Σ αᵢ exp(−γ‖x − vᵢ‖²) + b over support vectors vᵢ."""
    vectors, gamma, intercept = unpack(model["vectors"]), float(model["gamma"]), float(model["intercept"])
    weights = _shaped(unpack(model["weights"]), (len(vectors),))
    _shaped(vectors, (len(vectors), features))

    def predict(x: Floats) -> Floats:
        distance = np.sum((x[:, None, :] - vectors[None, :, :]) ** 2, axis=2)
        return np.asarray(np.exp(-gamma * distance) @ weights + intercept, dtype=np.float64)

    return predict


def _network(model: Mapping[str, Any], features: int) -> Predictor:
    """Dense layers with rectifiers between them; the last gives one number."""
    layers = [(unpack(each["weights"]), unpack(each["biases"])) for each in model["layers"]]
    width = features
    for weights, biases in layers:
        _shaped(weights, (len(biases), width))
        width = len(biases)
    if width != 1:
        raise ModelFileError(f"a network with {width} outputs")
    offset, scale = float(model["offset"]), float(model["scale"])

    def predict(x: Floats) -> Floats:
        value = x
        for i, (weights, biases) in enumerate(layers):
            value = value @ weights.T + biases
            value = np.maximum(value, 0.0) if i < len(layers) - 1 else value
        return np.asarray(value[:, 0] * scale + offset, dtype=np.float64)

    return predict


def _xgboost(model: Mapping[str, Any], features: int) -> Predictor:
    try:
        import xgboost  # noqa: PLC0415 - only where a model is one
    except ModuleNotFoundError as error:
        message = "this model needs xgboost, which is not installed"
        raise ToolchainError(message, hint="pip install xgboost-cpu") from error
    booster = xgboost.Booster({"nthread": 1})
    booster.load_model(bytearray(unpack_bytes(model["ubj"])))
    if booster.num_features() != features:
        raise ModelFileError(f"the booster takes {booster.num_features()} features, not {features}")
    return lambda x: np.asarray(booster.inplace_predict(x), dtype=np.float64)


def _shaped(array: npt.NDArray[Any], shape: tuple[int, ...]) -> npt.NDArray[Any]:
    if array.shape != shape:
        raise ModelFileError(f"an array of shape {array.shape} where {shape} is needed")
    return array


_KINDS: Mapping[str, Callable[[Mapping[str, Any], int], Predictor]] = {
    "constant": _constant,
    "linear": _linear,
    "kernel": _kernel,
    "network": _network,
    "forest": forest,
    "xgboost": _xgboost,
    "catboost": oblivious,
}
