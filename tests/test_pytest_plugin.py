"""The pytest plugin, in runs of pytest of its own."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

import warpwatt

pytest_plugins = ["pytester"]
SAXPY = Path(__file__).parents[1] / "examples" / "saxpy.cu"
INSTALLED = bool(list(entry_points(group="pytest11", name="warpwatt")))


@pytest.fixture(scope="module", autouse=True)
def _loaded():
    """Predict once out here: inner runs forget the modules they load, and numpy cannot be loaded twice."""
    warpwatt.predict_all(SAXPY, gpu="h200,a100,t4")


@pytest.fixture
def outcome(pytester):
    """Return a function that runs a test file and returns what pytest says."""

    def run(body: str, *words: str) -> pytest.RunResult:
        head = f"import pytest\nfrom warpwatt.units import *\nSAXPY = {str(SAXPY)!r}\n"
        pytester.makepyfile(head + body)
        loaded = () if INSTALLED else ("-p", "warpwatt.pytest_plugin")
        return pytester.runpytest_inprocess(*loaded, "-p", "no:cacheprovider", "--strict-markers", *words)

    return run


def test_assertions_hold_and_fail_with_reasons(outcome):
    result = outcome(
        """
def test_good(warpwatt):
    kernel = warpwatt(SAXPY)
    assert kernel.energy < 1 * J
    assert kernel.time.high > kernel.time > kernel.time.low
    assert kernel.spills == 0
    assert kernel.occupancy >= 50 * percent
    assert kernel.coalescing == pytest.approx(1)
    assert kernel.bottleneck == "DRAM bandwidth"
    assert kernel.energy == pytest.approx(kernel.power * kernel.time, rel=0.05)

def test_bad(warpwatt):
    assert warpwatt(SAXPY).energy < 2 * mJ

def test_careful(warpwatt):
    assert warpwatt(SAXPY).time.high <= 20 * us
"""
    )
    result.assert_outcomes(passed=1, failed=2)
    result.stdout.re_match_lines(
        [
            r"E +assert [\d.]+ mJ < 2.00 mJ",
            r"E +energy of saxpy\(int.*\) on NVIDIA H200: [\d.]+ mJ \(.*holds 80 %\)",
            r"E +limited by DRAM bandwidth",
            r"E +\d+ % of the energy at .*saxpy.cu:7: if \(i < n\) y\[i\]",
        ],
        consecutive=True,
    )
    result.stdout.re_match_lines([r"E +assert [\d.]+ µs \(high end\) <= 20.0 µs"])


def test_the_marker_runs_a_test_on_every_gpu(outcome):
    result = outcome(
        """
pytestmark = pytest.mark.warpwatt(gpu="t4", clock=900)

@pytest.mark.warpwatt(gpu="h200, a100")
def test_both(warpwatt):
    kernel = warpwatt(SAXPY)
    assert kernel.prediction.case.clocks.sm == 900 * MHz
    print("ran on", kernel.gpu)

def test_module(warpwatt):
    assert warpwatt(SAXPY).gpu == "Tesla T4"
    assert warpwatt(SAXPY, gpu="h200").gpu == "NVIDIA H200"

def test_without_predictions():
    pass
""",
        "-rA",
        "-v",
    )
    result.assert_outcomes(passed=4)
    result.stdout.fnmatch_lines(["*test_both?h200? PASSED*", "*test_both?a100? PASSED*"])
    result.stdout.fnmatch_lines_random(["ran on NVIDIA H200", "ran on NVIDIA A100*"])


def test_paths_are_beside_the_test_file_and_errors_are_typed(outcome, pytester):
    pytester.makefile(".cu", here=SAXPY.read_text())
    result = outcome(
        """
from warpwatt.core.errors import WarpWattError

def test_beside(warpwatt, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert warpwatt("here.cu").time > 0
    with pytest.raises(WarpWattError, match="nothing.cu"):
        warpwatt("nothing.cu")
    with pytest.raises(AttributeError, match="a kernel has no 'tiem'; it has time"):
        warpwatt("here.cu").tiem
"""
    )
    result.assert_outcomes(passed=1)


def test_the_setting_names_the_gpu(outcome, pytester):
    pytester.makeini("[pytest]\nwarpwatt_gpu = t4\n")
    outcome("def test_it(warpwatt):\n    assert warpwatt(SAXPY).gpu == 'Tesla T4'\n").assert_outcomes(
        passed=1
    )


def test_a_marker_without_names_is_refused(outcome):
    result = outcome('@pytest.mark.warpwatt("h200")\ndef test_it(warpwatt):\n    pass\n')
    result.stdout.fnmatch_lines_random(["*name what you say*"])
    assert result.ret != 0


def test_who_does_not_predict_loads_nothing():
    program = (
        "import sys, pytest\nbefore = set(sys.modules)\nimport warpwatt.pytest_plugin\n"
        "print(sorted(set(sys.modules) - before))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    ours = ["warpwatt", "warpwatt.core", "warpwatt.core.version", "warpwatt.pytest_plugin"]
    assert done.stdout.strip() == str(ours)
