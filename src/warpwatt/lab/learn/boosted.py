"""XGBoost's trees in our own flat arrays, so that a shipped model needs NumPy only and can be explained."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from warpwatt.models.trained.packed import pack

if TYPE_CHECKING:
    from collections.abc import Mapping


def forest(estimator: Any) -> dict[str, Any]:
    """Return the ``estimator`` part of a model file for a fitted ``XGBRegressor`` with squared error.

    XGBoost goes left where x < threshold, our forest where x <= threshold: thresholds are the next smaller
    single-precision numbers. ``cover`` is how many training rows reach each node.
    """
    learner = json.loads(estimator.get_booster().save_raw("json"))["learner"]
    trees = learner["gradient_booster"]["model"]["trees"]
    base = learner["learner_model_param"]["base_score"]
    parts = [_tree(tree) for tree in trees]
    roots = np.cumsum([0, *(len(part["feature"]) for part in parts)])[:-1]
    for part, root in zip(parts, roots, strict=True):
        for side in ("left", "right"):
            part[side] = np.where(part[side] >= 0, part[side] + root, -1).astype(np.int32)
    return {
        "kind": "forest",
        "intercept": float(np.float32(str(base).strip("[]"))),
        "factor": 1.0,
        "roots": pack(roots.astype(np.int32)),
        **{name: pack(np.concatenate([part[name] for part in parts])) for name in parts[0]},
    }


def _tree(tree: Mapping[str, Any]) -> dict[str, np.ndarray[Any, Any]]:
    """Return a tree's nodes; XGBoost keeps a leaf's value where inner nodes have their threshold."""
    left = np.array(tree["left_children"], dtype=np.int32)
    conditions = np.array(tree["split_conditions"], dtype=np.float32)
    inner = left >= 0
    below = np.nextafter(conditions, np.float32(-np.inf))
    return {
        "feature": np.where(inner, np.array(tree["split_indices"], dtype=np.int32), np.int32(-1)),
        "threshold": np.where(inner, below, np.float32(0)).astype(np.float64),
        "left": left,
        "right": np.array(tree["right_children"], dtype=np.int32),
        "value": np.where(inner, np.float32(0), conditions).astype(np.float64),
        "cover": np.array(tree["sum_hessian"], dtype=np.float64),
    }
