"""``warpwatt features``: three formats of the same numbers, and what it refuses."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import jsonschema
import pytest

from warpwatt.published.alavani.features import NAMES
from warpwatt.published.alavani.features.described import descriptions
from warpwatt.published.alavani.features.report import SCHEMA

NN = Path(__file__).parents[2] / "tests" / "published" / "alavani" / "data" / "nn_sm_35.ptx"
LAUNCH = ["--grid", "168", "--block", "256", "--arg", "euclid_param_2=43008"]


def test_every_feature_is_described_in_the_order_of_the_table():
    assert tuple(descriptions()) == NAMES


def test_the_text_has_both_conventions_beside_each_other_in_80_columns(run):
    code, out, _ = run("features", NN, "--gpu", "k20", *LAUNCH)
    assert code == 0
    tables, _, assumed = out.partition("Assumptions")
    assert max(map(len, tables.splitlines())) <= 80
    assert "no compiler for sm_35" in assumed or "not given" in assumed
    assert "comp_inst_kernel *        19         19          A9        k(C)" in out
    assert "inst_issue_cycles *     2016        112          (5.1)" in out


def test_csv_and_json_hold_the_same_numbers(run):
    words = ["features", NN, "--gpu", "k20", "--convention", "published", *LAUNCH, "--format"]
    code, out, _ = run(*words, "csv")
    assert code == 0
    (row,) = csv.DictReader(io.StringIO(out))
    assert (row["program"], row["gpu"], row["convention"]) == ("nn_sm_35", "Tesla K20", "published")
    assert (row["comp_inst_sm"], row["inst_issue_cycles"], row["sm_active"]) == ("38", "112", "256")
    document = json.loads(run(*words, "json")[1])
    jsonschema.validate(document, SCHEMA.load())
    (found,) = document["features"]
    for value in found["values"]:
        assert float(row[value["name"]]) == pytest.approx(value["value"], rel=1e-5)
    by_name = {value["name"]: value for value in found["values"]}
    assert by_name["inst_issue_cycles"]["equation"] == "(5.1)"
    assert sum(value["final"] for value in found["values"]) == 15


def test_other_gpus_have_the_thesis_convention_only(run):
    code, out, _ = run("features", NN, "--gpu", "v100,h200", *LAUNCH, "--format", "csv")
    assert code == 0
    rows = list(csv.DictReader(io.StringIO(out)))
    assert [row["convention"] for row in rows] == ["thesis", "published", "thesis"]
    assert rows[1]["glb_penalty"] == ""
    words = ["features", NN, "--gpu", "h200", "--convention", "published", *LAUNCH]
    code, out, _ = run(*words, "--format", "json")
    (found,) = json.loads(out)["features"]
    assert any("no table was released for NVIDIA H200" in text for text in found["assumptions"])
    values = {value["name"]: value["value"] for value in found["values"]}
    assert (values["sm_active"], values["glob_inst_kernel"]) == (256, 8)


def test_a_file_is_not_overwritten_unasked(run, file):
    path = file("f.csv", "mine")
    code, _, err = run("features", NN, "--gpu", "k20", *LAUNCH, "-o", path)
    assert code == 1
    assert "--force" in err
    assert path.read_text() == "mine"
    assert run("features", NN, "--gpu", "k20", *LAUNCH, "-o", path, "--force")[0] == 0
    assert path.read_text().startswith("program,kernel,gpu,convention,avg_comp_lat")
