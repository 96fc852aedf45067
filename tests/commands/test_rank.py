"""``warpwatt rank`` as users type it."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import jsonschema
import pytest

from warpwatt.render.rank.json import SCHEMA

COPY = """.version 8.0
.target sm_80
.address_size 64
.visible .entry copy(.param .u64 x) {{
    .reg .b32 %r<5>;
    .reg .b64 %rd<5>;
    .reg .f32 %f<2>;
    ld.param.u64 %rd1, [x];
    cvta.to.global.u64 %rd2, %rd1;
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mov.u32 %r3, %tid.x;
    mad.lo.s32 %r4, %r1, %r2, %r3;
    mul.wide.u32 %rd3, %r4, {stride};
    add.s64 %rd4, %rd2, %rd3;
    ld.global.f32 %f1, [%rd4];
    st.global.f32 [%rd4], %f1;
    ret;
}}
"""
LAUNCH = ("--grid", "4096", "--block", "256", "--arg", "x=f32[8388608]", "--gpu", "a100")
MODEL = ("--level", "ptx", "--model", "time=roofline")


@pytest.fixture(autouse=True)
def sources(tmp_path, monkeypatch):
    """Write a dense copy and one that spreads over memory; PTX, which takes no compiler of C++."""
    monkeypatch.chdir(tmp_path)
    for name, stride in (("dense", "4"), ("spread", "32"), ("broken", "4, what?")):
        Path(f"{name}.ptx").write_text(COPY.format(stride=stride))


def test_the_faster_of_two_files_is_taken(run):
    code, out, _ = run("rank", "spread.ptx", "dense.ptx", "--format", "json", *LAUNCH, *MODEL)
    assert code == 0
    document = json.loads(out)
    jsonschema.Draft202012Validator.check_schema(SCHEMA.load())
    jsonschema.validate(document, SCHEMA.load())
    ranking = document["rankings"][0]
    assert (ranking["decision"], ranking["take"]) == ("take", "dense.ptx")
    first, second = ranking["order"]
    assert first["better_than_next"] + second["better_than_first"] == pytest.approx(1.0)
    assert second["ratio_to_first"] == pytest.approx(second["time"]["value"] / first["time"]["value"])
    broken = json.loads(out)
    del broken["rankings"][0]["order"][0]["better_than_next"]
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(broken, SCHEMA.load())


def test_equal_candidates_are_deferred_and_values_taken_side_by_side(run):
    clocks = ("--clock", "1408/1409/1410")
    code, out, _ = run("rank", "dense.ptx", *clocks, *LAUNCH, *MODEL)
    assert code == 0
    assert "defer: too close to call; measure clock 1408, clock 1409, clock 1410" in out
    assert "50 %" in out
    code, _, err = run("rank", "dense.ptx", *clocks, *LAUNCH, "--block", "128/256", *MODEL)
    assert code == 2
    assert "side by side" in err


def test_a_candidate_that_fails_is_told_and_the_others_ranked(run):
    code, out, _ = run("rank", "dense.ptx", "broken.ptx", "spread.ptx", *LAUNCH, *MODEL)
    assert code == 0
    assert "! broken.ptx: " in out
    assert "take dense.ptx:" in out
    code, _, err = run("rank", "broken.ptx", "broken.ptx", *LAUNCH, *MODEL)
    assert code == 1
    assert "broken.ptx:" in err


def test_one_candidate_is_no_ranking(run):
    code, _, err = run("rank", "dense.ptx", *LAUNCH, *MODEL)
    assert code == 2
    assert "only one candidate" in err


def test_a_file_at_a_commit(run):
    author = ("-c", "user.name=a", "-c", "user.email=a@b")
    for words in (["init", "-q"], ["add", "."], [*author, "commit", "-qm", "old"]):
        subprocess.run(["git", *words], check=True)
    Path("spread.ptx").write_text(Path("dense.ptx").read_text())
    code, out, _ = run("rank", "spread.ptx", "spread.ptx@HEAD", *LAUNCH, *MODEL)
    assert code == 0
    assert "take spread.ptx:" in out
