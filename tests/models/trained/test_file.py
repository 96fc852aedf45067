from __future__ import annotations

import contextlib
import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from warpwatt.core.errors import ToolchainError
from warpwatt.lab.learn.export import export
from warpwatt.lab.learn.regressors import fit, regressor
from warpwatt.lab.learn.samples import Samples
from warpwatt.models.trained.file import VERSION, read, write
from warpwatt.models.trained.model import card_spread
from warpwatt.models.trained.packed import ModelFileError, pack, pack_bytes, unpack
from warpwatt.models.trained.predictors import forest, oblivious

SMALL = {
    "random_forest": {"n_estimators": 5},
    "extra_trees": {"n_estimators": 5},
    "gradient_boosting": {"n_estimators": 5},
    "xgboost": {"n_estimators": 5},
    "catboost": {"iterations": 5, "depth": 3},
}
NAMES = ["mean", "linear_regression", "decision_tree", *SMALL, "svr", "svr_standardised"]


@pytest.fixture(scope="module")
def samples():
    generator = np.random.default_rng(0)
    x = generator.uniform(0, 100, (50, 3)).round(2)
    y = 40 + x[:, 0] + 0.1 * x[:, 1] ** 2
    many: dict[str, Any] = {"programs": ("p",) * 50, "kernels": ("k",) * 50, "lines": tuple(range(50))}
    return Samples(x, y, ("a", "b", "c"), **many, target="power", unit="W", name="d.csv", sha256="0")


@pytest.fixture
def trained(samples):
    def train(name, **more):
        return fit(regressor(name).with_parameters(SMALL.get(name, {})), samples.x, samples.y, 0, **more)

    return train


@pytest.fixture
def saved(tmp_path, samples, trained):
    def save(name, **more):
        file = tmp_path / f"{name}.json"
        write(file, {"note": "ω"}, export(trained(name, **more), samples))
        return file

    return save


@pytest.mark.parametrize("name", NAMES)
def test_a_model_read_back_predicts_the_same(name, samples, trained, saved):
    model = read(saved(name))
    assert model.features == ("a", "b", "c")
    assert (model.target, model.unit) == ("power", "W")
    assert model.card == {"note": "ω"}
    exact = 1e-6 if name == "xgboost" else 1e-9  # XGBoost adds its leaves in single precision
    assert model.predict(samples.x) == pytest.approx(trained(name).predict(samples.x), rel=exact)
    beyond = np.array([[-50.0, 500.0, 3.0]])
    assert model.predict(beyond) == pytest.approx(trained(name).predict(beyond), rel=exact)
    assert model.outside(beyond) == ("a", "b")
    assert model.outside(samples.x) == ()


@pytest.mark.parametrize("name", NAMES)
def test_the_same_training_writes_the_same_bytes(name, saved):
    first = saved(name).read_bytes()
    assert saved(name).read_bytes() == first


def test_logarithmic_models_are_read_back(samples, trained, saved):
    found = read(saved("decision_tree", logarithmic=True)).predict(samples.x)
    assert found == pytest.approx(trained("decision_tree", logarithmic=True).predict(samples.x))


def test_another_version_is_refused(saved):
    file = saved("mean")
    text = file.read_text(encoding="utf-8").replace(f'"version": {VERSION}', f'"version": {VERSION + 1}')
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ModelFileError, match=f"version {VERSION + 1}; this WarpWatt reads version {VERSION}"):
        read(file)


@pytest.mark.parametrize("part", ["card", "model"])
def test_a_tampered_file_is_refused(saved, part):
    file = saved("linear_regression")
    whole = json.loads(file.read_text(encoding="utf-8"))
    if part == "card":
        whole["card"]["note"] = "better"
    else:
        whole["model"]["estimator"]["intercept"] += 1.0
    file.write_text(json.dumps(whole), encoding="utf-8")
    with pytest.raises(ModelFileError, match="damaged or tampered with"):
        read(file)


@pytest.mark.parametrize("text", ["", "{}", "[1]", "not json", '{"format": "other"}', "[" * 100_000])
def test_other_files_are_refused(tmp_path, text):
    (tmp_path / "x.json").write_text(text)
    with pytest.raises(ModelFileError, match="not a model file"):
        read(tmp_path / "x.json")


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(ModelFileError, match="cannot be read"):
        read(tmp_path / "none.json")


def _changed(file, change):
    """Write a consistent file (its checksum holds) with a changed model."""
    whole = json.loads(file.read_text(encoding="utf-8"))
    change(whole["model"])
    write(file, whole["card"], whole["model"])


