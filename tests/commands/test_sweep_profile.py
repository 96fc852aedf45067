"""``sweep`` and ``recommend`` with ``--profile``: one measured launch at other clocks, sizes and GPUs."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.sweep.sweeps import small_sweep
from warpwatt.core.case import Profile
from warpwatt.core.gpu import Clocks
from warpwatt.request.measured import MeasuredLaunches
from warpwatt.sweep.journal import fingerprint

SAXPY = str(Path(__file__).parents[2] / "examples" / "saxpy.cu")
HEAD = "grid,block,duration_us,sm_mhz,memory_mhz,arg:n\n"
BASE = HEAD + "65536,256,1000,1590,5001,16777216\n"
RUNS = "grid,block,duration_us,power_w,idle_w,sm_mhz\n" + "".join(
    f"{blocks},256,{blocks / 10 + 10},60,10,1000\n" for blocks in (1024, 8192, 65536)
)


@pytest.fixture
def rows(run):
    """Return a function: words of a sweep of saxpy to its rows."""

    def sweep(*words):
        code, out, err = run("sweep", SAXPY, "--gpu", "t4", "--format", "json", *words)
        assert code == 0, err
        return json.loads(out)["rows"]

    return sweep


@pytest.mark.parametrize("model", ["roofline", "wang-chu"])
def test_every_row_is_what_predict_says(run, rows, file, model):
    words = ("--model", f"time={model}", "--profile", file("run.csv", BASE))
    swept = rows(*words, "--clock", "800,2500", "--clock", "1590,5001")
    for row, clock in zip(swept, ("800,2500", "1590,5001"), strict=True):
        _, out, _ = run("predict", SAXPY, "--gpu", "t4", *words, "--clock", clock, "--format", "json")
        alone = json.loads(out)["predictions"][0]
        assert row["time_s"] == pytest.approx(alone["time"]["value"], rel=1e-9)
        assert row["time_low_s"] == pytest.approx(alone["time"]["low"], rel=1e-9)
        assert row["energy_j"] == pytest.approx(alone["energy"]["value"], rel=1e-9)
    assert swept[1]["time_s"] == 1e-3  # the measured launch itself


def test_sizes_take_the_ratio_and_the_board_its_clock(rows, file):
    sizes = ("--model", "roofline", "--grid", "n/bx", "--arg", "n=2097152/16777216")
    before = [row["time_s"] for row in rows(*sizes)]
    runs = HEAD.replace("sm_mhz,memory_mhz,", "") + f"65536,256,{before[1] * 1.4e6},16777216\n"
    after = [row["time_s"] for row in rows(*sizes, "--profile", file("run.csv", runs))]
    assert after[1] == pytest.approx(1.4 * before[1], rel=1e-3)
    assert 1.3 < after[0] / before[0] < 1.4


def test_an_application_is_corrected_step_by_step(run, file):
    step = f'[[step]]\nsource = "{SAXPY}"\ngrid = 65536\nblock = 256\nargs = {{ n = 16777216 }}\n'
    words = ("sweep", file("app.toml", step), "--gpu", "t4", "--model", "roofline", "--format", "json")
    profile = ("--clock", "1590,5001", "--profile", file("run.csv", BASE))
    code, out, err = run(*words, *profile)
    assert code == 0, err
    assert json.loads(out)["rows"][0]["time_s"] == pytest.approx(1e-3, rel=1e-3)


def test_recommend_starts_from_the_measured_launch(run, file):
    asked = ("recommend", SAXPY, "--gpu", "t4", "--model", "time=wang-chu", "--clock", "600:1590:330,5001")
    slow = HEAD + "65536,256,9000,1590,5001,16777216\n"  # far from DRAM's bound: the SM clock counts
    words = (*asked, "--objective", "energy", "--format", "json")
    _, plain, _ = run(*words)
    code, out, err = run(*words, "--profile", file("run.csv", slow))
    assert code == 0, err
    (found,) = json.loads(out)["recommendations"]
    assert found["baseline"]["time_s"] == pytest.approx(9e-3, rel=0.2)
    clock = ",".join(str(found["chosen"][f"{kind}_clock_hz"] / 1e6) for kind in ("sm", "memory"))
    own = ("--model", "time=wang-chu", "--clock", clock, "--format", "json")
    _, out, _ = run("predict", SAXPY, "--gpu", "t4", *own, "--profile", file("run.csv", slow))
    alone = json.loads(out)["predictions"][0]["time"]
    assert found["chosen"]["time_s"] == pytest.approx(alone["value"], rel=1e-6)
    assert found["chosen"]["time_high_s"] == pytest.approx(alone["high"], rel=1e-6)
    assert json.loads(plain)["recommendations"][0]["baseline"]["time_s"] < 2e-3


def test_an_unfinished_sweep_goes_on_only_with_the_same_profile():
    sweep = small_sweep()
    launch = Profile("Tesla T4", Clocks(1e9, 1e9), time=1e-3, counters={"inst_executed": 5.0})
    taught = replace(sweep, measured=MeasuredLaunches((launch,)))
    slower = replace(sweep, measured=MeasuredLaunches((replace(launch, time=2e-3),)))
    assert len({str(fingerprint(one)) for one in (sweep, taught, slower)}) == 3


def test_a_gpu_that_runs_other_code_goes_without(run, file):
    table = "grid,block,duration_us,gpu\n65536,256,1000,Tesla T4\n"
    words = ("--model", "roofline", "--profile", file("run.csv", table))
    code, _, err = run("sweep", SAXPY, "--gpu", "h200,t4", *words)
    assert code == 0
    assert err.count("profile not used for NVIDIA H200") == 1


@pytest.mark.parametrize("verb", ["sweep", "recommend"])
@pytest.mark.parametrize("model", ["boughzala-rounds", "power=boughzala"])
def test_a_block_model_says_that_it_knows_no_clocks(run, file, verb, model):
    words = ("--gpu", "t4", "--clock", "800:1000:100", "--profile", file("runs.csv", RUNS))
    code, out, err = run(verb, SAXPY, *words, "--model", "time=roofline", "--model", model)
    assert (code, out) == (1, "")
    assert "knows no clocks: its launches ran at 1000 MHz, 800 MHz is asked for" in err
    assert "fix:" in err


def test_a_block_model_is_swept_over_sizes_and_at_its_own_clock(rows, file):
    words = ("--profile", file("runs.csv", RUNS), "--model", "boughzala", "--clock", "1000")
    swept = rows(*words, "--grid", "n/bx", "--arg", "n=2097152/16777216")
    assert [row["time_s"] for row in swept] == pytest.approx([829.2e-6, 6563.6e-6], rel=1e-4)
    assert [row["power_w"] for row in swept] == pytest.approx([60.0, 60.0], rel=0.02)


def test_what_is_wrong_with_a_profile_is_said(run, file):
    words = ("sweep", SAXPY, "--gpu", "t4")
    assert run(*words, "--profile-arg", "n=1")[0] == 2
    code, _, err = run(*words, "--profile", file("run.csv", "grid,block,duration_us\n1,32,oops\n"))
    assert (code, "run.csv:2" in err) == (1, True)
    other = file("other.csv", "kernel,grid,block,duration_us\ngemm,1,32,5\n")
    code, out, _ = run(*words, "--profile", other)
    assert code == 1
    assert "no measured launch of saxpy" in out
