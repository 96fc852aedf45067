"""Inference: what each kind of trained model computes, from its JSON.

Every kind takes scaled features of shape (rows, features) and returns shape (rows,). All but XGBoost's are
NumPy: ensembles of regression trees are binary ones in flat arrays, and CatBoost's oblivious ones.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from warpwatt.core.errors import ToolchainError
from warpwatt.models.trained.packed import ModelFileError, unpack, unpack_bytes

if TYPE_CHECKING:
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]
    Predictor = Callable[[Floats], Floats]
    Array = npt.NDArray[Any]


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
        import xgboost
    except ModuleNotFoundError as error:
        message = "this model needs xgboost, which is not installed"
        raise ToolchainError(message, hint="pip install xgboost-cpu") from error
    booster = xgboost.Booster({"nthread": 1})
    booster.load_model(bytearray(unpack_bytes(model["ubj"])))
    if booster.num_features() != features:
        raise ModelFileError(f"the booster takes {booster.num_features()} features, not {features}")
    return lambda x: np.asarray(booster.inplace_predict(x), dtype=np.float64)


def _carried_over(model: Mapping[str, Any], features: int) -> Predictor:
    """Another model's answers, each replaced by the value that belongs to it: linear between known pairs."""
    if model["of"]["kind"] == "carried over":
        raise ModelFileError("a model carried over twice", hint="carry over the original")
    inner = predictor(model["of"], features)
    known, wanted = unpack(model["from"]), unpack(model["to"])
    _shaped(wanted, known.shape)
    if known.ndim != 1 or not len(known) or np.any(np.diff(known) <= 0):
        raise ModelFileError("the pairs of a model carried over are not in order")
    return lambda x: np.asarray(np.interp(inner(x), known, wanted), dtype=np.float64)


def _shaped(array: npt.NDArray[Any], shape: tuple[int, ...]) -> npt.NDArray[Any]:
    if array.shape != shape:
        raise ModelFileError(f"an array of shape {array.shape} where {shape} is needed")
    return array


def forest(model: Mapping[str, Any], features: int) -> Callable[[Floats], Floats]:
    """Return ``intercept + factor · Σ over trees of the leaf's value``.

    Arrays over all nodes of all trees: ``feature`` (−1 in a leaf), ``threshold`` (left if x <= it), ``left``
    and ``right`` (indices of children, larger than the node's own, so that every walk ends), ``value``;
    ``roots`` are the trees. Features are compared in single precision, as the trees were grown.

    Raises
    ------
    ModelFileError
        If the arrays do not describe trees over ``features`` features.
    """
    names = ("feature", "threshold", "left", "right", "value")
    feature, threshold, left, right, value = (unpack(model[name]) for name in names)
    roots, value = unpack(model["roots"]), value.astype(np.float64)
    _check(feature, threshold, left, right, value, roots=roots, features=features)
    if "cover" in model:
        _shaped(unpack(model["cover"]), value.shape)
    intercept, factor = float(model["intercept"]), float(model["factor"])

    def predict(x: Floats) -> Floats:
        single = x.astype(np.float32)
        rows = np.arange(len(x))[:, None]
        node = np.repeat(roots[None, :], len(x), axis=0)
        while True:
            split = feature[node]
            inner = split >= 0
            if not inner.any():
                return np.asarray(intercept + factor * value[node].sum(axis=1), dtype=np.float64)
            goes_left = single[rows, np.maximum(split, 0)] <= threshold[node]
            node = np.where(inner, np.where(goes_left, left[node], right[node]), node)

    return predict


def oblivious(model: Mapping[str, Any], features: int) -> Callable[[Floats], Floats]:
    """Return what a CatBoost model of numerical features computes, read from CatBoost's own JSON.

    All nodes of one level of a tree ask the same question; the answers are the bits of the leaf's index.

    Raises
    ------
    ModelFileError
        If a tree asks about a feature that is not there, or has not 2^depth leaves.
    """
    whole = json.loads(unpack_bytes(model["json"]))
    scale, (bias,) = whole["scale_and_bias"]
    trees = [_levels(tree, features) for tree in whole["oblivious_trees"]]

    def predict(x: Floats) -> Floats:
        single = x.astype(np.float32)
        total = np.zeros(len(x))
        for columns, borders, leaves in trees:
            bits = single[:, columns] > borders
            total += leaves[bits @ (1 << np.arange(len(columns)))]
        return np.asarray(scale * total + bias, dtype=np.float64)

    return predict


def _levels(tree: Mapping[str, Any], features: int) -> tuple[Array, Array, Array]:
    """Return a tree's features and borders by level, and its leaves."""
    splits = tree["splits"] or []
    columns = np.array([split["float_feature_index"] for split in splits], dtype=np.int64)
    borders = np.array([split["border"] for split in splits], dtype=np.float32)
    leaves = np.array(tree["leaf_values"], dtype=np.float64)
    if len(leaves) != 2 ** len(columns) or not all(0 <= int(c) < features for c in columns):
        raise ModelFileError("an oblivious tree does not fit its features or leaves")
    return columns, borders, leaves


def _check(*arrays: Array, roots: Array, features: int) -> None:
    feature, _, left, right, _ = arrays
    count = len(feature)
    inner = feature >= 0
    own = np.arange(count)[inner]
    sound = (
        all(array.shape == (count,) for array in arrays)
        and all(array.dtype.kind == "i" for array in (feature, left, right, roots))
        and roots.ndim == 1
        and bool(np.all((roots >= 0) & (roots < count)))
        and bool(np.all(feature < features))
        and all(bool(np.all((side[inner] > own) & (side[inner] < count))) for side in (left, right))
    )
    if not sound:
        raise ModelFileError("the arrays of its trees do not fit together")


_KINDS: Mapping[str, Callable[[Mapping[str, Any], int], Predictor]] = {
    "constant": _constant,
    "linear": _linear,
    "kernel": _kernel,
    "network": _network,
    "forest": forest,
    "xgboost": _xgboost,
    "catboost": oblivious,
    "carried over": _carried_over,
}
