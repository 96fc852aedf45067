"""C to CUDA to the same numbers; costs and verdicts; the verb."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace

import jsonschema
import numpy as np
import pytest
from validation.resios.programs import PROGRAMS

from tests.commands.conftest import file, run  # noqa: F401 - fixtures
from warpwatt.compose import Choice
from warpwatt.core.errors import InputError, ParseError
from warpwatt.core.estimate import Estimate
from warpwatt.frontend.compiled import Source
from warpwatt.frontend.options import CompileOptions
from warpwatt.gpus import find
from warpwatt.published.resios import port as resios_port
from warpwatt.published.resios.c_loops import preprocess
from warpwatt.published.resios.port import Request, Verdict, check, port
from warpwatt.published.resios.port.check import compared
from warpwatt.published.resios.port.result import Costs
from warpwatt.published.resios.render.json import SCHEMA
from warpwatt.published.resios.render.text import render
from warpwatt.render.context import Context

needs_cc = pytest.mark.skipif(preprocess.compiler() is None, reason="no C compiler to compare with")
RESIOS = Choice(time="resios")

STENCIL = """
#define AT(y, x) ((y) * cols + (x))
void blur(int rows, int cols, const float *restrict in, float *restrict out, float weight) {
    for (int y = 1; y < rows - 1; y++)
        for (int x = cols - 2; x >= 1; x--) {
            float sum = 0;
            for (int dy = -1; dy <= 1; dy++)
                for (int dx = -1; dx <= 1; dx++)
                    sum += in[AT(y + dy, x + dx)] * (dx == 0 && dy == 0 ? 2.0f : 1.0f);
            if (sum > 5) out[AT(y, x)] = sum / weight; else out[AT(y, x)] = -sum;
        }
}
"""
TWO_NESTS = """
static double scale[40];
void normalise(int n, int m, double a[n][m], double *restrict mean) {
    int i, j;
    const int last = m - 1;
    for (i = 0; i < n; i++) {
        mean[i] = 0.0;
        for (j = 0; j <= last; j++) mean[i] += a[i][j];
        mean[i] /= m;
        scale[i] = mean[i] * mean[i] + 1;
    }
    for (i = 0; i < n; i++)
        for (j = 0; j < m; j++) a[i][j] = (a[i][j] - mean[i]) / scale[i];
}
"""
INTEGERS = """
typedef unsigned char byte;
void mix(long n, const byte *restrict a, const short *restrict b, unsigned *restrict new, int shift) {
    for (long i = 0; i < n; i += 3) {
        unsigned hash = 2166136261u;
        for (int k = 0; k < 4; k++) {
            hash ^= a[i + k];
            hash *= 16777619u;
            hash = (hash << shift) | (hash >> 5);
        }
        new[i] += hash % 1000 + (b[i] < 3 ? -b[i] : ~b[i]) / 2;
    }
}
"""
TRIANGLE = """
void triangle(int n, double A[12][12], double B[12][12]) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++)
            for (int k = 0; k < j; k++) A[i][j] += B[k][i] * B[k][j];
}
"""
NORM = """
void norm(int n, int m, const double *restrict a, double *restrict y) {
    for (int i = 0; i < n; i++) { double s = 0; for (int j = 0; j < m; j++) s += a[i * m + j]; y[i] = s; }
}
"""
PARTIAL = """
void partial(int n, const float *restrict a, float *restrict border, float *restrict first,
             float *restrict some, float gain) {
    float twice = gain * 2;
    for (int j = 1; j < n - 1; j++)
        for (int i = 1; i < n - 1; i++) border[j * n + i] = a[j * n + i - 1] + a[(j + 1) * n + i];
    for (int i = 1; i < n; i++) first[i] = a[i];
    for (int i = 0; i < n; i++) if (first[i] > 0.5f) some[i] = first[i] * twice;
}
"""
GATHER = "void gather(int n, float *restrict y, const float *restrict x, const int *restrict at)"
GATHER += " { for (int i = 0; i < n; i++) y[i] = x[at[i]] * 2; }"
CASES = {
    "stencil": (STENCIL, Request({"rows": 21, "cols": 45, "weight": 10.0})),
    "two nests": (TWO_NESTS, Request({"n": 40, "m": 17}, assume_no_alias=True)),
    "integers": (INTEGERS, Request({"n": 500, "shift": 7})),
    "triangle": (TRIANGLE, Request({"n": 12}, assume_no_alias=True)),
    "a name of CUDA's": (NORM, Request({"n": 9, "m": 5})),
    "partial": (PARTIAL, Request({"n": 33, "gain": 0.3})),
    "gather": (GATHER, Request({"n": 70}, {"x": (8,)})),
    "transpose": (PROGRAMS["transpose"], Request({"size_x": 50, "size_y": 37})),
    "convolution": (
        PROGRAMS["convolution"],
        Request({"image_width": 34, "image_height": 9, "filter_width": 3, "filter_height": 3, "gain": 0.3}),
    ),
}


def source(text):
    return Source("loops.c", text.encode())


def ported(name, gpu="h200", choice=RESIOS, **changes):
    text, request = CASES[name]
    wanted = Request(
        **({f: getattr(request, f) for f in request.__dataclass_fields__} | {"run": False} | changes)
    )
    return port(source(text), find(gpu), wanted, choice=choice)


@needs_cc
@pytest.mark.toolchain
@pytest.mark.parametrize("name", CASES)
def test_the_kernels_compute_what_the_compiled_c_does(name):
    for one in check(source(CASES[name][0]), ported(name)):
        assert one.exact, one


@needs_cc
@pytest.mark.toolchain
def test_the_host_function_takes_other_values_or_refuses_them():
    one, other = ported("partial"), ported("partial", values={"n": 40, "gain": 1.5}).bound
    assert one.other == {"n": 17}
    assert all(found.exact for found in check(source(PARTIAL), replace(one, bound=other)))
    one, other = ported("integers"), ported("integers", values={"n": 501, "shift": 7}).bound
    assert one.other == {}
    with pytest.raises(InputError, match="mix_on_gpu needs n == 500: port the C again"):
        check(source(INTEGERS), replace(one, bound=other))


def test_the_host_function_says_what_sizes_need():
    text = """void f(int n, int m, int ld, const float *restrict a, float *restrict c, float *restrict d) {
        for (int i = 1; i < n; i++) for (int j = 0; j < m; j++) c[i * ld + j] = a[j];
        for (int i = 0; i < n; i++) if (m > 8) d[i] = 1; else d[2 * i] = 1; }"""
    one = port(source(text), find("h200"), Request({"n": 6, "m": 4, "ld": 5}, run=False), choice=RESIOS)
    assert "if (!(m == 4 && n >= 2 && 268435456 >= n && ld >= 4 && 268435456 >= ld && (1.0 *" in one.cuda
    assert "const size_t bytes_c = sizeof(float) * (((size_t)(n - 1)) * ld + 3 + 1);" in one.cuda
    assert {"c", "d"} <= set(one.copied_in)


@needs_cc
@pytest.mark.toolchain
def test_a_wrong_kernel_is_noticed():
    one = ported("stencil")
    wrong = replace(one, cuda=one.cuda.replace("2.0f", "2.5f"))
    untouched, found = check(source(STENCIL), wrong)
    assert untouched.exact
    assert 0 < found.different <= found.elements
    assert found.relative > 0.01
    assert untouched.rounded
    assert not found.rounded


@needs_cc
def test_the_sequential_time_is_measured():
    found = ported("stencil", run=True).sequential
    assert found.seconds is not None
    assert 1e-8 < found.seconds < 1
    assert found.low <= found.seconds <= found.high
    assert found.repeats >= 4
    assert found.machine
    assert "measured" in found.note


def test_without_a_compiler_the_time_is_unknown_and_plain_c_still_read(monkeypatch):
    usual = ported("triangle").cuda
    monkeypatch.setattr(shutil, "which", lambda _: None)
    found = ported("triangle", run=True)
    assert found.cuda == usual
    assert found.sequential.seconds is None
    assert "no C compiler" in found.sequential.note
    assert found.verdict is Verdict.UNKNOWN


def test_a_function_like_macro_needs_the_compiler(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda _: None)
    with pytest.raises(ParseError, match="preprocessor") as caught:
        ported("stencil")
    assert caught.value.line == 2


def test_copies_are_what_the_device_lacks_and_what_it_makes():
    one = ported("two nests")
    assert one.copied_in == {"a": 40 * 17 * 8, "scale": 40 * 8}  # of which n may be less
    assert one.copied_out == {"a": 40 * 17 * 8, "mean": 40 * 8, "scale": 40 * 8}


def test_the_thesis_gpu_has_the_thesis_overhead():
    one = ported("stencil", "GTX 460")
    assert one.resios.context.value == 0.065
    assert one.resios.launches.value == 4e-6
    assert one.resios.cold.value == pytest.approx(
        one.resios.kernels.value + 4e-6 + 0.065 + one.resios.copies.value
    )


def exact(seconds):
    return Estimate.exact(seconds, "s")


@pytest.mark.parametrize(
    ("sequential", "verdict", "calls"),
    [
        (None, Verdict.UNKNOWN, None),
        (0.5, Verdict.NEVER, None),
        (2.0, Verdict.RESIDENT, None),
        (5.0, Verdict.REPEATED, 10),
        (50.0, Verdict.ONCE, 1),
    ],
)
def test_verdicts(sequential, verdict, calls):
    costs = Costs(kernels=exact(0.9), launches=exact(0.1), copies=exact(3), context=exact(10))
    assert costs.verdict(sequential) is verdict
    assert costs.calls_to_break_even(sequential) == calls


def test_a_context_that_nobody_measured_is_not_counted():
    one = ported("stencil")
    assert one.resios.context is None
    assert one.resios.cold is None
    assert one.resios.verdict(1e9) is Verdict.REPEATED
    assert ported("stencil", context=0.2).resios.cold.value == pytest.approx(one.resios.warm.value + 0.2)


def test_a_context_takes_what_was_published_for_boards_of_the_same_capability():
    assert ported("stencil", "l4").resios.context.value == 0.132
    assert ported("stencil", "l4", context=0.2).resios.context.value == 0.2


def test_pinned_arrays_are_copied_faster():
    assert ported("stencil", pinned=True).resios.copies.value <= ported("stencil").resios.copies.value


def test_a_sequential_time_that_is_given_is_not_measured():
    found = ported("stencil", run=True, sequential=0.25).sequential
    assert (found.seconds, found.repeats, found.machine) == (0.25, 0, "")


@pytest.mark.toolchain
def test_both_systems_stand_side_by_side():
    one = ported("stencil", choice=Choice())
    assert one.model is not None
    assert one.nests[0].prediction.timing.model == "pipeline"
    assert one.model.kernels.value == one.nests[0].prediction.time.value
    assert one.costs is one.model


def test_no_figure_is_cut_in_eighty_columns():
    text = render([ported("stencil")], [], Context(width=80))
    assert max(map(len, text.splitlines())) <= 80
    assert "…" not in text


def test_the_verb_refuses_a_carried_dependence_with_both_lines(run, file):  # noqa: F811 - fixtures
    path = file(
        "scan.c",
        "void scan(int n, float *restrict a) {\n  for (int i = 1; i < n; i++)\n    a[i] += a[i - 1];\n}\n",
    )
    code, out, err = run("port", path, "--arg", "n=64")
    assert (code, out) == (1, "")
    assert (
        "scan.c:2: the loop over 'i' is not data parallel: line 3 reads 'a' and line 3 writes"
        in err.replace("\n", "")
    )


def test_the_verb_in_json_follows_its_schema(run, file, tmp_path):  # noqa: F811 - fixtures
    path, cuda = file("blur.c", STENCIL), tmp_path / "blur.cu"
    words = ["port", path, "--arg", "rows=64", "--arg", "cols=64", "--model", "resios", "--no-run"]
    code, out, _ = run(*words, "--gpu", "h200,GTX 460", "--format", "json", "--emit", cuda)
    assert code == 0
    document = json.loads(out)
    jsonschema.validate(document, SCHEMA.load())
    assert [one["gpu"] for one in document["ports"]] == ["NVIDIA H200", "GeForce GTX 460"]
    assert document["ports"][0]["verdict"] == "unknown"
    assert document["ports"][0]["cuda"] == cuda.read_text()
    assert "__global__" in document["ports"][0]["cuda"]
    assert run(*words, "--emit", cuda)[0] == 1


def test_the_verb_fails_after_its_report_where_an_array_differs(run, file, monkeypatch):  # noqa: F811
    found = [np.array(values, np.float32) for values in ((1, 2, 3), (1, 2, 3 + 1e-5), (1, np.nan, 3))]
    equal, rounded, wrong = (compared(f"a{i}", found[0], one) for i, one in enumerate(found))
    words = ["port", file("blur.c", STENCIL), "--arg", "rows=64", "--arg", "cols=64", "--model", "resios"]
    words += ["--no-run", "--check", "--format", "json"]
    monkeypatch.setenv("WARPWATT_KEEP_ANSWERS", "0")
    for agreements, code in (((equal, rounded), 0), ((equal, rounded, wrong), 1)):
        monkeypatch.setattr(resios_port, "check", lambda *_, agreements=agreements: agreements)
        ended, out, err = run(*words)
        assert ended == code
        document = json.loads(out)
        jsonschema.validate(document, SCHEMA.load())
        assert [one["different"] for one in document["check"]] == [0, 1, 1][: len(agreements)]
        assert ("differs from the C by more than rounding: a2" in err) == bool(code)


def test_the_verb_in_text(run, file):  # noqa: F811 - fixtures
    path = file("blur.c", STENCIL)
    code, out, _ = run("port", path, "--arg", "rows=64", "--arg", "cols=64", "--model", "resios", "--no-run")
    assert code == 0
    assert "threads over y (line 4) and x (line 5)" in out
    assert "Resios (2011)" in out
    assert "weight is not given: assumed to be 1" in out


def test_the_model_is_listed_and_sends_kernels_away(run, file):  # noqa: F811 - fixtures
    assert "time=resios" in run("models")[1]
    code, _, err = run("predict", file("blur.c", STENCIL), "--model", "resios")
    assert code == 2
    assert "warpwatt port" in err


def test_each_kernel_says_what_was_proved_of_it():
    text = ported("two nests").cuda
    assert "// From lines 6 to 11: threads over i (line 6)." in text or "threads over i (line 6)." in text
    assert (
        "// Proved for n from 0 to 268435456, m from 0 to 268435456, by elimination over whole numbers:"
        in text
    )
    assert "// Not the same memory: mean, scale (restrict, or memory of their own); a (members" in text
    assert "Sums come in another order" not in text


def test_options_reach_the_preprocessor():
    text = "void f(float *restrict a) { for (int i = 0; i < N; i++) a[i] = 1; }"
    one = port(
        source(text),
        find("h200"),
        Request({}, options=CompileOptions(defines=("N=96",)), run=False),
        choice=RESIOS,
    )
    assert one.bound.shapes["a"] == (96,)
