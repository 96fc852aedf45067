"""Whole programs: what they print, what is predicted of them, and how they end."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from importlib import resources
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jsonschema
import pytest

from tests.run.programs import ENDINGS, ODD, SAXPY, SYSTEM
from warpwatt.core.estimate import Estimate
from warpwatt.render.console import to_text
from warpwatt.render.context import Context
from warpwatt.render.figures import bounds
from warpwatt.render.run.text import _kernels
from warpwatt.run.build import compile_program

pytestmark = pytest.mark.toolchain
TARGETS = ["sm_90", "sm_80"]


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("programs")
    for name, text in (("saxpy", SAXPY), ("endings", ENDINGS), ("system", SYSTEM)):
        (folder / f"{name}.cu").write_text(text)
        compile_program(folder / f"{name}.cu", ["-O1"], TARGETS, folder)
    return folder


def run(*words: object) -> subprocess.CompletedProcess[str]:
    return run_verb("run", *words)


def run_verb(*words: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "warpwatt", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


def verb(*words: object) -> str:
    done = run_verb(*words)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_program_as_people_write_it_runs_and_what_cuda_refuses_is_said(tmp_path):
    (tmp_path / "odd.cu").write_text(ODD)
    done = run("--gpu", "h200", tmp_path / "odd.cu", "-O1")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("x 2 error 0\n")
    table = done.stdout.partition("Kernels\n")[2]
    assert re.search(r"^ +hidden +1 ", table, re.MULTILINE)
    assert re.search(r"^ +apply<.*lambda", table, re.MULTILINE)
    said = " ".join(done.stdout.partition("Not known")[2].split())
    assert "hidden<<<(0,1,1), (256,1,1)>>>: dimension x is 0 (2 launches)" in said
    assert "(2048,1,1)>>>: a block of 2048 threads, but NVIDIA H200 allows 1024" in said
    assert "dynamic<<<(1,1,1), (32,1,1)>>>: 60000 bytes of dynamic shared memory" in said
    assert "hidden<<<(0,1,1), (256,1,1)>>>" in done.stderr


def test_a_program_runs_for_a_gpu_older_than_the_compiler_knows(tmp_path):
    (tmp_path / "old.cu").write_text(
        "__global__ void fill(int *x) { x[threadIdx.x] = 7; }\n"
        "int main() { int *x, y; cudaMalloc(&x, 128); fill<<<1, 32>>>(x);\n"
        "  return cudaMemcpy(&y, x, 4, cudaMemcpyDeviceToHost) || y != 7; }\n"
    )
    done = run("--gpu", "v100", tmp_path / "old.cu")
    assert done.returncode == 0, done.stderr
    assert "in 1 launch" in done.stdout
    assert "no code for sm_70: that for sm_75 stands in" in " ".join(done.stdout.split())


def test_a_program_that_wants_arguments_is_told_where_they_stand(tmp_path):
    (tmp_path / "wants.cu").write_text("int main(int argc, char **) { return argc < 2; }")
    done = run("--gpu", "h200", tmp_path / "wants.cu")
    assert done.returncode == 1
    assert "wants.cu -- ARGS" in done.stderr
    done = run("--gpu", "h200", "-o", tmp_path / "out.json", tmp_path / "wants.cu", "--", "5")
    assert done.returncode == 1
    assert "nothing to predict" in done.stderr
    assert "it did not call CUDA" in done.stderr
    assert not (tmp_path / "out.json").exists()
    assert "Energy" not in done.stdout


def test_a_script_that_uses_pytorch_alone_is_told_that_nothing_of_it_is_predicted(tmp_path):
    """PyTorch is a stand-in of a few lines, which refuses the GPU where PyTorch does."""
    (tmp_path / "torch" / "cuda").mkdir(parents=True)
    (tmp_path / "torch" / "__init__.py").write_text(
        "class Tensor:\n    def cuda(self):\n        cuda._lazy_init()\nfrom torch import cuda\n"
    )
    (tmp_path / "torch" / "cuda" / "__init__.py").write_text(
        "def _lazy_init():\n    raise AssertionError('Torch not compiled with CUDA enabled')\n"
    )
    script = tmp_path / "script.py"
    script.write_text("import torch\nprint(torch.Tensor)\n")
    done = run(sys.executable, script)
    assert done.returncode == 1
    assert "without CUDA" in done.stderr
    assert "Energy" not in done.stdout
    script.write_text("import torch\ntorch.Tensor().cuda()\n")
    done = run(sys.executable, script)
    assert done.returncode == 1
    assert f"error: {script}:2: this PyTorch was built without CUDA (Torch not compiled" in done.stderr
    assert "Traceback" not in done.stderr
    script.write_text("import torch\nraise KeyError('own')\n")
    assert "Traceback" in run(sys.executable, script).stderr


def test_a_program_computes_and_every_launch_is_predicted(programs, tmp_path):
    out, trace = tmp_path / "out.json", tmp_path / "trace.json"
    done = run("--gpu", "h200,a100", "-o", out, "--trace", trace, programs / "saxpy", 100_000, 3)
    assert done.returncode == 0, done.stderr
    said = re.fullmatch(r"ms ([\d.]+) wrong 0 count 6 error 0\n", done.stdout)
    assert said, done.stdout
    found = json.loads(out.read_text())
    schema = resources.files("warpwatt.render").joinpath("schema", "run-1.1.json").read_text(encoding="utf-8")
    jsonschema.validate(found, json.loads(schema))
    first, second = found["runs"]
    (kernel,) = first["kernels"]
    assert (kernel["calls"], first["gpu"], second["gpu"]) == (3, "NVIDIA H200", "NVIDIA A100-SXM4-40GB")
    assert first["launches"] == [0, 0, 0]  # identical launches are predicted once
    assert kernel["time"]["value"] == pytest.approx(3 * found["predictions"][0]["time"]["value"])
    assert float(said[1]) * 1e-3 >= kernel["time"]["value"]
    assert not [a for p in found["predictions"] for a in p["assumptions"] if "contents" in a["parameter"]]
    assert [row["bytes"] for row in first["copies"]] == [800_008, 400_004]
    spans = json.loads(trace.read_text())["traceEvents"]
    assert sum(event["ph"] == "X" for event in spans) == 2 * len(first["spans"])


def test_the_account_fits_eighty_columns():
    spread = Estimate.spread(1.23e-5, {"dram_bandwidth": 0.06}, "s")
    row = SimpleNamespace(
        name="add_rows_of_a_matrix(float*, int)", time=spread, calls=12_000, mean=1.02e-8, power=207.0,
        energy=Estimate.exact(2.53e-3, "J"), limiter="latency (Long Scoreboard)", times=(1.0,),
    )  # fmt: skip
    one: Any = SimpleNamespace(kernels=(row,))
    table = _kernels(one, Context(width=80))
    text = to_text([table], Context(width=80))
    assert max(map(len, text.splitlines())) <= 80
    for whole in ("limited by", "12000", "12.3 µs", bounds(spread), "10.2 ns", "207 W", "2.53 mJ"):
        assert whole in text


def test_the_page_shows_timeline_and_accounts(programs, tmp_path):
    page = tmp_path / "page.html"
    assert run("-o", page, programs / "saxpy", 1000, 1).returncode == 0
    text = page.read_text()
    assert 'class="timeline"' in text
    assert '<a href="#prediction-1"><code>saxpy</code></a>' in text
    assert 'id="prediction-1"' in text


def test_beyond_the_budget_nothing_is_computed_and_that_is_said(programs):
    done = run("--budget", 0, programs / "saxpy", 1000, 1)
    assert "wrong 990" in done.stdout  # those whose x is 0 are right
    assert "not computed: launch 1, saxpy: the budget of 0 s is spent" in done.stderr
    assert "the program ended with status 1" in done.stderr


def test_launches_that_follow_what_was_not_computed_say_so_and_widen(programs):
    """Gathers by a table that a fill has set, and by what a launch should have written, but did not."""
    words = ("--format", "json", programs / "endings", "gather", "again")
    wide, known = (json.loads(run("--budget", budget, *words).stdout) for budget in (0, 100))
    told = "contents that were not computed steer threads"
    assert told in json.dumps(wide)
    assert told not in json.dumps(known)


def test_a_run_ends_after_as_many_launches_as_are_wanted(programs):
    done = run("--launches", 3, "--format", "json", programs / "saxpy", 1000, 7)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["launches"] == 3
    assert found["ended"] == "the program was ended: it has made 3 launches (--launches)"


def test_times_alone_are_those_of_the_computed_run(programs, tmp_path):
    found = []
    for how in ("--computed", "--timing-only"):
        out = tmp_path / f"{how}.json"
        done = run("--gpu", "h200", how, "-o", out, programs / "saxpy", 1_000_000, 3)
        assert done.returncode == (how == "--timing-only"), done.stderr  # the program checks its results
        found.append(json.loads(out.read_text()))
    computed, alone = found
    assert alone["timing_only"]
    assert alone["unknown_reads"] > 0
    assert alone["not_computed"] == 3
    assert not computed["timing_only"]
    assert not computed["not_computed"]
    assert alone["peak_memory"] == computed["peak_memory"]
    assert computed["peak_memory"] == pytest.approx(8_000_000, rel=1e-5)
    times = [one["runs"][0]["kernels"][0]["time"]["value"] for one in found]
    assert times[1] == pytest.approx(times[0], rel=0.01)


@pytest.mark.parametrize(
    ("how", "options", "expected"),
    [
        ("crash", [], "killed by SIGABRT"),
        ("endless", ["--timeout", 2], "2 s of wall time are over"),
        ("busy", ["--timeout", 1], "1 s of wall time are over"),
        ("kernel", ["--timeout", 3, "--budget", 1000], "3 s of wall time are over"),
        ("memory", ["--memory", 300], "it holds more than 300 MiB of memory"),
        ("missing", [], "the program calls cudaGraphicsUnregisterResource, which is not there"),
        ("child", [], "ended with status 3"),
        ("host", [], "killed by SIGSEGV"),
        ("fault", [], ""),
    ],
)
def test_however_a_program_ends_its_launches_are_predicted(programs, how, options, expected):
    done = run(*options, programs / "endings", how)
    assert "fill" in done.stdout
    assert expected in done.stderr
    assert "Traceback" not in done.stderr
    assert done.returncode == (1 if expected else 0)
    if how == "fault":
        assert "cudaErrorIllegalAddress" in done.stdout
        assert "write of 4 bytes at" in done.stderr or "store of 4 bytes at" in done.stderr
    assert not _left(programs / "endings")


def _left(program: Path) -> list[str]:
    """Return the processes that still run a program."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/exe"):
        try:
            found += [entry.parent.name] if entry.readlink() == program else []
        except OSError:
            continue
    return found


