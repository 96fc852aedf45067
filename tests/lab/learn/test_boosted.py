"""XGBoost's trees in our arrays: the same predictions, and SHAP values that are XGBoost's own."""

from __future__ import annotations

import numpy as np
import pytest

from warpwatt.lab.learn.export import xgboost_forest as flat
from warpwatt.models.trained.packed import ModelFileError
from warpwatt.models.trained.predictors import forest
from warpwatt.models.trained.shapley import shap

xgboost = pytest.importorskip("xgboost")


@pytest.fixture(scope="module", params=[2, 4])
def trained(request):
    random = np.random.default_rng(3)
    x = random.normal(size=(150, 6)).round(1)  # many equal values: thresholds are met exactly
    y = x[:, 0] * x[:, 1] + np.abs(x[:, 2]) + 0.1 * random.normal(size=150)
    weights = random.uniform(0.2, 2.0, size=150)
    model = xgboost.XGBRegressor(n_estimators=12, max_depth=request.param, learning_rate=0.3, n_jobs=1)
    return model.fit(x, y, sample_weight=weights), x


def test_the_same_predictions(trained):
    model, x = trained
    assert forest(flat(model), x.shape[1])(x) == pytest.approx(model.predict(x), abs=1e-5)


def test_shap_values_are_xgboosts(trained):
    model, x = trained
    wanted = model.get_booster().predict(xgboost.DMatrix(x[:15]), pred_contribs=True)
    for row, own in zip(x, wanted, strict=False):
        mean, effects = shap(flat(model), row)
        assert [*effects, mean] == pytest.approx(own, abs=2e-5)


def test_a_forest_without_covers_cannot_be_explained(trained):
    model, x = trained
    plain = {name: part for name, part in flat(model).items() if name != "cover"}
    with pytest.raises(ModelFileError, match="rows reach"):
        shap(plain, x[0])
