"""Why an ensemble of trees predicts what it predicts for one row: exact SHAP values.

A feature's value is its mean contribution over all orders of learning the features, where a tree that asks
about a feature that is not known yet follows both branches, by their shares of the training rows (Lundberg et
al. 2020, path-dependent).

A leaf of value w is a game of its own: a set S of known features is worth w·Π oᵢ·Π zⱼ over i in S and j not
in S, where oᵢ says whether the row passes the questions about i on the way to the leaf, and zⱼ is the share
of the training rows that do. Its Shapley values have a closed form, k!(d−1−k)!/d! being ∫ tᵏ(1−t)ᵈ⁻¹⁻ᵏ dt
from 0 to 1:

    φᵢ = w·(oᵢ − zᵢ)·∫ Π (zⱼ(1−t) + oⱼt) dt over all j ≠ i

The integrand is a polynomial of degree d − 1, which Gauss and Legendre's rule of ⌈d/2⌉ points integrates
exactly.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from warpwatt.models.trained.packed import ModelFileError, unpack, unpack_bytes

if TYPE_CHECKING:
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]
    Array = npt.NDArray[Any]

CHUNK = 1024
"""Leaves that are looked at together."""


@dataclass(frozen=True, slots=True)
class Paths:
    """Ways from roots to leaves: ``value`` of shape (leaves,), the others of shape (leaves, depth).

    ``feature`` is -1 beyond the end of a way, ``share`` what part of a node's training rows goes on along it,
    ``passes`` whether the row would.
    """

    value: Floats
    feature: Array
    share: Floats
    passes: Array


def can_explain(model: Mapping[str, Any]) -> bool:
    """Return whether a model is an ensemble of trees that says how many training rows reach its nodes."""
    return model["kind"] == "catboost" or (model["kind"] == "forest" and "cover" in model)


def shap(model: Mapping[str, Any], row: Floats) -> tuple[float, Floats]:
    """Return the mean over training and each feature's contribution, of shape (features,), for one row.

    They add up to the model's value for the row, which is of scaled features. ``model`` is a forest as in
    ``predictors.forest``, with the training rows that reach each node in ``cover``, or a CatBoost model as in
    ``predictors.oblivious``.

    Raises
    ------
    ModelFileError
        If the model is neither, or has no ``cover``.
    """
    if not can_explain(model):
        raise ModelFileError("the model does not say how many rows reach its nodes", hint="train it again")
    if model["kind"] == "catboost":
        whole = json.loads(unpack_bytes(model["json"]))
        factor, (mean,) = whole["scale_and_bias"]
        ways: Iterator[Paths] = (oblivious_paths(tree, row) for tree in whole["oblivious_trees"])
    else:
        factor, mean = float(model["factor"]), float(model["intercept"])
        ways = leaf_paths(model, row)
    effects = np.zeros(len(row))
    for paths in ways:
        merged = merge_repeated(paths)
        mean += factor * float(merged.value @ merged.share.prod(axis=1))
        effects += factor * contributions(merged, len(row))
    return mean, effects


def oblivious_paths(tree: Mapping[str, Any], row: Floats) -> Paths:
    """Return the ways to the leaves of a CatBoost tree, all of whose nodes of one level ask the same.

    The answers are the bits of a leaf's index, that of the first split the lowest. The last split is taken
    for the root's, as CatBoost's own SHAP values take it.
    """
    splits = (tree["splits"] or [])[::-1]
    depth, weights = len(splits), np.array(tree["leaf_weights"], dtype=np.float64)
    leaves = np.arange(2**depth)
    feature = np.tile(np.array([s["float_feature_index"] for s in splits], dtype=np.int64), (2**depth, 1))
    borders = np.array([s["border"] for s in splits], dtype=np.float32)
    answers = (leaves[:, None] >> np.arange(depth)[::-1]) & 1 == 1
    reached = np.column_stack([_reached(weights, leaves >> (depth - level)) for level in range(depth + 1)])
    share = reached[:, 1:] / np.where(reached[:, :-1] > 0, reached[:, :-1], 1.0)
    passes = answers == (row.astype(np.float32)[feature] > borders)
    return Paths(np.array(tree["leaf_values"], dtype=np.float64), feature, share, passes)


def _reached(weights: Floats, node: Array) -> Floats:
    """Return the rows that reach each leaf's node of one level."""
    return np.asarray(np.bincount(node, weights)[node], dtype=np.float64)


def leaf_paths(model: Mapping[str, Any], row: Floats) -> Iterator[Paths]:
    """Yield the ways to all leaves of a forest, those of one depth together, in chunks."""
    names = ("feature", "threshold", "left", "right", "value", "cover")
    feature, threshold, left, right, value, cover = (unpack(model[name]) for name in names)
    value, cover = value.astype(np.float64), cover.astype(np.float64)
    single, node = row.astype(np.float32), unpack(model["roots"])
    asked = np.empty((len(node), 0), dtype=np.int64)
    share, passes = np.empty((len(node), 0)), np.empty((len(node), 0), dtype=bool)
    while len(node):
        leaf = feature[node] < 0
        for at in range(0, int(leaf.sum()), CHUNK):
            some = np.flatnonzero(leaf)[at : at + CHUNK]
            yield Paths(value[node[some]], asked[some], share[some], passes[some])
        inner = np.flatnonzero(~leaf)
        here = node[inner]
        goes_left = single[feature[here]] <= threshold[here]
        whole = cover[left[here]] + cover[right[here]]
        node = np.concatenate([left[here], right[here]])
        part = cover[node] / np.tile(np.where(whole > 0, whole, 1.0), 2)
        asked = np.column_stack([np.tile(asked[inner], (2, 1)), np.tile(feature[here], 2)])
        share = np.column_stack([np.tile(share[inner], (2, 1)), part])
        passes = np.column_stack([np.tile(passes[inner], (2, 1)), np.concatenate([goes_left, ~goes_left])])


def merge_repeated(paths: Paths) -> Paths:
    """Return the ways with every feature once: its questions are passed together."""
    feature, share, passes = paths.feature.copy(), paths.share.copy(), paths.passes.copy()
    for later in range(1, feature.shape[1]):
        for earlier in range(later):
            same = (feature[:, later] == feature[:, earlier]) & (feature[:, later] >= 0)
            share[same, earlier] *= share[same, later]
            passes[same, earlier] &= passes[same, later]
            feature[same, later], share[same, later], passes[same, later] = -1, 1.0, True
    return Paths(paths.value, feature, share, passes)


def contributions(paths: Paths, features: int) -> Floats:
    """Return the sum of the Shapley values of the leaves' games, of shape (features,)."""
    depth = paths.feature.shape[1]
    found = np.zeros(features)
    if depth == 0:
        return found
    points, weights = np.polynomial.legendre.leggauss((depth + 1) // 2)
    t, weights = (points + 1) / 2, weights / 2
    passed = paths.passes.astype(np.float64)
    terms = paths.share[:, :, None] * (1 - t) + passed[:, :, None] * t
    before, after = np.ones_like(terms), np.ones_like(terms)
    before[:, 1:] = np.cumprod(terms[:, :-1], axis=1)
    after[:, :-1] = np.cumprod(terms[:, :0:-1], axis=1)[:, ::-1]
    shapley = paths.value[:, None] * (passed - paths.share) * ((before * after) @ weights)
    known = paths.feature >= 0
    np.add.at(found, paths.feature[known], shapley[known])
    return found