def test_a_program_that_is_not_there_is_an_error():
    done = run("./nothing-of-this-name")
    assert done.returncode == 1
    assert "cannot be run" in done.stderr
    assert run("--format", "csv", "x.cu").returncode == 2


def test_a_kept_run_is_predicted_again_without_the_program(programs, tmp_path):
    kept, first, again = (tmp_path / name for name in ("kept", "first.json", "again.json"))
    assert run("--save", kept, "-o", first, programs / "endings", "none").returncode == 0
    assert run("--gpu", "h200,a100", "-o", again, kept).returncode == 0
    before, after = (json.loads(path.read_text())["runs"] for path in (first, again))
    assert before[0]["kernels"][0]["time"] == after[0]["kernels"][0]["time"]
    assert before[0]["spans"] == after[0]["spans"]
    assert after[1]["gpu"] == "NVIDIA A100-SXM4-40GB"
    slower = tmp_path / "slower.json"
    assert run("--clock", 600, "-o", slower, kept).returncode == 0
    (row,) = json.loads(slower.read_text())["runs"][0]["kernels"]
    assert row["time"]["value"] > 1.2 * before[0]["kernels"][0]["time"]["value"]


def test_a_saved_run_is_a_source_for_predict_sweep_and_recommend(programs, tmp_path):
    """All of them say the same of it, and nothing is run or compiled again."""
    kept, first = tmp_path / "kept.run", tmp_path / "first.json"
    assert run("--save", kept, "-o", first, programs / "saxpy", 100_000, 2).returncode == 0
    shown = verb("predict", kept, "--gpu", "h200,a100", "--format", "json")
    whole = verb("sweep", kept, "--gpu", "h200,a100", "--format", "json")
    best = verb("recommend", kept, "--gpu", "h200,a100", "--objective", "energy", "--clock", "900:1500:300")
    assert "saxpy: least energy" in best
    runs, (before,) = json.loads(shown)["runs"], json.loads(first.read_text())["runs"]
    assert runs[0]["spans"] == before["spans"]
    for point, found in zip(json.loads(whole)["rows"], runs, strict=True):
        assert (point["gpu"], point["kernel"]) == (found["gpu"], "saxpy")
        assert point["energy_j"] == pytest.approx(found["energy"], rel=1e-4)
        assert point["time_s"] == pytest.approx(found["busy"] + found["idle"], rel=1e-4)
        assert point["time_low_s"] < point["time_s"] < point["time_high_s"]
    refused = run_verb("predict", kept, "--grid", 8)
    assert "a saved run has its own launches" in refused.stderr


