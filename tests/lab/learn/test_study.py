from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from warpwatt.lab.learn.diagnostics import (
    grid,
    inliers,
    loss_curve,
    one_at_a_time,
    outlier_scores,
    partial_dependence,
)
from warpwatt.lab.learn.errors import DataError
from warpwatt.lab.learn.evaluate import Split, make_folds
from warpwatt.lab.learn.layout import layout
from warpwatt.lab.learn.regressors import fit, regressor
from warpwatt.lab.learn.samples import load, samples_from_table
from warpwatt.lab.learn.selection import kendall, pearson, ranking, select, shap_values
from warpwatt.lab.learn.table import read_table
from warpwatt.lab.learn.transfer import calibrate, learn_quantiles, leave_out, quantiles
from warpwatt.published.alavani.study.cost import measure


def test_the_fifteen_features_of_the_thesis_are_selected(alavani):
    """Tables 5.4: from all features of the smaller K20 set, by rule, exactly the published fifteen."""
    table = read_table(alavani / "power_model_inputs_k20_smaller.csv", keep_repeated=True)
    own = layout("alavani_power")
    names = [c for c in table.columns if c not in {*own.texts, *own.serial, "power", "total_inst", "wtotal"}]
    found = select(samples_from_table(table, "power", names))
    assert set(found.kept) == set(own.features)
    reasons = dict(found.removed)
    assert reasons["sm_active"] == "Pearson 1.00 with block_size"
    assert reasons["glb_penalty"] == "Pearson 0.91 with inst_issue_cycles"
    assert reasons["total_threads"] == "Pearson 0.92 with inst_issue_cycles"
    assert reasons["shar_inst_kernel"] == "Kendall 0.89 with avg_shar_lat"
    assert reasons["sh_penalty"] == "Kendall 0.94 with avg_shar_lat"


def test_correlations():
    x = np.array([[1.0, 2.0, -1.0], [2.0, 4.0, -8.0], [3.0, 6.0, -27.0]])
    assert pearson(x)[0, 1] == pytest.approx(1.0)
    assert -1 < pearson(x)[0, 2] < -0.9
    assert kendall(x)[0, 2] == pytest.approx(-1.0)


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")  # shap's own plots
def test_shap_values_add_up_to_the_prediction(table):
    data = load(table)
    fitted = fit(regressor("extra_trees").with_parameters({"n_estimators": 5}), data.x, data.y, 0)
    values = shap_values(fitted.estimator, fitted.scaling(data.x))
    rest = fitted.predict(data.x) - values.sum(axis=1)
    assert rest == pytest.approx(np.full(60, rest[0]))
    assert "avg_comp_lat" in ranking(data.features, np.abs(values).mean(axis=0))[:2]


def test_a_lonely_row_is_an_outlier(table):
    data = load(table)
    x = np.repeat(data.x[:6], 10, axis=0) + np.random.default_rng(0).normal(0, 0.5, (60, 15))
    x[17] = 1000.0
    crowded = replace(data, x=x, y=np.full(60, 50.0))
    scores = outlier_scores(crowded)
    assert scores.argmax() == 17
    assert 17 not in inliers(scores)


def test_responses_of_a_linear_model_are_its_slope(table):
    data = load(table)
    slope = data.features.index("branch")

    def predict(x):
        return 3 * x[:, slope] + x[:, 0]

    for answer in (partial_dependence, one_at_a_time):
        found = answer(predict, data, "branch")
        assert np.diff(found.predicted) == pytest.approx(3 * np.diff(found.values))
    assert (np.diff(grid(data, "branch")) > 0).all()


@pytest.mark.parametrize("name", ["gradient_boosting", "xgboost", "catboost"])
def test_training_loss_falls_with_every_tree(table, name):
    data = load(table)
    trees = {"catboost": "iterations"}.get(name, "n_estimators")
    part = make_folds(data, Split.ROWS, 0)[0]
    curve = loss_curve(data, regressor(name).with_parameters({trees: 12}), part)
    assert len(curve) == 12
    assert curve[-1][0] < curve[0][0]


def test_no_loss_curve_without_steps(table):
    data = load(table)
    assert loss_curve(data, regressor("mean"), make_folds(data, Split.ROWS, 0)[0]) == ()


def test_cost_is_measured(table):
    found = measure(load(table), "decision_tree")
    assert found.train_s >= 0
    assert found.peak_bytes > 10_000_000


@pytest.fixture
def operators(write):
    """Return operators on two GPUs: the second draws half the first's power plus 20 W."""
    generator = np.random.default_rng(0)
    head = "kernel_name,total_bytes_read_mb,total_bytes_written_mb,total_bytes_mb,total_flops_m,"
    head += "arithmetic_intensity,num_nodes,count_unique_ops,architecture,power_consumption"
    lines = []
    for i in range(80):
        size = float(generator.uniform(1, 100))
        for gpu, power in (("big", 100 + 2 * size), ("small", 70 + size)):
            name = f"{i % 20}_op.py_variable_multiplier_{i // 20}"
            lines.append([name, size, size, 2 * size, 5, 1, 1, 1, gpu, power])
    return load(write(lines, head.split(","), "operators.csv"))


def test_quantiles_are_ranks_within_each_gpu(operators):
    found = quantiles(operators.y, operators.gpus)
    big = np.array([g == "big" for g in operators.gpus])
    assert np.array_equal(np.argsort(found[big]), np.argsort(operators.y[big]))
    assert found[big] == pytest.approx(found[~big])


def test_an_unseen_gpu_is_reached_by_calibration(operators):
    one = regressor("extra_trees").with_parameters({"n_estimators": 20})
    found = leave_out(operators, "small", one, count=20)
    assert found.calibrated.mape < 3
    assert found.uncalibrated.mape > 30
    assert found.calibrated.mae < found.constant.mae / 3


def test_calibration_needs_some_operators(operators, table):
    fitted = learn_quantiles(operators, regressor("linear_regression"))
    with pytest.raises(DataError, match="2 measured operators"):
        calibrate(fitted, operators.take(np.arange(2)))
    with pytest.raises(DataError, match="names the GPU"):
        learn_quantiles(load(table), regressor("linear_regression"))
