"""What an editor shows of a kernel, through the protocol."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from lsprotocol import types

LAUNCH = "// warpwatt: --kernel scale --grid 64 --block 128 --arg n=8192 --arg x=f32[n]"
SCALE = f"""{LAUNCH}
__global__ void scale(int n, float *x) {{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= 2.0f;
}}
"""
LENS = re.compile(r"^[\d.]+ [mµn]s · [\d.]+ W\*? · [\d.]+ [mµ]J on H200 · \w[\w ()]+$")

pytestmark = pytest.mark.toolchain


def test_the_server_says_what_it_can(editor):
    found = editor.initialized
    assert found.server_info.name == "warpwatt"
    can = found.capabilities
    assert can.code_lens_provider
    assert can.inlay_hint_provider
    assert can.hover_provider
    assert set(can.execute_command_provider.commands) == {"warpwatt.showReport", "warpwatt.insertLaunch"}
    assert can.position_encoding == types.PositionEncodingKind.Utf16
    assert set(editor.wait(lambda: editor.registered)) == {
        "workspace/didChangeWatchedFiles",
        "workspace/didChangeConfiguration",
    }


def test_lens_hints_and_hover(editor, uri):
    editor.open(uri, SCALE)
    (lens,) = editor.answered(uri)
    assert LENS.match(lens), lens
    hints = editor.hints(uri)
    assert 4 in hints
    assert re.match(r"\d+ % time · \d+ % energy", hints[4])
    assert 4 not in editor.hints(uri, 2)
    line = editor.hover(uri, 4)
    assert "of the time" in line
    assert "x" in line
    assert "4 sectors per request" in line
    kernel = editor.hover(uri, 2)
    assert "| time |" in kernel
    assert "limited by" in kernel
    assert "| time |" in editor.hover(uri, 1), "the comment tells of its launch"
    assert editor.hover(uri, 5000) == ""


def test_other_models_stand_beside_ours(editor, uri):
    theirs = ["time=alavani-ilp-tlp", "time=alavani-reservation", "power=alavani"]
    editor.configure({**editor.settings, "gpu": "k20", "beside": theirs})
    editor.open(uri, SCALE)
    editor.answered(uri)
    kernel = editor.hover(uri, 2)
    for model, unit in zip(theirs, ("s", "s", "W"), strict=True):
        (row,) = [line for line in kernel.splitlines() if line.startswith(f"| {model} |")]
        assert re.search(rf"\d [nµm]?{unit} \(", row), row
    editor.configure({**editor.settings, "gpu": "h200", "beside": theirs})
    editor.wait(lambda: any("on H200" in lens for lens in editor.lenses(uri)))
    assert "was not trained for NVIDIA H200" in editor.hover(uri, 2)


def test_lines_follow_an_edit_above_before_and_after_it_is_analysed(editor, uri):
    editor.open(uri, SCALE)
    editor.answered(uri)
    before = editor.hints(uri)
    start = types.Range(types.Position(0, 0), types.Position(0, 0))
    editor.change(uri, "// one\n\n", start)
    moved = {line + 2: text for line, text in before.items()}
    assert editor.hints(uri) == moved
    assert any("updating" in title for title in editor.lenses(uri))
    assert LENS.match(editor.answered(uri)[0])
    assert editor.hints(uri) == moved


def test_a_launch_on_two_gpus_has_two_lenses_and_on_many_the_best(editor, uri):
    editor.configure({**editor.settings, "gpu": ["h200", "a100"]})
    editor.open(uri, SCALE)
    editor.wait(lambda: len(editor.answered(uri)) == 2)
    names = [title.partition(" on ")[2] for title in editor.lenses(uri)]
    assert [name.partition(" ·")[0] for name in names] == ["H200", "A100-SXM4-40GB"]
    editor.configure({**editor.settings, "gpu": "h200,a100,rtx 4090,a30"})
    editor.wait(lambda: any(t.startswith("fastest of 4: ") for t in editor.lenses(uri)))


def test_a_kernel_without_launch_says_so_and_offers_one(editor, uri):
    head = "__global__ void f(const double *__restrict__ x, float *y, int n, float a)"
    text = f"\n  {head} {{\n    y[0] = a;\n  }}\n"
    editor.open(uri, text)
    assert editor.answered(uri) == ["no launch is known: add a // warpwatt: line"]
    (action,) = editor.actions(uri, 3)
    (edit,) = action.edit.changes[uri]
    launch = "--grid 4096 --block 256 --arg x=f64[n] --arg y=f32[n] --arg n=1048576 --arg a=1"
    assert edit.new_text == f"  // warpwatt: --kernel f {launch}\n"
    editor.command("warpwatt.insertLaunch", uri, "f")
    (inserted,) = editor.edits.pop().edit.changes[uri]
    assert inserted == edit
    editor.change(uri, edit.new_text, edit.range)
    assert LENS.match(editor.answered(uri)[0])
    assert editor.actions(uri, 3) == []


def test_templates_host_code_and_overloads(editor, uri):
    text = """#include <cstdio>