def test_a_measured_launch_corrects_those_like_it(programs, tmp_path):
    kept, profile, out = tmp_path / "kept.wwrun", tmp_path / "measured.csv", tmp_path / "out.json"
    profile.write_text("kernel,grid,block,duration_us,power_w\nsaxpy,4,256,50,500\n")
    verb("run", "--gpu", "h200", "--save", kept, "--profile", profile, "-o", out, programs / "saxpy", 1000, 2)
    for words in (("run", "--gpu", "h200", "--force"), ("predict", "--gpu", "h200", "--force")):
        (kernel,) = json.loads(out.read_text())["runs"][0]["kernels"]
        assert kernel["time"]["value"] == pytest.approx(2 * 50e-6)
        assert kernel["energy"]["value"] == pytest.approx(2 * 50e-6 * 500)
        verb(*words, "--profile", profile, "-o", out, kept)


def test_our_options_may_stand_behind_the_source(programs, tmp_path):
    out = tmp_path / "out.json"
    done = run(programs / "saxpy.cu", "-O1", "--gpu", "a100", "-o", out, "--", 1000, 1)
    assert done.returncode == 0, done.stderr
    assert [found["gpu"] for found in json.loads(out.read_text())["runs"]] == ["NVIDIA A100-SXM4-40GB"]


