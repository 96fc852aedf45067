"""Why a forest predicts what it predicts for one row: exact SHAP values of small trees.

A feature's value is its mean contribution over all orders of learning the features, where a tree that asks
about a feature that is not known yet follows both branches, by their shares of the training rows (Lundberg et
al. 2020, path-dependent). Computed from the definition, over the subsets of a tree's own features: fine up to
about ten of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from warpwatt.models.trained.packed import ModelFileError, unpack

if TYPE_CHECKING:
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]

MOST_FEATURES = 12
"""Features of one tree above which the subsets are too many."""


def shap(model: Mapping[str, Any], row: Floats) -> tuple[float, Floats]:
    """Return the mean over training and each feature's contribution, of shape (features,), for one row.

    They add up to the forest's value for the row. ``model`` is a forest as in ``predictors.forest``, with the
    training rows that reach each node in ``cover``.

    Raises
    ------
    ModelFileError
        If the model has no ``cover``, or a tree asks about too many features.
    """
    if "cover" not in model:
        raise ModelFileError("the model does not say how many rows reach its nodes", hint="train it again")
    arrays = {
        name: unpack(model[name]) for name in ("feature", "threshold", "left", "right", "value", "cover")
    }
    factor, single = float(model["factor"]), row.astype(np.float32)
    mean, effects = float(model["intercept"]), np.zeros(len(row))
    for root in unpack(model["roots"]):
        nodes = _Tree(arrays, int(root), single)
        mean += factor * nodes.value(frozenset())
        for feature, effect in nodes.effects().items():
            effects[feature] += factor * effect
    return mean, effects


class _Tree:
    """One tree of a forest and a row."""

    def __init__(
        self, arrays: Mapping[str, npt.NDArray[Any]], root: int, row: npt.NDArray[np.float32]
    ) -> None:
        self._arrays, self._root, self._row = arrays, root, row
        self.features = tuple(sorted(self._asked(root)))
        if len(self.features) > MOST_FEATURES:
            raise ModelFileError(f"a tree asks about {len(self.features)} features: too many to explain")

    def effects(self) -> dict[int, float]:
        """Return the tree's features and their contributions."""
        count = len(self.features)
        values = {
            s: self.value(s) for k in range(count + 1) for s in map(frozenset, combinations(self.features, k))
        }
        found = {}
        for feature in self.features:
            others = [s for s in values if feature not in s]
            found[feature] = math.fsum(
                (values[s | {feature}] - values[s]) / (count * math.comb(count - 1, len(s))) for s in others
            )
        return found

    def value(self, known: frozenset[int]) -> float:
        """Return the mean of the leaves that the row may reach if only some features are known."""
        return self._at(self._root, lambda feature: feature in known)

    def _asked(self, node: int) -> set[int]:
        feature = int(self._arrays["feature"][node])
        if feature < 0:
            return set()
        left, right = (int(self._arrays[side][node]) for side in ("left", "right"))
        return {feature} | self._asked(left) | self._asked(right)

    def _at(self, node: int, knows: Callable[[int], bool]) -> float:
        arrays = self._arrays
        feature = int(arrays["feature"][node])
        if feature < 0:
            return float(arrays["value"][node])
        left, right = int(arrays["left"][node]), int(arrays["right"][node])
        if knows(feature):
            goes_left = self._row[feature] <= arrays["threshold"][node]
            return self._at(left if goes_left else right, knows)
        covers = [float(arrays["cover"][side]) for side in (left, right)]
        parts = [cover * self._at(side, knows) for cover, side in zip(covers, (left, right), strict=True)]
        return math.fsum(parts) / math.fsum(covers)
