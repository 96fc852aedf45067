"""Ensembles of regression trees: binary ones in flat arrays, and CatBoost's oblivious ones."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from warpwatt.models.trained.packed import ModelFileError, unpack, unpack_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]
    Array = npt.NDArray[Any]


def forest(model: Mapping[str, Any], features: int) -> Callable[[Floats], Floats]:
    """Return ``intercept + factor · Σ over trees of the leaf's value``.

    Arrays over all nodes of all trees: ``feature`` (−1 in a leaf), ``threshold`` (left if x <= it), ``left``
    and ``right`` (indices of children, larger than the node's own, so that every walk ends), ``value``;
    ``roots`` are the trees. Features are compared in single precision, as the trees were grown.

    Raises
    ------
    ModelFileError
        If the arrays do not describe trees over so many features.
    """
    names = ("feature", "threshold", "left", "right", "value")
    feature, threshold, left, right, value = (unpack(model[name]) for name in names)
    roots = unpack(model["roots"])
    _check(feature, threshold, left, right, value, roots=roots, features=features)
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
