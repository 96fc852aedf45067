"""Verdicts: which number is judged, and where the edge is."""

from __future__ import annotations

import json

import pytest

from tests.render import samples
from warpwatt.budget import baseline
from warpwatt.budget.budgets import Budget
from warpwatt.budget.judge import verdict
from warpwatt.budget.quantities import QUANTITIES
from warpwatt.core.budget import Bound, Limit, Quantile
from warpwatt.core.errors import InputError, OutputExistsError
from warpwatt.request.launch_text import LaunchText
from warpwatt.request.options import CompilationOptions, ModelOptions


@pytest.fixture(scope="module")
def prediction():
    return samples.saxpy_pair()[0]


def limit(quantity, amount, bound=Bound.MAX, *, relative=False):
    return Limit(quantity, bound, amount, relative, str(amount), 7)


@pytest.mark.parametrize("quantity", QUANTITIES)
def test_the_edge_is_allowed_and_beyond_it_is_not(prediction, quantity):
    found = QUANTITIES[quantity].read(prediction)
    if found is None or not found.value:
        pytest.skip("the sample has none")
    for factor, bound, exceeded in [
        (1.0, Bound.MAX, False),
        (0.99, Bound.MAX, True),
        (1.0, Bound.MIN, False),
        (1.01, Bound.MIN, True),
    ]:
        assert verdict("b", limit(quantity, found.value * factor, bound), prediction).exceeded is exceeded


def test_the_worst_end_is_the_one_nearer_to_the_limit(prediction):
    time = prediction.time
    between = (time.value + time.high) / 2
    assert not verdict("b", limit("time", between), prediction).exceeded
    assert verdict("b", limit("time", between), prediction, Quantile.WORST).exceeded
    below = (time.value + time.low) / 2
    assert not verdict("b", limit("time", below, Bound.MIN), prediction).exceeded
    assert verdict("b", limit("time", below, Bound.MIN), prediction, Quantile.WORST).exceeded


def test_relative_limits_refer_to_the_same_number_of_the_baseline(prediction):
    time = prediction.time
    before = (time.value / 1.04, time.low / 1.2, time.high / 1.2)
    five = limit("time", 0.05, relative=True)
    assert not verdict("b", five, prediction, Quantile.VALUE, before).exceeded
    assert verdict("b", five, prediction, Quantile.WORST, before).exceeded


def test_the_hottest_line_is_that_of_the_quantity(prediction):
    assert verdict("b", limit("energy", 0.0), prediction).hottest.line == 6


def budget(tmp_path):
    launch = LaunchText(arg=("n=4",))
    return Budget(
        "b",
        1,
        tmp_path / "saxpy.cu",
        "h200",
        launch,
        CompilationOptions(),
        ModelOptions(),
        Quantile.VALUE,
        (),
    )


def test_a_baseline_is_read_as_it_was_written(prediction, tmp_path):
    path = tmp_path / "base.json"
    name = baseline.identity(budget(tmp_path), prediction)
    baseline.write(path, [(name, prediction)])
    value, low, high = baseline.read(path)[name]["time"]
    assert (value, low, high) == pytest.approx(
        (prediction.time.value, prediction.time.low, prediction.time.high), rel=1e-5
    )
    baseline.write(path, [(name, prediction)])  # its own file it may overwrite


def test_no_other_file_is_overwritten(prediction, tmp_path):
    path = tmp_path / "notes.json"
    path.write_text('{"kind": "shopping list"}')
    with pytest.raises(OutputExistsError):
        baseline.write(path, [("x", prediction)])
    assert "shopping" in path.read_text()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        "\x00",
        json.dumps({"kind": baseline.KIND, "version": 99, "predictions": {}}),
        json.dumps({"kind": baseline.KIND, "version": 1, "predictions": {"a": {"time": [1, 2]}}}),
        json.dumps({"kind": baseline.KIND, "version": 1, "predictions": 3}),
    ],
)
def test_what_is_no_baseline_is_refused(tmp_path, text):
    path = tmp_path / "base.json"
    path.write_text(text)
    with pytest.raises(InputError, match="not a baseline"):
        baseline.read(path)