def test_kernels_print_allocate_and_assert(programs):
    lines = run(programs / "system").stdout.splitlines()
    assert lines[:8] == [
        "hello 7 from 0: ok",
        "hello 7 from 1: ok",
        "between",
        "hello 8 from 0: ok",
        "hello 8 from 1: ok",
        "40 43",
        "96 105",
        "132 SMs, 1980000 kHz",
    ]
    assert "void check(int): block: [0,0,0], thread: [31,0,0] Assertion `threadIdx.x < k` failed." in lines[8]
    assert lines[9] == "cudaErrorAssert"


@pytest.fixture
def interrupts():
    """Have children heed Ctrl-C: a shell that runs tests in the background makes them ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interrupts")
@pytest.mark.parametrize("how", ["busy", "kernel"])
def test_an_interrupted_program_is_accounted_for(programs, how):
    command = [
        sys.executable,
        "-u",
        "-m",
        "warpwatt",
        "run",
        "--budget",
        "1000",
        str(programs / "endings"),
        how,
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        _wait_for(programs / "endings")
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=60)
    assert "fill" in output
    assert "interrupted" in errors
    assert "Traceback" not in errors
    assert process.returncode == 130
    assert not _left(programs / "endings")


def _wait_for(program: Path) -> None:
    """Wait until a program runs, and a little more: it is in its loop then."""
    for _ in range(300):
        if _left(program):
            break
        time.sleep(0.1)
    time.sleep(2)


def test_a_python_script_finds_the_driver_and_its_arguments(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import ctypes, sys\n"
        "count = ctypes.c_int()\n"
        "cuda = ctypes.CDLL('libcuda.so.1')\n"
        "done = cuda.cuInit(0), cuda.cuDeviceGetCount(ctypes.byref(count))\n"
        "print(__name__, sys.argv[1:], *done, count.value)\n"
    )
    for words in ([script, "a", "b"], [sys.executable, script, "a", "b"]):
        assert run(*words).stdout == "__main__ ['a', 'b'] 0 0 1\n"


def test_launches_are_alike_while_what_steers_them_is(programs, tmp_path):
    """Three launches by one table of indices, another after the table was written again."""
    kept, first, again = (tmp_path / name for name in ("kept", "first.json", "again.json"))
    words = ("--l2", "cold", "--save", kept, "-o", first, programs / "endings", "gather")
    assert run(*words).returncode == 0
    launches = json.loads(first.read_text())["runs"][0]["launches"]
    assert launches == [0, 1, 1, 1, 2]
    assert run("--l2", "cold", "-o", again, kept).returncode == 0
    assert json.loads(again.read_text())["runs"][0]["launches"] == launches


def test_slow_paths_are_taken_by_what_memory_holds_when_a_launch_begins(programs, tmp_path):
    """Zeros over zeros, and three times ones over ones, which only a kernel between has written."""
    out = tmp_path / "out.json"
    assert run("--l2", "cold", "-o", out, programs / "endings", "ratio").returncode == 0
    found = json.loads(out.read_text())
    zeros, *ones = (found["predictions"][k]["time"]["value"] for k in found["runs"][0]["launches"][1::2])
    assert zeros > 1.02 * ones[0]
    assert ones == ones[:1] * 3