#include <vector>
namespace ns {
template <typename T, int N>
__global__ void __launch_bounds__(256) axpy(int n, T a, const T *x, T *y) {
    int i = blockIdx.x * N + threadIdx.x;
    if (i < n) y[i] += a * x[i];
}
}
__global__ void declared(int);
// warpwatt: --kernel axpy --grid 4 --block 256 --arg n=1024 --arg a=2 --arg x=f32[n] --arg y=f32[n]
int main() {
    std::vector<float> v(3);
    ns::axpy<float, 256><<<4, 256>>>(1024, 2.0f, v.data(), v.data());
    std::printf("%zu\\n", v.size());
}
"""
    editor.open(uri, text)
    (lens,) = editor.answered(uri)
    assert LENS.match(lens)
    assert editor.diagnostics(uri) == [] or all(d.severity > 1 for d in editor.diagnostics(uri))
    assert 7 in editor.hints(uri)


def test_advice_comes_after_the_answer(editor, uri):
    editor.configure({**editor.settings, "advice": True})
    editor.open(uri, STRIDED.replace("--grid 64 ", "--grid 16384 ").replace("n=8192", "n=2097152"))
    editor.answered(uri)
    editor.wait(lambda: "would save" in editor.hover(uri, 4), 60)


STRIDED = """// warpwatt: --grid 64 --block 128 --arg n=8192 --arg x=f32[32*n] --arg y=f32[n]
__global__ void strided(int n, const float *x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[32 * i];
}
"""


def test_uncoalesced_access_is_diagnosed_explained_and_silenced(editor, uri):
    editor.open(uri, STRIDED)
    editor.answered(uri)
    (found,) = [d for d in editor.diagnostics(uri) if d.code == "uncoalesced-access"]
    assert found.range == types.Range(types.Position(3, 4), types.Position(3, 32))
    assert "reading x takes 32 sectors per request, 4 would do; stride 128 B" in found.message
    assert found.severity == types.DiagnosticSeverity.Warning
    assert found.code_description.href.endswith("#uncoalesced-access")
    (related,) = found.related_information
    assert related.location.range.start.line == 3
    assert "Long Scoreboard" in related.message
    (action,) = editor.actions(uri, 4, [found])
    (edit,) = action.edit.changes[uri]
    editor.change(uri, edit.new_text, edit.range)
    editor.answered(uri)
    assert not [d for d in editor.diagnostics(uri) if d.code == "uncoalesced-access"]


def test_bank_conflicts_divergence_occupancy_and_spills(editor, uri):
    text = """// warpwatt: --kernel banks --grid 1024 --block 32,32 --arg x=f32[1048576]
