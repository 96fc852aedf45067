"""SHAP values against their definition: the mean over all orders in which features become known."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from warpwatt.lab.learn.export import estimator_section
from warpwatt.models.trained.packed import pack
from warpwatt.models.trained.predictors import forest
from warpwatt.models.trained.shapley import shap

FEATURES = 4


def random_forest(seed, trees=3, depth=6):
    """Return a forest whose trees ask about features several times, as flat arrays."""
    generator = np.random.default_rng(seed)
    arrays = {name: [] for name in ("feature", "threshold", "left", "right", "value", "cover")}

    def grow(rows, deep):
        at = len(arrays["feature"])
        for part, first in zip(arrays.values(), (-1, 0.0, -1, -1, 0.0, rows), strict=True):
            part.append(first)
        if deep == 0 or rows < 2 or generator.random() < 0.15:
            arrays["value"][at] = float(generator.normal())
            return at
        arrays["feature"][at] = int(generator.integers(FEATURES))
        arrays["threshold"][at] = float(generator.uniform(-1, 1))
        rest = int(generator.integers(1, rows))
        arrays["left"][at] = grow(rest, deep - 1)
        arrays["right"][at] = grow(rows - rest, deep - 1)
        return at

    roots = [grow(100, depth) for _ in range(trees)]
    kinds = {"feature": np.int32, "left": np.int32, "right": np.int32}
    packed = {name: pack(np.array(x, kinds.get(name, np.float64))) for name, x in arrays.items()}
    return arrays, {
        "kind": "forest",
        **packed,
        "roots": pack(np.array(roots, np.int32)),
        "intercept": 0.5,
        "factor": 0.7,
    }


def value_of(arrays, node, row, known):
    feature = arrays["feature"][node]
    if feature < 0:
        return arrays["value"][node]
    left, right = arrays["left"][node], arrays["right"][node]
    if feature in known:
        goes_left = np.float32(row[feature]) <= arrays["threshold"][node]
        return value_of(arrays, left if goes_left else right, row, known)
    parts = [arrays["cover"][side] * value_of(arrays, side, row, known) for side in (left, right)]
    return sum(parts) / arrays["cover"][node]


@pytest.mark.parametrize("seed", range(6))
def test_values_are_the_mean_over_all_orders(seed):
    arrays, model = random_forest(seed)
    row = np.random.default_rng(seed + 100).uniform(-1, 1, FEATURES)
    roots = [0, *(i + 1 for i in range(len(arrays["cover"]) - 1) if arrays["cover"][i + 1] == 100)]

    def whole(known):
        return 0.5 + 0.7 * sum(value_of(arrays, root, row, known) for root in roots)

    wanted = np.zeros(FEATURES)
    orders = list(permutations(range(FEATURES)))
    for order in orders:
        for i, feature in enumerate(order):
            wanted[feature] += whole(set(order[: i + 1])) - whole(set(order[:i]))
    mean, effects = shap(model, row)
    assert mean == pytest.approx(whole(set()))
    assert effects == pytest.approx(wanted / len(orders), abs=1e-12)
    assert mean + effects.sum() == pytest.approx(forest(model, FEATURES)(row[None, :])[0])


def test_a_single_leaf_has_no_effects():
    _, model = random_forest(0, trees=1, depth=0)
    mean, effects = shap(model, np.zeros(FEATURES))
    assert effects.tolist() == [0.0] * FEATURES
    assert mean == pytest.approx(forest(model, FEATURES)(np.zeros((1, FEATURES)))[0])


def test_catboosts_values_are_its_own():
    catboost = pytest.importorskip("catboost")
    generator = np.random.default_rng(0)
    x = generator.normal(size=(120, FEATURES)).round(1)
    y = x[:, 0] * x[:, 1] + np.abs(x[:, 2])
    settings = {"logging_level": "Silent", "allow_writing_files": False, "thread_count": 1}
    model = catboost.CatBoostRegressor(iterations=8, depth=4, **settings).fit(x, y)
    wanted = model.get_feature_importance(catboost.Pool(x[:5]), type="ShapValues")
    for row, own in zip(x, wanted, strict=False):
        mean, effects = shap(estimator_section(model), row)
        assert [*effects, mean] == pytest.approx(own, abs=1e-9)
