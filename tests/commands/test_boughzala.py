"""``--model boughzala`` on the command line: three measured sizes, or three predicted ones."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

SAXPY = str(Path(__file__).parents[2] / "examples" / "saxpy.cu")
RUNS = "grid,block,duration_us,power_w,idle_w\n1024,256,110,60,10\n4096,256,410,60,10\n65536,256,6554,60,10\n"
ASKED = ("--gpu", "t4", "--grid", "8192", "--arg", "n=2097152")


@pytest.mark.parametrize("model", ["boughzala", "boughzala-rounds", "boughzala-resident"])
def test_time_and_power_from_three_runs(run, file, model):
    runs = file("runs.csv", RUNS)
    code, out, err = run(
        "predict", SAXPY, *ASKED, "--model", model, "--profile", runs, "--format", "json"
    )  # fmt: skip
    assert code == 0, err
    found = json.loads(out)["predictions"][0]
    assert found["models"] == {"time": model, "power": model}
    assert found["time"]["value"] == pytest.approx(0.8196e-3, rel=0.02)
    assert found["power"]["value"] == pytest.approx(60.0, rel=0.02)  # component says 46 W
    assert found["energy"]["value"] == pytest.approx(0.8196e-3 * 60.0, rel=0.02)
    assert any("3 measured launches of 1024 to 65536 blocks" in warning for warning in found["warnings"])


def test_power_beside_another_time_model(run, file):
    options = ("--model", "power=boughzala", "--model", "time=roofline", "--format", "json")
    runs = RUNS.replace("idle_w", "idle_w,arg:n", 1).replace("60,10\n", "60,10,2097152\n")
    code, out, err = run("predict", SAXPY, *ASKED, "--profile", file("runs.csv", runs), *options)
    assert code == 0, err
    assert json.loads(out)["predictions"][0]["models"]["power"] == "boughzala"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "needs three measured grids"),
        ("grid,block,duration_us\n64,256,1\n64,256,1\n64,256,1\n", "not 1"),
        ("grid,block,duration_us\n64,256,3\n128,256,2\n256,256,1\n", "do not grow"),
        ("grid,block,duration_us\n64,256,1\n128,256,2\n256,256,4\n", "no power"),
    ],
)
def test_what_is_missing_is_said(run, file, content, words):
    profile = () if content is None else ("--profile", file("runs.csv", content))
    code, out, err = run("predict", SAXPY, *ASKED, "--model", "boughzala", *profile)
    assert (code, out) == (1, "")
    assert words in err
    assert "fix:" in err


def test_our_own_predictions_may_be_fitted_and_are_called_so(run, file):
    tables = []
    for blocks in (512, 8192, 65536):
        options = ("--grid", str(blocks), "--arg", f"n={blocks * 256}", "--gpu", "t4", "--model", "roofline")
        tables.append(run("predict", SAXPY, *options, "--format", "csv")[1])
    own = file("own.csv", "".join(tables))  # joined as by cat, each with its header
    code, out, err = run(
        "predict", SAXPY, *ASKED, "--model", "boughzala", "--profile", own, "--format", "json"
    )
    assert code == 0, err
    found = json.loads(out)["predictions"][0]
    assert any("predicted, not measured" in warning for warning in found["warnings"])
    _, plain, _ = run("predict", SAXPY, *ASKED, "--model", "roofline", "--format", "json")
    assert found["time"]["value"] == pytest.approx(
        json.loads(plain)["predictions"][0]["time"]["value"], rel=0.05
    )


def test_models_lists_them(run):
    out = run("models")[1]
    assert {"time=boughzala", "time=boughzala-rounds", "time=boughzala-resident", "power=boughzala"} <= set(
        out.split()
    )