__global__ void banks(float *x) {
    __shared__ float s[32][32];
    int i = blockIdx.x * 1024 + threadIdx.y * 32 + threadIdx.x;
    s[threadIdx.x][threadIdx.y] = x[i];
    __syncthreads();
    x[i] = s[threadIdx.y][threadIdx.x];
}
// warpwatt: --kernel apart --grid 2 --block 128 --shared 40000 --arg x=f32[256]
__global__ void apart(float *x) {
    float v = x[threadIdx.x];
    if (threadIdx.x % 4 == 0)
        for (int k = 0; k < 50; ++k) v = sinf(v) * v;
    x[threadIdx.x] = v;
}
// warpwatt: --kernel spilled --grid 64 --block 1024 --arg x=f32[65536] --arg n=64
__global__ void __launch_bounds__(1024) spilled(float *x, int n) {
    float v[96];
    for (int k = 0; k < 96; ++k) v[k] = x[(threadIdx.x + k * 31) % 65536];
    for (int r = 0; r < n; ++r)
        for (int k = 0; k < 96; ++k) v[k] = v[k] * v[(k + 1) % 96] + 1.0f;
    for (int k = 0; k < 96; ++k) x[(threadIdx.x + k * 57) % 65536] = v[k];
}
"""
    editor.open(uri, text)
    editor.answered(uri)
    found = {}
    for one in editor.diagnostics(uri):
        found.setdefault(one.code, one)
    assert found["bank-conflicts"].range.start.line == 4
    assert "32-way bank conflict" in found["bank-conflicts"].message
    assert found["divergence"].range.start.line == 12
    assert re.search(r"on average [78](\.\d)? of 32 lanes", found["divergence"].message)
    assert found["spills"].range == types.Range(types.Position(16, 40), types.Position(16, 47))
    assert found["idle-sms"].severity == types.DiagnosticSeverity.Information
    low = [d for d in editor.diagnostics(uri) if d.code == "low-occupancy" and "grid" in d.message]
    assert low
    assert low[0].range.start.line == 9


def test_compile_errors_stand_where_the_compiler_sees_them(editor, uri):
    body = "    /* \U0001f600\U0001f600 */ x[0] = wrong_name;\n    x[1] = also;\n"
    text = "// \U0001f600\n__global__ void f(float *x) {\n" + body + "}\n"
    editor.open(uri, text)
    editor.answered(uri)
    found = editor.diagnostics(uri)
    assert [(d.code, d.severity, d.range.start.line) for d in found] == [("compile", 1, 2), ("compile", 1, 3)]
    assert found[0].range == types.Range(types.Position(2, 22), types.Position(2, 32)), "UTF-16 units"
    assert "wrong_name" in found[0].message
    assert editor.lenses(uri) == ["not predicted: see the problems"]


def test_a_slip_while_typing_leaves_what_was_known(editor, uri):
    editor.open(uri, SCALE)
    (lens,) = editor.answered(uri)
    editor.change(uri, SCALE.replace("2.0f;", "2.0f"))
    assert editor.answered(uri) == [f"{lens} · before the error"]


def test_compile_errors_of_a_header_stand_in_the_header(editor, uri, tmp_path):
    header = tmp_path / "helper.cuh"
    header.write_text("#pragma once\n__device__ float helper() { return nothing; }\n")
    editor.open(uri, '#include "helper.cuh"\n' + SCALE)
    editor.answered(uri)
    editor.wait(lambda: editor.diagnosed[header.as_uri()])
    assert editor.diagnosed[header.as_uri()][-1].diagnostics[0].range.start.line == 1
    header.write_text("#pragma once\n__device__ float helper() { return 1; }\n")
    editor.touched(header)
    editor.wait(lambda: not editor.diagnosed[header.as_uri()][-1].diagnostics)
    editor.wait(lambda: LENS.match(editor.lenses(uri)[0]))


@pytest.mark.parametrize(
    ("wrong", "right", "said", "words"),
    [
        ("--kernel scal3", "--kernel scale", "no kernel matches 'scal3'", (22, 27)),
        ("--arg m=8192", "--arg n=8192", "has no argument 'm'", None),
    ],
)
def test_a_wrong_name_in_a_comment_can_be_put_right(editor, uri, wrong, right, said, words):
    editor.open(uri, SCALE.replace(right, wrong).replace("f32[n]", "f32[8192]"))
    editor.answered(uri)
    (found,) = [d for d in editor.diagnostics(uri) if d.code == "launch"]
    assert said in found.message
    assert found.range.start.line == 0
    if words:
        assert (found.range.start.character, found.range.end.character) == words
    action = next(a for a in editor.actions(uri, 1, [found]) if a.title.startswith("Write "))
    (edit,) = action.edit.changes[uri]
    assert edit.new_text == right.split()[1].partition("=")[0]
    editor.change(uri, edit.new_text, edit.range)
    assert LENS.match(editor.answered(uri)[0])


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("--grid 64", "--gird 64", "no option '--gird'"),
        ("--grid 64", "--grid none", "not a dimension: 'none'"),
        ("--block 128", "--block 4096", "4096"),
        ("--block 128", "", "the block is not known"),
        ("f32[n]", "f32[4096]", "out of bounds"),
    ],
)
def test_what_is_wrong_with_a_comment_is_said(editor, uri, old, new, said):
    editor.open(uri, SCALE.replace(old, new))
    editor.answered(uri)
    found = [d for d in editor.diagnostics(uri) if d.severity == types.DiagnosticSeverity.Error]
    assert any(said in d.message for d in found), [d.message for d in found]
    assert found[0].range.start.line == (3 if said == "out of bounds" else 0)


def test_the_report_is_shown(editor, uri):
    editor.open(uri, SCALE)
    file = editor.command("warpwatt.showReport", uri, "scale")
    assert editor.shown.pop().uri.endswith(".html")
    text = Path(file).read_text(encoding="utf-8")
    assert text.startswith("<!DOCTYPE html>")
    assert "scale" in text
    assert "stdin.cu" not in text
    assert editor.command("warpwatt.showReport", uri, "no such kernel") is None
    assert "no report" in editor.messages.pop().message
