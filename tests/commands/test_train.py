from __future__ import annotations

import csv
import json
import sys

import numpy as np
import pytest
from click.testing import CliRunner

from warpwatt.commands import train as train_verb
from warpwatt.commands.main import app
from warpwatt.core.errors import OutputExistsError, UsageError
from warpwatt.lab.learn.errors import DataError, SingleProgramError
from warpwatt.models.trained.file import read


@pytest.fixture
def table(tmp_path):
    generator = np.random.default_rng(0)
    file = tmp_path / "own.csv"
    with file.open("w", newline="", encoding="utf-8") as out:
        writer = csv.writer(out)
        writer.writerow(["Name", "Flops", "Bytes", "Watts"])
        for i in range(60):
            x = generator.uniform(1, 10, 2)
            writer.writerow([f"p{i % 6}", *x, 50 + 10 * x[0] + 3 * x[1]])
    return file


OWN = ["--program-column", "Name", "--target-column", "Watts", "--features", "Flops,Bytes", "--seeds", "2"]


def run(*arguments):
    return CliRunner().invoke(app, ["train", *map(str, arguments)], catch_exceptions=True)


def test_a_model_a_card_and_a_report(table, tmp_path):
    model, page = tmp_path / "m.json", tmp_path / "m.html"
    result = run(table, *OWN, "--model", "linear_regression", "-o", model, "--report", page)
    assert result.exit_code == 0, result.output
    trained = read(model)
    assert trained.predict(np.array([[2.0, 4.0]])) == pytest.approx([82.0])
    card = json.loads(model.read_text(encoding="utf-8"))["card"]
    assert card["split"] == {"by": "program", "folds": 5, "seeds": [0, 1]}
    assert card["figures"]["linear_regression"]["pooled"]["r2"] == pytest.approx(1.0)
    assert card["figures"]["mean"]["pooled"]["r2"] < 0.2
    assert card["data"]["rows"] == 60
    assert len(card["data"]["sha256"]) == 64
    text = (tmp_path / "m.md").read_text(encoding="utf-8")
    assert "## Limits" in text
    assert "Split by program" in text
    html = page.read_text(encoding="utf-8")
    assert "Measured against predicted" in html
    assert 'src="http' not in html
    assert "Constant mean" in result.output


def test_a_split_by_row_is_called_one(table, tmp_path):
    model = tmp_path / "m.json"
    result = run(table, *OWN, "--model", "decision_tree", "--split", "rows", "-o", model, "--tune")
    assert result.exit_code == 0, result.output
    assert "other launches of the same programs were in training" in (tmp_path / "m.md").read_text("utf-8")


def test_of_several_models_the_best_is_kept(table, tmp_path):
    model = tmp_path / "m.json"
    result = run(table, *OWN, "--model", "svr", "--model", "linear_regression", "-o", model)
    assert result.exit_code == 0, result.output
    card = json.loads(model.read_text(encoding="utf-8"))["card"]
    assert card["model"]["name"] == "linear_regression"
    assert set(card["figures"]) == {"mean", "svr", "linear_regression"}


def test_files_are_not_overwritten_unasked(table, tmp_path):
    model = tmp_path / "m.json"
    model.write_text("mine")
    result = run(table, *OWN, "--model", "mean", "-o", model)
    assert isinstance(result.exception, OutputExistsError)
    assert model.read_text() == "mine"
    assert run(table, *OWN, "--model", "mean", "-o", model, "--force").exit_code == 0


def test_an_unknown_regressor_is_refused_before_the_work(table, tmp_path):
    result = run(table, *OWN, "--model", "oracle", "-o", tmp_path / "m.json")
    assert isinstance(result.exception, DataError)
    assert not (tmp_path / "m.json").exists()


def test_half_a_description_is_a_usage_error(table, tmp_path):
    result = run(table, "--program-column", "Name", "-o", tmp_path / "m.json")
    assert isinstance(result.exception, UsageError)


def test_one_program_is_refused_by_program(table, tmp_path):
    lines = table.read_text(encoding="utf-8").splitlines()
    table.write_text("\n".join([lines[0], *lines[1::6]]), encoding="utf-8")
    result = run(table, *OWN, "--model", "mean", "-o", tmp_path / "m.json")
    assert isinstance(result.exception, SingleProgramError)


def test_all_are_the_studys_eight_but_for_missing_packages(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "catboost", None)
    monkeypatch.setitem(sys.modules, "torch", None)
    names = train_verb._regressors("all")
    assert set(names) == {
        "random_forest",
        "extra_trees",
        "gradient_boosting",
        "xgboost",
        "decision_tree",
        "svr",
    }
    assert capsys.readouterr().err.count("left out") == 2
    assert train_verb._regressors("svr") == ("svr",)
