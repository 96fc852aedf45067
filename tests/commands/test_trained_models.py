"""From features to a table, from the table to a model, from the model back to predictions of a kernel."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from warpwatt.models.trained.file import read, write

NN = Path(__file__).parents[1] / "published" / "alavani" / "data" / "nn_sm_35.ptx"
K20 = ["--gpu", "k20", "--block", "256", "--arg", "euclid_param_2=43008"]
GRIDS = (13, 26, 52, 104, 130, 168, 208, 260, 312, 416)


def watts(blocks: int) -> float:
    return 50.0 + 0.2 * blocks


@pytest.fixture
def table(run, tmp_path):
    """Return a table of ten launches with made-up measurements, in the layout of ``warpwatt features``."""
    rows = []
    for i, blocks in enumerate(GRIDS):
        words = ["--grid", blocks, "--convention", "published", "--format", "csv"]
        code, out, err = run("features", NN, *K20, *words)
        assert code == 0, err
        (row,) = csv.DictReader(io.StringIO(out))
        measured = {"power": watts(blocks), "time": blocks * 1e-7, "energy": watts(blocks) * blocks * 1e-7}
        rows.append({**row, **measured, "program": f"p{i % 5}"})
    path = tmp_path / "table.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


@pytest.fixture
def train(run, table, tmp_path):
    """Return a function that trains a model and returns its file."""

    def trained(*words: object, name: str = "linear_regression") -> Path:
        path = tmp_path / "model.json"
        fixed = ["--features", "grid_size", "--seeds", 1, "--force", "-o", path]
        code, _, err = run("train", table, "--model", name, *fixed, *words)
        assert code == 0, err
        return path

    return trained


def predicted(run, *words):
    code, out, err = run("predict", NN, *K20, "--format", "json", *words)
    assert code == 0, err
    (prediction,) = json.loads(out)["predictions"]
    return prediction


def test_a_trained_power_model_predicts_a_kernel(run, train):
    model = train()
    found = predicted(run, "--grid", 100, "--model", f"power={model}")
    assert found["power"]["value"] == pytest.approx(watts(100))
    assert found["models"]["power"] == str(model)
    assert not [text for text in found["warnings"] if "model.json" in text]
    assert any("was learned from measurements" in one["text"] for one in found["explanation"])
    assert predicted(run, "--grid", 100, "--model", model)["power"]["value"] == pytest.approx(watts(100))


def test_time_and_energy_models_too(run, train):
    found = predicted(run, "--grid", 104, "--model", train("--target", "time", name="decision_tree"))
    assert found["time"]["value"] == pytest.approx(104e-7, rel=0.7)
    found = predicted(run, "--grid", 104, "--model", train("--target", "energy", name="decision_tree"))
    assert found["energy"]["value"] == pytest.approx(watts(104) * 104e-7, rel=0.7)
    power = found["energy"]["value"] / found["time"]["value"]
    assert found["power"]["value"] == pytest.approx(power)


def test_outside_the_range_of_training_it_warns_and_widens(run, train):
    model = train(name="decision_tree")
    inside = predicted(run, "--grid", 300, "--model", f"power={model}")["power"]
    outside = predicted(run, "--grid", 5000, "--model", f"power={model}")
    assert any("grid_size 5000 (13 to 416)" in text for text in outside["warnings"])
    assert outside["power"]["high"] / outside["power"]["value"] > 1.2 * inside["high"] / inside["value"]


def test_a_model_without_clocks_says_so_and_widens_at_another_clock(run, train):
    model = train(name="decision_tree")
    usual = predicted(run, "--grid", 104, "--model", f"power={model}")
    slow = predicted(run, "--grid", 104, "--model", f"power={model}", "--clock", "353,2600")
    assert not any("knows no clocks" in text for text in usual["warnings"])
    assert any("knows no clocks" in text for text in slow["warnings"])
    assert slow["power"]["low"] < 0.5 * usual["power"]["low"]


def test_another_gpu_is_said_to_be_a_guess(run, train):
    words = ["predict", NN, "--gpu", "m60", "--grid", 100, "--block", 256, "--arg", "euclid_param_2=43008"]
    code, out, _ = run(*words, "--model", f"power={train()}", "--format", "json")
    assert code == 0
    (found,) = json.loads(out)["predictions"]
    assert any("trained on Tesla K20" in text for text in found["warnings"])


def test_the_interval_is_the_cards_error(run, train):
    model = train(name="decision_tree")
    card = read(model).card
    write(model, {**card, "spread": 0.5}, json.loads(model.read_text(encoding="utf-8"))["model"])
    wide = predicted(run, "--grid", 104, "--model", f"power={model}")["power"]
    assert wide["high"] / wide["value"] == pytest.approx(1.9, rel=0.05)  # exp(1.2816 * 0.5)


@pytest.mark.parametrize(
    ("target", "asked", "message"),
    [("power", "time", "predicts power, not time"), ("time", "power", "predicts time, not power")],
)
def test_a_model_of_something_else_is_refused(run, train, target, asked, message):
    model = train("--target", target)
    code, _, err = run("predict", NN, *K20, "--grid", 100, "--model", f"{asked}={model}")
    assert code == 1
    assert message in err
    assert f"fix: --model {target}=" in err


def test_features_that_nothing_computes_are_named(run, table, tmp_path):
    text = table.read_text(encoding="utf-8").replace("grid_size", "my_counter")
    table.write_text(text, encoding="utf-8")
    model = tmp_path / "m.json"
    own = ["--program-column", "program", "--target-column", "power", "--features", "my_counter"]
    assert run("train", table, *own, "--model", "linear_regression", "-o", model)[0] == 0
    code, _, err = run("predict", NN, *K20, "--grid", 100, "--model", f"power={model}")
    assert code == 1
    assert "nothing here computes my_counter" in err


def test_no_file_is_an_input_error(run, tmp_path):
    code, _, err = run("predict", NN, *K20, "--grid", 100, "--model", f"power={tmp_path / 'none.json'}")
    assert code == 1
    assert "cannot be read" in err


def test_reasons_lead_from_the_mean_to_the_prediction(run, train):
    code, out, _ = run("explain", NN, *K20, "--grid", 100, "--model", f"power={train(name='decision_tree')}")
    assert code == 0
    (line,) = [text for text in out.splitlines() if text.split()[:1] == ["grid_size"]]
    assert "13 to 416" in line
    title = next(text for text in out.splitlines() if text.startswith("What pushes power"))
    value, mean = (float(word) for word in title.replace("(", "").split() if word[0].isdigit())
    assert float(line.split()[5]) == pytest.approx(value - mean, abs=0.6)


def test_the_shipped_model_predicts_its_three_gpus_and_refuses_others(run):
    for gpu, low, high in (("k20", 40, 200), ("m60", 35, 120), ("v100", 35, 210)):
        code, out, _ = run(
            "predict",
            NN,
            "--gpu",
            gpu,
            "--grid",
            168,
            *K20[2:],
            "--model",
            "power=alavani",
            "--format",
            "json",
        )
        assert code == 0
        (found,) = json.loads(out)["predictions"]
        assert low < found["power"]["value"] < high
    code, _, err = run("predict", NN, "--gpu", "h200", "--grid", 168, *K20[2:], "--model", "power=alavani")
    assert code == 3
    assert "was not trained for NVIDIA H200" in err


def test_a_model_is_carried_over_to_another_gpu(run, train, table, tmp_path):
    rows = list(csv.DictReader(table.open(encoding="utf-8")))
    there = tmp_path / "there.csv"
    with there.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows({**row, "gpu": "NVIDIA H200", "power": 10 * float(row["power"])} for row in rows)
    new = tmp_path / "h200.json"
    code, out, err = run("train", there, "--transfer", train(), "-o", new)
    assert code == 0, err
    assert "(kept)" in out
    words = ["--gpu", "h200", "--grid", 100, "--block", 256, "--arg", "euclid_param_2=43008"]
    code, out, err = run("predict", NN, *words, "--model", f"power={new}", "--format", "json")
    assert code == 0, err
    (found,) = json.loads(out)["predictions"]
    assert found["power"]["value"] == pytest.approx(10 * watts(100))
    code, _, err = run("train", there, "--transfer", new, "--select", "-o", tmp_path / "x.json")
    assert code == 2


def test_features_are_selected_and_dwarfs_shown(run, table, tmp_path):
    text = table.read_text(encoding="utf-8").splitlines()
    lines = [f"{text[0]},class", *(f"{line},{'even' if i % 2 else 'odd'}" for i, line in enumerate(text[1:]))]
    table.write_text("\n".join(lines), encoding="utf-8")
    model = tmp_path / "m.json"
    own = ["--program-column", "program", "--target-column", "power", "--dwarf-column", "class", "--seeds", 1]
    page = tmp_path / "m.html"
    words = [*own, "--select", "--model", "extra_trees", "-o", model, "--report", page]
    code, out, err = run("train", table, *words)
    assert code == 0, err
    html = page.read_text(encoding="utf-8")
    assert "Not learned from: comp_lat_sm" in html
    assert "power by dwarf" in html
    assert "not learned from: comp_lat_sm" in err
    assert [line.split()[0] for line in out.splitlines() if line.startswith(("even", "odd"))] == [
        "even",
        "odd",
    ]
    assert "power" not in read(model).features
    assert json.loads(model.read_text(encoding="utf-8"))["card"]["not learned from"]


def test_counters_come_from_the_profile(run, table, tmp_path):
    text = table.read_text(encoding="utf-8").replace("grid_size", "my_counter")
    table.write_text(text, encoding="utf-8")
    model, profile = tmp_path / "m.json", tmp_path / "profile.csv"
    own = ["--program-column", "program", "--target-column", "power", "--features", "my_counter"]
    assert run("train", table, *own, "--model", "linear_regression", "--gpu", "k20", "-o", model)[0] == 0
    profile.write_text(
        "kernel,gpu,sm_mhz,memory_mhz,grid,block,duration_us,My Counter\neuclid,K20,706,2600,168,256,9,208\n",
        encoding="utf-8",
    )
    code, out, err = run(
        "predict",
        NN,
        *K20,
        "--grid",
        168,
        "--model",
        f"power={model}",
        "--profile",
        profile,
        "--format",
        "json",
    )
    assert code == 0, err
    (found,) = json.loads(out)["predictions"]
    assert found["power"]["value"] == pytest.approx(watts(208))
