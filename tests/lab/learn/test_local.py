from __future__ import annotations

import numpy as np
import pytest

from warpwatt.lab.learn.diagnostics import explain
from warpwatt.lab.learn.regressors import fit, regressor
from warpwatt.lab.learn.samples import load


def test_a_linear_model_is_explained_exactly(table):
    data = load(table)
    first, second = data.features.index("branch"), data.features.index("occupancy")

    def predict(x):
        return 50 + 2 * x[:, first] - 0.5 * x[:, second]

    row = data.x[7]
    found = explain(predict, data, row)
    away = row - data.x.mean(axis=0)
    assert found.predicted == pytest.approx(50 + 2 * row[first] - 0.5 * row[second])
    assert found.effects["branch"] == pytest.approx(2 * away[first], rel=0.02)
    assert found.effects["occupancy"] == pytest.approx(-0.5 * away[second], rel=0.05)
    assert found.fit > 0.999
    assert next(iter(found.effects)) in ("branch", "occupancy")
    rest = [abs(v) for name, v in found.effects.items() if name not in ("branch", "occupancy")]
    assert max(rest) < 0.2


def test_a_trained_model_goes_by_what_made_the_data(table):
    data = load(table)
    fitted = fit(regressor("linear_regression"), data.x, data.y, 0)
    found = explain(fitted.predict, data, data.x[np.argmax(data.x[:, 0])])
    assert next(iter(found.effects)) == "avg_comp_lat"
    assert explain(fitted.predict, data, data.x[0]) == explain(fitted.predict, data, data.x[0])


def test_a_constant_model_has_no_effects(table):
    data = load(table)
    found = explain(lambda x: np.full(len(x), 80.0), data, data.x[0])
    assert found.predicted == 80.0
    assert list(found.effects.values()) == pytest.approx([0.0] * 15)
    assert found.fit == 1.0
