"""Boosting on what a physical model leaves unexplained."""

from __future__ import annotations

import numpy as np
import pytest

from warpwatt.lab.learn.physics import Residuals, export, factors, fit
from warpwatt.models.trained.file import read, write

pytest.importorskip("xgboost")


def rows(errors, repeats=8, seed=1):
    """Return rows of programs, each with its own feature and the physical model's error it should show."""
    random = np.random.default_rng(seed)
    names = [f"program {i}" for i in range(len(errors)) for _ in range(repeats)]
    x = np.repeat(np.linspace(0, 1, len(errors)), repeats)[:, None] + 0.001 * random.normal(
        size=(len(names), 1)
    )
    return Residuals(("busy",), x, np.repeat(np.array(errors), repeats), names)


def test_where_nothing_is_left_the_physical_model_stands():
    found = rows([0.0] * 20)
    assert factors(fit(found), found.x) == pytest.approx(1.0)


def test_an_error_that_a_feature_tells_is_learned():
    found = rows([0.2] * 10 + [-0.2] * 10)
    learned = np.log(factors(fit(found), found.x))
    assert learned[0] > 0.1
    assert learned[-1] < -0.1
    assert np.abs(learned).max() <= 0.22


def test_a_program_at_many_clocks_weighs_no_more_than_at_few():
    few, many = rows([0.2] * 10 + [-0.2] * 10), rows([0.2] * 10 + [-0.2] * 10, repeats=80)
    at = np.array([[0.0], [1.0]])
    assert factors(fit(many), at) == pytest.approx(factors(fit(few), at), rel=0.03)


def test_the_file_predicts_what_was_trained(tmp_path):
    found = rows([0.2] * 10 + [-0.2] * 10)
    estimator = fit(found)
    write(tmp_path / "m.json", {"data": {}}, export(estimator, found))
    model = read(tmp_path / "m.json")
    assert model.predict(found.x) == pytest.approx(factors(estimator, found.x), rel=1e-6)
    assert model.outside(np.array([[7.0]])) == ("busy",)
