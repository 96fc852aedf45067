"""A fitted regressor as JSON that ``models.trained`` reads back: no pickles, no code.

Trees become flat arrays, XGBoost's too, so that predicting and explaining need NumPy only.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from warpwatt.models.trained.file import scaling_section, sections
from warpwatt.models.trained.packed import pack, pack_bytes

if TYPE_CHECKING:
    import numpy.typing as npt

    from warpwatt.lab.learn.regressors import Fitted
    from warpwatt.lab.learn.samples import Samples

    Array = npt.NDArray[Any]


def export(fitted: Fitted, samples: Samples) -> dict[str, Any]:
    """Return the ``model`` part of a model file, for a regressor trained on these samples."""
    scaling = fitted.scaling
    low, high = samples.x.min(axis=0), samples.x.max(axis=0)
    described = sections(samples.features, samples.target, samples.unit, logarithmic=fitted.logarithmic)
    return {
        **described,
        "scaling": scaling_section(scaling.offset, scaling.width, low, high),
        "estimator": estimator_section(fitted.estimator),
    }


def estimator_section(estimator: Any) -> dict[str, Any]:
    """Return the ``estimator`` part of a model's JSON."""
    return _EXPORTS[type(estimator).__name__](estimator)


def _constant(estimator: Any) -> dict[str, Any]:
    return {"kind": "constant", "value": float(np.ravel(estimator.constant_)[0])}


def _linear(estimator: Any) -> dict[str, Any]:
    return {"kind": "linear", "weights": pack(estimator.coef_), "intercept": float(estimator.intercept_)}


def _kernel(estimator: Any) -> dict[str, Any]:
    return {
        "kind": "kernel",
        "gamma": float(estimator.gamma),
        "vectors": pack(estimator.support_vectors_),
        "weights": pack(estimator.dual_coef_[0]),
        "intercept": float(estimator.intercept_[0]),
    }


def _tree(estimator: Any) -> dict[str, Any]:
    return _forest([estimator.tree_], intercept=0.0, factor=1.0)


def _averaged(estimator: Any) -> dict[str, Any]:
    trees = [each.tree_ for each in estimator.estimators_]
    return _forest(trees, intercept=0.0, factor=1.0 / len(trees))


def _boosted(estimator: Any) -> dict[str, Any]:
    trees = [each.tree_ for each in np.ravel(estimator.estimators_)]
    start = float(np.ravel(estimator.init_.constant_)[0])
    return _forest(trees, intercept=start, factor=float(estimator.learning_rate))


def _forest(trees: Sequence[Any], *, intercept: float, factor: float) -> dict[str, Any]:
    """Return scikit-learn's trees as a forest."""
    parts = [
        {
            "feature": np.maximum(tree.feature, -1).astype(np.int32),
            "threshold": tree.threshold,
            "left": tree.children_left,
            "right": tree.children_right,
            "value": tree.value[:, 0, 0],
            "cover": tree.weighted_n_node_samples,
        }
        for tree in trees
    ]
    return _flat(parts, intercept=intercept, factor=factor)


def _flat(parts: Sequence[dict[str, Array]], *, intercept: float, factor: float) -> dict[str, Any]:
    """Return trees in the flat arrays of ``models.trained.predictors``."""
    roots = np.cumsum([0, *(len(part["feature"]) for part in parts)])[:-1]
    for part, root in zip(parts, roots, strict=True):
        for side in ("left", "right"):
            part[side] = np.where(part[side] >= 0, part[side] + root, -1).astype(np.int32)
    return {
        "kind": "forest",
        "intercept": intercept,
        "factor": factor,
        "roots": pack(roots.astype(np.int32)),
        **{name: pack(np.concatenate([part[name] for part in parts])) for name in parts[0]},
    }


def _catboost(estimator: Any) -> dict[str, Any]:
    """Return CatBoost's own JSON without its record of when it was trained, for the same bytes every time."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "model.json"
        estimator.save_model(str(file), format="json")
        whole = json.loads(file.read_text(encoding="utf-8"))
    kept = {name: part for name, part in whole.items() if name != "model_info"}
    return {"kind": "catboost", "json": pack_bytes(json.dumps(kept, sort_keys=True).encode())}


def _network(estimator: Any) -> dict[str, Any]:
    layers = [{"weights": pack(w), "biases": pack(b)} for w, b in estimator.layers()]
    return {"kind": "network", "layers": layers, "offset": estimator.offset, "scale": estimator.scale}


def xgboost_forest(estimator: Any) -> dict[str, Any]:
    """Return the ``estimator`` part of a model file for a fitted ``XGBRegressor`` with squared error.

    XGBoost goes left where x < threshold, our forest where x <= threshold: thresholds are the next smaller
    single-precision numbers. ``cover`` is how many training rows reach each node.
    """
    learner = json.loads(estimator.get_booster().save_raw("json"))["learner"]
    trees = learner["gradient_booster"]["model"]["trees"]
    base = learner["learner_model_param"]["base_score"]
    intercept = float(np.float32(str(base).strip("[]")))
    return _flat([_xgboost_tree(tree) for tree in trees], intercept=intercept, factor=1.0)


def _xgboost_tree(tree: Mapping[str, Any]) -> dict[str, Array]:
    """Return a tree's nodes; XGBoost keeps a leaf's value where inner nodes have their threshold."""
    left = np.array(tree["left_children"], dtype=np.int32)
    conditions = np.array(tree["split_conditions"], dtype=np.float32)
    inner = left >= 0
    below = np.nextafter(conditions, np.float32(-np.inf))
    return {
        "feature": np.where(inner, np.array(tree["split_indices"], dtype=np.int32), np.int32(-1)),
        "threshold": np.where(inner, below, np.float32(0)),
        "left": left,
        "right": np.array(tree["right_children"], dtype=np.int32),
        "value": np.where(inner, np.float32(0), conditions),
        "cover": np.array(tree["sum_hessian"], dtype=np.float32),
    }


_EXPORTS: Mapping[str, Callable[[Any], dict[str, Any]]] = {
    "DummyRegressor": _constant,
    "LinearRegression": _linear,
    "SVR": _kernel,
    "DecisionTreeRegressor": _tree,
    "RandomForestRegressor": _averaged,
    "ExtraTreesRegressor": _averaged,
    "GradientBoostingRegressor": _boosted,
    "XGBRegressor": xgboost_forest,
    "CatBoostRegressor": _catboost,
    "Network": _network,
}
