"""``--model time=wang-chu`` on the command line: each case of the paper met by a kernel, and said."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
HEAD = "__global__ void k(int n, const float *x, float *y) { int i = blockIdx.x * blockDim.x + threadIdx.x;"
FMAS = "a = a * a + 1.0f; a = a * a + 2.0f; a = a * a + 3.0f; a = a * a + 4.0f;"
STREAM = HEAD + " if (i < n) y[i] = 2.0f * x[i]; }"
COMPUTE = f"{HEAD} float a = x[i];\n#pragma unroll 1\nfor (int j = 0; j < 128; ++j) {{ {FMAS} }} y[i] = a; }}"
WALK = f"""{HEAD} float s = 0;
#pragma unroll 1
for (int j = i; j < n; j += 1024) s += x[j]; y[i] = s; }}"""
WORK = f"""{HEAD} float s = 0;
#pragma unroll 1
for (int j = i; j < n; j += 1024) {{ float a = x[j];
#pragma unroll 1
for (int m = 0; m < 64; ++m) {{ {FMAS} }} s += a; }} y[i] = s; }}"""
SWAP = HEAD + " __shared__ float t[256]; t[threadIdx.x] = x[i]; __syncthreads(); y[i] = t[threadIdx.x ^ 1]; }"
MANY, FEW = ("4096", "256", 1048576, 1048576), ("16", "64", 262144, 1024)


def words(source, shape):
    grid, block, n, stored = shape
    arguments = (f"n={n}", "x=f32[n]", f"y=f32[{stored}]:zeros")
    launch = ("--grid", grid, "--block", block, *(w for text in arguments for w in ("--arg", text)))
    return (source, *launch, "--gpu", "gtx980", "--model", "time=wang-chu", "--clock", "700,700")


@pytest.mark.parametrize(
    ("source", "shape", "equations"),
    [
        (COMPUTE, MANY, "computation, equations (8), (9)"),
        (STREAM, MANY, "memory queue, equations (10), (11)"),
        (WALK, FEW, "few warps, short computation, equations (12), (13)"),
        (WORK, FEW, "few warps, long computation, equations (14), (15)"),
        (SWAP, MANY, "memory queue, shared memory hidden, equations (16), (17)"),
    ],
    ids=["8-9", "10-11", "12-13", "14-15", "16-17"],
)
def test_a_kernel_meets_each_case_and_explain_says_so(run, file, source, shape, equations):
    code, out, err = run("explain", *words(file("k.cu", source), shape))
    assert code == 0, err
    text = " ".join(out.split())
    assert f"Wang and Chu's case is {equations}" in text
    assert "L2 answers " in text
    assert "warps wait in the memory queue" in text


def test_tiles_between_barriers_meet_equations_18_to_21(run):
    options = (
        "--kernel",
        "matmul_tiled",
        "--gpu",
        "gtx980",
        "--model",
        "time=wang-chu",
        "--clock",
        "400,700",
    )
    code, out, err = run("explain", EXAMPLES / "matmul.cu", *options)
    assert code == 0, err
    text = " ".join(out.split())
    assert "phases between barriers, equations (18) to (21)" in text
    assert "Requests of the first phase queue with those of all" in text


def test_one_profile_predicts_49_settings(run, file):
    """Row D4: the measured pair comes back, and time falls with either clock from every pair to the next."""
    profile = "grid,block,duration_us,sm_mhz,memory_mhz\n4096,256,200,700,700\n"
    asked = words(file("k.cu", STREAM), MANY)[:-1]
    code, out, err = run(
        "sweep",
        *asked,
        "400:1000:100,400:1000:100",
        "--profile",
        file("p.csv", profile),
        "--format",
        "json",
        "--jobs",
        "1",
    )
    assert code == 0, err
    rows = json.loads(out)["rows"]
    times = {(row["sm_clock_hz"], row["memory_clock_hz"]): row["time_s"] for row in rows}
    assert len(times) == 49
    assert times[7e8, 7e8] == pytest.approx(200e-6)
    for (sm, memory), seconds in times.items():
        assert times.get((sm + 1e8, memory), 0.0) <= seconds
        assert times.get((sm, memory + 1e8), 0.0) <= seconds
    assert times[4e8, 4e8] / times[1e9, 1e9] == pytest.approx(2.5, rel=0.15)
