"""``--profile``: a measured launch on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

SAXPY = str(Path(__file__).parents[2] / "examples" / "saxpy.cu")
HEAD = "grid,block,duration_us,arg:n\n"


@pytest.fixture
def seconds(run):
    """Return a function: options to (seconds, source, everything predicted)."""

    def predict(*options):
        code, out, err = run(
            "predict", SAXPY, "--gpu", "t4", "--model", "roofline", "--format", "json", *options
        )
        assert code == 0, err
        found = json.loads(out)["predictions"][0]
        return found["time"]["value"], found["time"]["source"], found

    return predict


def test_the_measured_launch_is_measured(seconds, file):
    run_csv = file("run.csv", HEAD + "65536,256,1000,16777216\n")
    value, source, found = seconds("--profile", run_csv)
    assert (value, source) == (1e-3, "measured")
    assert found["profile"]["time"] == 1e-3
    assert any("run.csv:2" in warning for warning in found["warnings"])


def test_another_size_takes_the_ratio(seconds, file):
    plain, _, _ = seconds()
    small = ("--grid", "8192", "--arg", "n=2097152")
    before, _, _ = seconds(*small)
    run_csv = file("run.csv", HEAD + f"65536,256,{plain * 1.4e6},16777216\n")
    after, source, _ = seconds("--profile", run_csv, *small)
    assert 1.3 < after / before < 1.4
    assert source == "modelled"


def test_an_argument_typed_for_the_measured_launch(seconds, file):
    run_csv = file("run.csv", "grid,block,duration_us\n65536,256,1000\n")
    small = ("--grid", "8192", "--arg", "n=2097152", "--profile", run_csv)
    assert seconds(*small, "--profile-arg", "n=16777216")[1] == "modelled"


def test_a_lower_clock_starts_from_the_measured_time(seconds, file):
    run_csv = file("run.csv", "grid,block,duration_us,sm_mhz,memory_mhz\n65536,256,1000,1590,5001\n")
    same, source, _ = seconds("--profile", run_csv, "--clock", "1590,5001")
    assert (same, source) == (1e-3, "measured")
    half = seconds("--profile", run_csv, "--clock", "1590,2500.5")[0]
    assert 1.8e-3 < half < 2.1e-3


@pytest.mark.parametrize(
    ("content", "options", "words"),
    [
        ("grid,block,duration_us\n1,32,\n", (), "run.csv:1"),
        ("grid,block,duration_us\n1,32,oops\n", (), "run.csv:2"),
        ("kernel,grid,block,duration_us\ngemm,1,32,5\n", (), "no measured launch of saxpy"),
        ("grid,block,duration_us\n65536,256,1000\n", ("--grid", "8192"), "--profile-arg"),
    ],
)
def test_errors_are_typed(run, file, content, options, words):
    path = file("run.csv", content)
    code, out, err = run("predict", SAXPY, "--gpu", "t4", "--profile", path, *options)
    assert (code, out) == (1, "")
    assert words in err
    assert "fix:" in err


def test_an_argument_without_a_profile_is_a_mistake(run):
    assert run("predict", SAXPY, "--profile-arg", "n=1")[0] == 2


def test_a_gpu_of_another_capability_goes_without(run, file):
    path = file("run.csv", "grid,block,duration_us,gpu\n65536,256,1000,Tesla T4\n")
    code, _, err = run("predict", SAXPY, "--gpu", "h200,t4", "--model", "roofline", "--profile", path)
    assert code == 0
    assert "profile not used for NVIDIA H200" in err
