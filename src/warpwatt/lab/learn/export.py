"""A fitted regressor as JSON that ``models.trained`` reads back: no pickles, no code."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from warpwatt.models.trained.file import scaling_section, sections
from warpwatt.models.trained.packed import pack, pack_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from warpwatt.lab.learn.regressors import Fitted
    from warpwatt.lab.learn.samples import Samples


def export(fitted: Fitted, samples: Samples) -> dict[str, Any]:
    """Return the ``model`` part of a model file, for a regressor trained on these samples."""
    scaling = fitted.scaling
    low, high = samples.x.min(axis=0), samples.x.max(axis=0)
    told = sections(samples.features, samples.target, samples.unit, logarithmic=fitted.logarithmic)
    return {
        **told,
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
    """Return trees in the flat arrays of ``models.trained.trees``."""
    roots = np.cumsum([0, *(tree.node_count for tree in trees)])[:-1]
    shifted = [
        [np.where(side >= 0, side + root, -1) for side in (tree.children_left, tree.children_right)]
        for tree, root in zip(trees, roots, strict=True)
    ]
    return {
        "kind": "forest",
        "intercept": intercept,
        "factor": factor,
        "roots": pack(roots.astype(np.int32)),
        "feature": pack(np.concatenate([np.maximum(t.feature, -1) for t in trees]).astype(np.int32)),
        "threshold": pack(np.concatenate([t.threshold for t in trees])),
        "left": pack(np.concatenate([left for left, _ in shifted]).astype(np.int32)),
        "right": pack(np.concatenate([right for _, right in shifted]).astype(np.int32)),
        "value": pack(np.concatenate([t.value[:, 0, 0] for t in trees])),
    }


def _xgboost(estimator: Any) -> dict[str, Any]:
    return {"kind": "xgboost", "ubj": pack_bytes(bytes(estimator.get_booster().save_raw("ubj")))}


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


_EXPORTS: Mapping[str, Callable[[Any], dict[str, Any]]] = {
    "DummyRegressor": _constant,
    "LinearRegression": _linear,
    "SVR": _kernel,
    "DecisionTreeRegressor": _tree,
    "RandomForestRegressor": _averaged,
    "ExtraTreesRegressor": _averaged,
    "GradientBoostingRegressor": _boosted,
    "XGBRegressor": _xgboost,
    "CatBoostRegressor": _catboost,
    "Network": _network,
}