@pytest.mark.parametrize(
    ("name", "change", "match"),
    [
        ("mean", lambda m: m["estimator"].update(kind="pickle"), "no model of kind 'pickle'"),
        ("mean", lambda m: m["estimator"].pop("value"), "not a complete model"),
        ("mean", lambda m: m["features"].pop(), "does not fit its features"),
        ("linear_regression", lambda m: m["estimator"].update(weights=pack(np.zeros(2))), "array of shape"),
        (
            "catboost",
            lambda m: m["estimator"].update(json={"bytes": 3, "zlib": "?"}),
            "packed bytes are damaged",
        ),
        (
            "decision_tree",
            lambda m: m["estimator"].update(roots=pack(np.array([10**6], np.int32))),
            "its trees",
        ),
        ("decision_tree", lambda m: m["estimator"].update(left=m["estimator"]["roots"]), "its trees"),
        ("svr", lambda m: m["estimator"].update(gamma="wide"), "not a complete model"),
        (
            "decision_tree",
            lambda m: m["estimator"].update(cover=pack(np.ones(2))),
            "array of shape",
        ),
        (
            "mean",
            lambda m: m.update(estimator={"kind": "carried over", "of": {"kind": "carried over"}}),
            "carried over twice",
        ),
        (
            "mean",
            lambda m: m.update(
                estimator={
                    "kind": "carried over",
                    "of": m["estimator"],
                    "from": pack(np.array([2.0, 1.0])),
                    "to": pack(np.zeros(2)),
                }
            ),
            "not in order",
        ),
    ],
)
def test_models_that_do_not_hold_together_are_refused(saved, name, change, match):
    file = saved(name)
    _changed(file, change)
    with pytest.raises(ModelFileError, match=match):
        read(file)


def test_trees_that_point_back_are_refused(saved):
    """A walk down such a tree would never end."""
    file = saved("decision_tree")

    def cycle(model):
        left = unpack(model["estimator"]["left"]).copy()
        left[left > 0] = 0
        model["estimator"]["left"] = pack(left)

    _changed(file, cycle)
    with pytest.raises(ModelFileError, match="its trees do not fit together"):
        read(file)


def test_a_missing_booster_is_named(saved, monkeypatch):
    file = saved("mean")
    _changed(file, lambda model: model["estimator"].update(kind="xgboost", ubj=pack_bytes(b"")))
    monkeypatch.setitem(__import__("sys").modules, "xgboost", None)
    with pytest.raises(ToolchainError, match="needs xgboost"):
        read(file)


def test_features_of_the_wrong_number(saved):
    with pytest.raises(ValueError, match="rows, 3"):
        read(saved("mean")).predict(np.zeros((2, 4)))


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=20))
def test_arrays_survive_packing(values):
    assert unpack(pack(np.array(values))).tolist() == values


@given(
    st.dictionaries(st.sampled_from(["type", "shape", "bytes", "zlib"]), st.text(max_size=5) | st.integers())
)
def test_broken_arrays_never_crash_the_reader(change):
    packed = {**pack(np.arange(3.0)), **change}
    # read() turns the last three into a ModelFileError
    with contextlib.suppress(ModelFileError, TypeError, ValueError, AttributeError):
        unpack(packed)


def test_trees_are_walked_as_they_were_grown():
    """Left where a feature is at most the threshold; the leaves of all trees are added up."""
    arrays = {
        "feature": [0, -1, 1, -1, -1],
        "threshold": [2.0, 0.0, 7.0, 0.0, 0.0],
        "left": [1, -1, 3, -1, -1],
        "right": [2, -1, 4, -1, -1],
        "value": [0.0, 10.0, 0.0, 20.0, 30.0],
    }
    kinds = {"threshold": np.float64, "value": np.float64}
    model = {name: pack(np.array(x, kinds.get(name, np.int32))) for name, x in arrays.items()}
    roots = pack(np.array([0, 2], np.int32))
    predict = forest({**model, "roots": roots, "intercept": 1.0, "factor": 0.5}, 2)
    x = np.array([[2.0, 7.0], [2.1, 7.0], [2.1, 7.1]])
    assert predict(x).tolist() == [1 + 0.5 * (10 + 20), 1 + 0.5 * (20 + 20), 1 + 0.5 * (30 + 30)]


def test_oblivious_trees_are_walked_as_they_were_grown():
    """A feature above its border sets the level's bit of the leaf's index; an equal one does not."""
    splits = [{"float_feature_index": 0, "border": 2.0}, {"float_feature_index": 1, "border": 7.0}]
    whole = {
        "scale_and_bias": [2.0, [5.0]],
        "oblivious_trees": [{"splits": splits, "leaf_values": [0.0, 1.0, 10.0, 11.0]}],
    }
    predict = oblivious({"json": pack_bytes(json.dumps(whole).encode())}, 2)
    x = np.array([[2.0, 7.0], [3.0, 7.0], [2.0, 8.0], [3.0, 8.0]])
    assert predict(x).tolist() == [5.0, 7.0, 25.0, 27.0]


@pytest.mark.parametrize("card", [[], {"data": 3}, {"spread": "wide"}, {"spread": float(-1)}, {"figures": 1}])
def test_hostile_cards_are_refused(card, tmp_path, samples, trained):
    file = tmp_path / "m.json"
    write(file, card, export(trained("mean"), samples))
    with pytest.raises(ModelFileError):
        card_spread(read(file).card)
