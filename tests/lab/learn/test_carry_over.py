"""Another GPU's watts on a model's opinions: exact where the relation is a line."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from warpwatt.lab.learn.card import make_card
from warpwatt.lab.learn.carry_over import carry_over, quantile_pairs, straight_line
from warpwatt.lab.learn.errors import DataError
from warpwatt.lab.learn.evaluate import Split, evaluate
from warpwatt.lab.learn.export import export
from warpwatt.lab.learn.regressors import fit, regressor
from warpwatt.lab.learn.samples import load
from warpwatt.models.trained.file import read, write
from warpwatt.models.trained.reasons import learned_reasons


@pytest.fixture
def original(table, tmp_path):
    """Return a trained model, the rows it learned from and its file."""
    samples = replace(load(table), gpus=("old",) * 60)
    chosen = regressor("decision_tree")
    kept = evaluate(samples, chosen, Split.PROGRAM, seeds=(0,))
    card = make_card(samples, chosen, kept, [kept], tuned=False, logarithmic=False)
    path = tmp_path / "old.json"
    write(path, card, export(fit(chosen, samples.x, samples.y, 0), samples))
    return read(path), samples


def written(found, tmp_path):
    path = tmp_path / "new.json"
    write(path, found.card, found.model)
    return read(path)


def test_a_linear_relation_is_found(original, tmp_path):
    model, samples = original
    watts = 3 * model.predict(samples.x) - 20
    there = replace(samples.take(np.arange(0, 60, 2)), gpus=("new",) * 30)
    found = carry_over(model, replace(there, y=watts[::2]))
    assert found.errors[found.method].mae < 0.2 * found.errors["mean"].mae < found.errors["as it was"].mae
    assert found.card["data"]["gpus"] == ["new"]
    new = written(found, tmp_path)
    inside = (watts >= watts[::2].min()) & (watts <= watts[::2].max())
    assert new.predict(samples.x[inside]) == pytest.approx(watts[inside])
    assert new.predict(samples.x).max() == pytest.approx(watts[::2].max())


def test_reasons_lead_from_the_mean_to_the_new_watts(original, tmp_path):
    model, samples = original
    there = replace(samples.take(np.arange(30)), gpus=("new",) * 30)
    new = written(carry_over(model, replace(there, y=np.sqrt(there.y))), tmp_path)
    for row in samples.x[30:34]:
        reasons = learned_reasons(new, row)
        total = reasons.usual + sum(effect.shap for effect in reasons.effects)
        assert total == pytest.approx(new.predict(row[None, :])[0])


def test_knots():
    known, wanted = straight_line(np.array([1.0, 2.0, 3.0]), np.array([10.0, 20.0, 30.0]))
    assert np.interp([0, 1.5, 9], known, wanted).tolist() == [10.0, 15.0, 30.0]
    known, wanted = straight_line(np.array([1.0, 2.0]), np.array([9.0, 5.0]))  # falling: nothing to go by
    assert np.interp([0, 9], known, wanted).tolist() == [7.0, 7.0]
    known, wanted = quantile_pairs(np.array([3.0, 1.0, 2.0]), np.array([1.0, 8.0, 4.0]))
    assert wanted.tolist() == [1.0, 4.0, 8.0]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda s: s.take(np.arange(3)), "3 measurements do not carry"),
        (lambda s: replace(s, gpus=("a", "b") * 30), "rows of 2 GPUs"),
        (lambda s: replace(s, convention="thesis"), "features of convention thesis"),
    ],
)
def test_what_cannot_calibrate_is_refused(original, change, message):
    model, samples = original
    with pytest.raises(DataError, match=message):
        carry_over(model, change(samples))


def test_a_model_is_not_carried_over_twice(original, tmp_path):
    model, samples = original
    new = written(carry_over(model, samples), tmp_path)
    with pytest.raises(DataError, match="carried over already"):
        carry_over(new, samples)
