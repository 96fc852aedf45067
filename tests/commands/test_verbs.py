"""Every verb and format, as a user types them."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

from warpwatt.gpus import names

EXAMPLES = Path(__file__).parents[2] / "examples"
SAXPY = str(EXAMPLES / "saxpy.cu")


def test_help_names_every_verb_and_loads_nothing_heavy():
    program = (
        "import sys; from warpwatt.commands.main import app\n"
        "try: app.main(['--help'])\n"
        "except SystemExit: pass\n"
        "print(sorted({'numpy', 'rich', 'plotly', 'jinja2', 'elftools'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    for verb in ("predict", "explain", "gpus", "models", "doctor"):
        assert verb in done.stdout
    assert done.stdout.rstrip().endswith("[]")


def test_json_has_the_paths_scripts_rely_on(run):
    code, out, _ = run("predict", SAXPY, "--gpu", "h200,t4", "--format", "json")
    assert code == 0
    predictions = json.loads(out)["predictions"]
    assert [p["gpu"] for p in predictions] == ["NVIDIA H200", "Tesla T4"]
    names = "kernel gpu launch clocks time power energy bottleneck models breakdown lines warnings"
    for prediction in predictions:
        assert set(names.split()) <= set(prediction)
        for quantity, unit in (("time", "s"), ("power", "W"), ("energy", "J")):
            assert set(prediction[quantity]) >= {"value", "low", "high", "unit", "source"}
            assert prediction[quantity]["unit"] == unit


def test_csv_has_one_row_per_gpu(run):
    _, out, _ = run("predict", SAXPY, "--gpu", "h200,t4", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert [row["gpu"] for row in rows] == ["NVIDIA H200", "Tesla T4"]
    assert float(rows[0]["time_s"]) < float(rows[1]["time_s"])


def test_html_is_one_file_that_needs_no_network(run, tmp_path):
    page = tmp_path / "page.html"
    assert run("predict", SAXPY, "-o", page)[0] == 0
    text = page.read_text(encoding="utf-8")
    assert text.lower().startswith("<!doctype html>")
    assert "http://" not in text.replace("http://www.w3.org/", "")
    assert "Energy against SM clock" in text


def test_clock_sweep_of_the_page_can_be_left_out(run, tmp_path):
    page = tmp_path / "page.html"
    assert run("predict", SAXPY, "-o", page, "--no-clock-sweep", "--no-advice")[0] == 0
    text = page.read_text(encoding="utf-8")
    assert "Energy against SM clock" not in text
    assert "No clock sweep was asked for." in text


def test_explain_says_what_limits(run):
    code, out, _ = run("explain", EXAMPLES / "transpose.cu", "--kernel", "naive")
    assert code == 0
    assert "32 sectors per request, 4 would do; stride 16384 B (writing out" in out
    assert "Assumptions" in out


def test_explain_goes_line_by_line_and_says_what_would_help(run):
    _, out, _ = run("explain", EXAMPLES / "transpose.cu", "--kernel", "naive", "--gpu", "a100")
    assert "coalescing the writes of line 13" in out
    assert "Line by line" in out
    line = next(row for row in out.splitlines() if "out[x * n + y + j]" in row)
    assert line.split()[0] == "13"
    assert "for its own load" in out


def test_advice_comes_with_json_and_html_and_where_asked(run):
    asked = ("predict", EXAMPLES / "transpose.cu", "--kernel", "naive", "--gpu", "a100")
    assert "What would help" not in run(*asked)[1]
    assert "What would help" in run(*asked, "--advice")[1]
    told = json.loads(run(*asked, "--format", "json")[1])["predictions"][0]["advice"]
    assert told[0]["kind"] == "coalescing"
    quiet = json.loads(run(*asked, "--format", "json", "--no-advice")[1])["predictions"][0]
    assert quiet["advice"] is None


def test_an_application_totals_its_steps(run):
    code, out, _ = run("predict", EXAMPLES / "pipeline.toml", "--format", "json", "--gpu", "t4")
    assert code == 0
    assert "multiply" in out


def test_all_gpus_are_compared(run):
    quick = ("--model", "roofline", "--level", "ptx")  # every board, not every simulation
    code, out, err = run("predict", SAXPY, "--gpu", "all", "--format", "csv", *quick)
    assert code == 0
    rows = list(csv.DictReader(io.StringIO(out)))
    assert len(rows) >= 60
    assert len(rows) + err.count("left out") == len(names())


def test_several_launches_in_one_source(run):
    _, out, _ = run("predict", EXAMPLES / "matmul.cu", "--format", "json", "--gpu", "t4")
    assert [p["symbol"] for p in json.loads(out)["predictions"]] == [
        "_Z12matmul_naiveiPKfS0_Pf",
        "_Z12matmul_tilediPKfS0_Pf",
    ]


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (["gpus"], "NVIDIA H200"),
        (["gpus", "show", "h200"], "sources"),
        (["gpus", "check"], "GPUs, 0 findings"),
        (["models"], "alavani-reservation"),
        (["doctor"], "nvcc"),
        (["--version"], "warpwatt"),
    ],
)
def test_other_verbs(run, words, shown):
    code, out, _ = run(*words)
    assert code == 0
    assert shown in out


def test_output_is_the_same_byte_for_byte(run):
    assert run("predict", SAXPY, "--format", "json") == run("predict", SAXPY, "--format", "json")


def test_no_colour_when_piped(run):
    assert "\x1b[" not in run("predict", SAXPY)[1]
