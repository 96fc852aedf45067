"""``warpwatt compare`` as users type it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import jsonschema
import pytest

from warpwatt.render.compare.json import SCHEMA

EXAMPLES = Path(__file__).parents[2] / "examples"
SAXPY, TRANSPOSE = str(EXAMPLES / "saxpy.cu"), str(EXAMPLES / "transpose.cu")
KERNELS = (TRANSPOSE, "--gpu", "a100", "--kernel")


def test_two_kernels_of_one_file(run):
    code, out, _ = run("compare", *KERNELS, "naive/shared")
    assert code == 0
    assert re.search(r"time +\d.*−\d\d %.*faster", out)
    assert "coalescing" in out
    assert re.search(r"13→22 +~ .*tile\[threadIdx", out)
    assert "sectors per request 32 → 4" in re.sub(r"\s+", " ", out)
    assert "\x1b[" not in out


def test_json_follows_its_schema(run):
    _, out, _ = run("compare", *KERNELS, "naive/shared", "--format", "json")
    document = json.loads(out)
    jsonschema.Draft202012Validator.check_schema(SCHEMA.load())
    jsonschema.validate(document, SCHEMA.load())
    assert document["$schema"] == SCHEMA.url
    found = document["comparisons"][0]
    assert found["time"]["verdict"] == "faster"
    assert found["time"]["ratio"]["value"] == pytest.approx(
        found["new"]["time"]["value"] / found["old"]["time"]["value"]
    )
    broken = json.loads(out)
    del broken["comparisons"][0]["time"]["ratio"]
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(broken, SCHEMA.load())


def test_github_warns_of_what_became_worse_where_it_did(run, monkeypatch):
    monkeypatch.chdir(EXAMPLES.parent)
    _, out, _ = run("compare", *KERNELS, "shared/naive", "--format", "github")
    first = out.splitlines()[0]
    assert first.startswith("::warning file=examples/transpose.cu,line=13,title=")
    assert " %25" in out
    assert "%0A" in first
    _, out, _ = run("compare", *KERNELS, "naive/shared", "--format", "github")
    assert out.startswith("::notice ")


def test_html_is_one_file(run, tmp_path):
    page = tmp_path / "page.html"
    assert run("compare", *KERNELS, "naive/shared", "-o", page)[0] == 0
    text = page.read_text(encoding="utf-8")
    assert "http" not in text.replace("http-equiv", "").replace("http://www.w3.org/2000/svg", "")
    assert "<script src" not in text
    assert "default-src &#39;none&#39;; script-src &#39;sha256-" in text
    assert "Clock sweep" in text
    assert "tile[threadIdx.y + j][threadIdx.x]" in text
    assert run("compare", *KERNELS, "naive/shared", "-o", page)[0] == 1  # it is there


def test_two_gpus_and_two_clocks(run):
    _, out, _ = run("compare", SAXPY, "--gpu", "h200,t4")
    assert "old h200\nnew t4\n" in out
    assert "NVIDIA H200 → Tesla T4" in out
    _, out, _ = run("compare", SAXPY, "--clock", "1980/900")
    assert "old clock 1980\nnew clock 900\n" in out
    assert re.search(r"SM clock +1.98 GHz +900 MHz +−55 %", out)


def test_two_files_take_the_launch_of_the_one_that_has_it(run, tmp_path):
    new = tmp_path / "saxpy.cu"
    lines = Path(SAXPY).read_text().splitlines()
    new.write_text("\n".join(line for line in lines if "warpwatt" not in line).replace("a * x[i]", "x[i]"))
    code, out, _ = run("compare", SAXPY, new)
    assert code == 0
    assert re.search(r"\d→\d +~ .*y\[i\] = x\[i\] \+ y\[i\]", out)


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ([SAXPY], 2, "nothing to compare with"),
        ([SAXPY, "--gpu", "all"], 2, "two GPUs"),
        ([SAXPY, SAXPY, "--commits", "HEAD"], 2, "two files and two commits"),
        ([SAXPY, "--commits", "A..B..C"], 1, "not two commits"),
        ([SAXPY, "nothing.cu"], 1, "nothing.cu"),
        ([SAXPY, "--clock", "1980/fast"], 1, "not a clock"),
        ([SAXPY, "--gpu", "h200,nonesuch"], 3, "nonesuch"),
    ],
)
def test_refusals(run, words, code, said):
    found, _, err = run("compare", *words)
    assert found == code
    assert said in err


def test_a_compilers_flag_is_no_second_file(run):
    code, out, _ = run("compare", SAXPY, "--gpu", "h200,t4", "--", "-lineinfo")
    assert code == 0
    assert "old h200\n" in out
