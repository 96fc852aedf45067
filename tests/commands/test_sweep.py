"""``sweep`` and ``recommend`` as a user types them, also when the power goes out in the middle."""

from __future__ import annotations

import csv
import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import jsonschema
import pytest

from tests.sweep.sweeps import STREAM
from warpwatt.render.sweep.columns import SCHEMA

pytestmark = pytest.mark.toolchain
ARRAYS = ("--arg", "x=f32[n]", "--arg", "y=f32[n]:zeros")
LAUNCH = ["--grid", "n/(bx*WIDTH)", "--block", "128/256", "--arg", "n=200000", *ARRAYS]
GPU = ("--gpu", "a100-pcie-40gb,a30", "--jobs", "1")


@pytest.fixture
def stream(file):
    return file("stream.cu", STREAM)


def test_csv_has_one_row_per_point_failures_too(run, stream):
    code, out, _ = run("sweep", stream, *GPU, *LAUNCH, "-D", "WIDTH=1,2,3", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert code == 0
    assert len(rows) == 3 * 2 * 2
    assert {row["define.WIDTH"] for row in rows if row["error"]} == {"3"}
    assert all("too wide" in row["error"] for row in rows if row["define.WIDTH"] == "3")
    assert all(float(row["time_s"]) > 0 for row in rows if not row["error"])
    assert {row["grid"] for row in rows if row["define.WIDTH"] == "2"} == {"782,1,1", "391,1,1"}


def test_json_keeps_its_schema(run, stream):
    code, out, _ = run("sweep", stream, *GPU, *LAUNCH, "-D", "WIDTH=1,3", "--format", "json")
    assert code == 0
    jsonschema.validate(json.loads(out), SCHEMA.load())


def test_recommendations_keep_the_schema_too(run, stream):
    words = (
        "recommend",
        stream,
        *GPU,
        *LAUNCH,
        "-D",
        "WIDTH=1,2",
        "--max-slowdown",
        "5%",
        "--format",
        "json",
    )
    code, out, _ = run(*words)
    assert code == 0
    document = json.loads(out)
    jsonschema.validate(document, SCHEMA.load())
    assert [one["gpu"] for one in document["recommendations"]]


def test_a_recommendation_names_clocks_and_runs_nothing(run, stream):
    launch = ("--grid", "n/bx", "--block", "256", "--arg", "n=90000000", *ARRAYS)
    words = ("--gpu", "a30", "--jobs", "1", *launch, "--clock", "600:1440:60")
    code, out, _ = run("recommend", stream, *words, "--objective", "energy")
    assert code == 0
    assert "NVIDIA A30" in out
    assert "nvidia-smi -lgc" in out or "leave it as it is" in out


def test_text_marks_the_best_and_says_what_failed(run, stream):
    code, out, _ = run("sweep", stream, *GPU, *LAUNCH, "-D", "WIDTH=1,2,3")
    assert code == 0
    assert "★" in out
    assert "◆" in out
    assert "4 without result" in out
    assert "too wide" in out


def test_html_is_one_file_that_needs_no_network(run, stream, tmp_path):
    page = tmp_path / "page.html"
    words = ("sweep", stream, *GPU, *LAUNCH, "-D", "WIDTH=1", "--clock", "600:1200:200", "-o", page)
    assert run(*words)[0] == 0
    text = page.read_text(encoding="utf-8")
    assert text.count("<svg") == 4
    assert "<script src" not in text
    assert "http://" not in text.replace("http://www.w3.org/", "")
    assert not page.with_name("page.html.partial").exists()


def test_a_sweep_without_any_result_is_an_error(run, stream):
    code, out, _ = run("sweep", stream, *GPU, *LAUNCH, "-D", "WIDTH=3")
    assert code == 1
    assert "too wide" in out


def test_a_file_of_configurations(run, stream, file):
    configurations = file("c.csv", "WIDTH,block,maxrregcount\n1,64,\n2,128,32\n")
    words = (
        "sweep",
        stream,
        *GPU,
        *LAUNCH[:2],
        *LAUNCH[4:],
        "--define-file",
        configurations,
        "--format",
        "csv",
    )
    code, out, _ = run(*words)
    assert code == 0
    rows = list(csv.DictReader(io.StringIO(out)))
    assert [(r["define.WIDTH"], r["block"], r["maxrregcount"]) for r in rows[::2]] == [
        ("1", "64,1,1", ""),
        ("2", "128,1,1", "32"),
    ]


def test_parquet_without_its_library_is_refused_before_any_work(run, stream, tmp_path, monkeypatch):
    monkeypatch.setattr("warpwatt.render.sweep.parquet.find_spec", lambda _: None)
    code, _, err = run("sweep", stream, *GPU, *LAUNCH, "-o", tmp_path / "out.parquet")
    assert code == 3
    assert "warpwatt[cluster]" in err
    assert list(tmp_path.glob("*.partial")) == []


def test_an_existing_file_is_not_overwritten(run, stream, tmp_path):
    target = tmp_path / "out.csv"
    target.write_text("mine")
    words = ("sweep", stream, *GPU, *LAUNCH, "-D", "WIDTH=1", "-o", target)
    code, _, err = run(*words)
    assert code == 1
    assert "--force" in err
    assert target.read_text() == "mine"
    assert run(*words, "--force")[0] == 0
    assert target.read_text() != "mine"


def start(*words: object) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "warpwatt", "sweep", *map(str, words)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def wait_for_rows(journal, number: int, process: subprocess.Popen[bytes]) -> None:
    """Wait until a journal holds so many rows."""
    for _ in range(6000):
        if journal.exists() and journal.read_bytes().count(b"\n") > number:
            return
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    raise AssertionError("no rows")


def children(pid: int) -> list[str]:
    """Return the processes that one started, where the system tells."""
    file = Path(f"/proc/{pid}/task/{pid}/children")
    return file.read_text().split() if file.exists() else []


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_killed_sweep_goes_on_and_nothing_is_lost_or_doubled(stream, tmp_path, jobs):
    words = (stream, "--gpu", "a100-pcie-40gb,a30", *LAUNCH, "-D", "WIDTH=1,2", "--clock", "300:1400:20")
    words = (*words, "--jobs", jobs, "-o")
    target, other = tmp_path / "killed.csv", tmp_path / "whole.csv"
    journal = tmp_path / "killed.csv.partial"
    process = start(*words, target)
    wait_for_rows(journal, 6, process)  # lines of inputs among them
    workers = children(process.pid)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    kept = journal.read_bytes().count(b"\n") - 1
    assert kept >= 3
    assert not target.exists(), "it was done before it was killed: make the sweep longer"
    again, whole = start(*words, target), start(*words, other)
    _, said = again.communicate()
    whole.communicate()
    assert b"points were done before" in said
    assert int(said.split()[1]) >= 3
    assert target.read_bytes() == other.read_bytes()
    numbers = [row["number"] for row in csv.DictReader(io.StringIO(target.read_text()))]
    assert len(numbers) == len(set(numbers)) == 2 * 2 * 2 * 56
    assert not journal.exists()
    assert not any(Path(f"/proc/{worker}").exists() for worker in workers)  # they ended too


def test_parquet_is_typed_says_units_and_where_it_comes_from(run, stream, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    sizes = ("--arg", "n=100000/200000", *ARRAYS)
    words = ("sweep", stream, *GPU, "--grid", "n/bx", "--block", "256", *sizes, "-D", "WIDTH=1,3")
    assert run(*words, "-o", tmp_path / "out.parquet")[0] == 0
    assert run(*words, "-o", tmp_path / "out.csv")[0] == 0
    table = parquet.read_table(tmp_path / "out.parquet")
    lines = list(csv.DictReader(io.StringIO((tmp_path / "out.csv").read_text())))
    assert table.column_names == list(lines[0])
    for row, line in zip(table.to_pylist(), lines, strict=True):
        for name, text in line.items():
            value = row[name]
            if isinstance(value, bool | int):
                assert int(value) == int(text)
            elif isinstance(value, float):
                assert value == float(text)
            else:
                assert (value or "") == text
    types = {field.name: str(field.type) for field in table.schema}
    assert types["argument.n"] == "int64"
    assert types["time_s"] == "double"
    assert types["define.WIDTH"] == "string"
    assert table.schema.field("energy_low_j").metadata[b"unit"] == b"J"
    assert all(field.metadata[b"description"] for field in table.schema)
    assert b"n=100000/200000" in table.schema.metadata[b"warpwatt.command"]
    assert not (tmp_path / "out.parquet.partial").exists()


def test_several_inputs_share_a_table_and_flags_reach_the_compiler(run, file):
    first, second = (file(name, STREAM) for name in ("a.cu", "b.cu"))
    launch = ("--grid", "n/(2*bx)", *LAUNCH[2:])
    code, out, _ = run("sweep", first, second, *GPU, *launch, "--format", "csv", "--", "-DWIDTH=2")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert code == 0
    assert [row["input"] for row in rows] == [str(first), str(first), str(second), str(second)] * 2
    assert {row["grid"] for row in rows} == {"782,1,1", "391,1,1"}
    one = run("sweep", first, *GPU, *LAUNCH, "-D", "WIDTH=2", "--format", "csv")[1]
    assert [row["time_s"] for row in rows if row["input"] == str(first)] == [
        row["time_s"] for row in csv.DictReader(io.StringIO(one))
    ]
    assert run("sweep", *GPU)[0] == 2


def test_jobs_and_dask_exclude_each_other(run, stream):
    code, _, err = run("sweep", stream, *GPU, *LAUNCH, "--dask", "tcp://127.0.0.1:9")
    assert code == 2
    assert "exclude" in err


CHOICE = ("recommend", "--gpu", "a100-pcie-40gb,a30,t4,h200", "--jobs", "1", "--model", "roofline")
PRICES = """currency = "EUR"
[[offer]]
gpu = "a30"
per_hour = 1.0
source = "s"
[[offer]]
gpu = "t4"
per_hour = 0.4
source = "s"
"""


def test_a_gpu_is_chosen_in_every_format(run, stream, file, tmp_path):
    launch = ("--grid", "n/bx", "--block", "256", "--arg", "n=100000", *ARRAYS)
    words = (*CHOICE, stream, *launch, "--objective", "cost", "--prices", file("p.toml", PRICES))
    code, out, err = run(*words, "--carbon", "0.3kg/kWh")
    assert (code, err) == (0, "")
    assert "EUR/1M runs" in out
    assert "no price in" in out
    code, out, _ = run(*words, "--format", "json")
    document = json.loads(out)
    jsonschema.validate(document, SCHEMA.load())
    ranked = document["gpu_choice"]["candidates"]
    assert [one["rank"] for one in ranked] == [1, 2]
    assert ranked[0]["cost"] <= ranked[1]["cost"]
    code, out, _ = run(*words, "--format", "csv")
    lines = list(csv.DictReader(io.StringIO(out)))
    assert [line["gpu"] for line in lines[:2]] == [one["gpu"] for one in ranked]
    assert {line["gpu"] for line in lines[2:]} == {"NVIDIA H200", "NVIDIA A100-PCIE-40GB"}
    page = tmp_path / "choice.html"
    assert run(*words, "-o", page)[0] == 0
    text = page.read_text()
    assert "<script src" not in text
    assert all(one["gpu"] in text for one in ranked)


def test_objectives_that_need_a_file_say_which(run, stream, file):
    assert "--prices" in run(*CHOICE, stream, *LAUNCH, "--objective", "cost")[2]
    assert "--carbon" in run(*CHOICE, stream, *LAUNCH, "--objective", "carbon")[2]
    bad = file("p.toml", PRICES.replace("per_hour = 0.4", "per_hour = -4"))
    code, _, err = run(*CHOICE, stream, *LAUNCH, "--prices", bad)
    assert code == 1
    assert f"{bad}:6: offer 2: per_hour is -4" in err
