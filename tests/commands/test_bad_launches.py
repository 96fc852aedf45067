"""Kernels that go wrong when they run: the line, the thread, the buffer and the fix, and no traceback."""

from __future__ import annotations

import numpy as np
import pytest

SHIFT = """\
__global__ void k(int n, const float *x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[i + OFFSET] + 1.0f;
}
"""
HALVE = """\
__global__ void k(int n, const float *x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = x[i];
    int count = 0;
    while (v > 1.0f) { v *= 0.5f; ++count; }
    y[i] = count;
}
"""
MISALIGNED = """\
__global__ void k(const char *x, float *y) {
    y[threadIdx.x] = *(const float *)(x + 4 * threadIdx.x + 1);
}
"""
DEADLOCK = """\
__global__ void k(float *y) {
    if (threadIdx.x < 32)
        asm volatile("bar.sync 1, 64;");
    else
        asm volatile("bar.sync 2, 64;");
    y[threadIdx.x] = 1.0f;
}
"""
ENDLESS = """\
__global__ void k(float *y) {
    float v = 1.0f;
    while (v > 0.0f) { v += y[threadIdx.x]; }
    y[threadIdx.x] = v;
}
"""
TRAP = """\
__global__ void k(float *y) {
    if (threadIdx.x == 3) __trap();
    y[threadIdx.x] = 1.0f;
}
"""
DYNAMIC = """\
extern __shared__ float s[];
__global__ void k(float *y) {
    __shared__ float fixed[16];
    fixed[threadIdx.x % 16] = s[threadIdx.x] = y[threadIdx.x];
    __syncthreads();
    y[threadIdx.x] = s[63 - threadIdx.x] + fixed[threadIdx.x / 16];
}
"""
GRID = ["--grid", "4", "--block", "256", "--arg", "n=1024", "--arg", "y=f32[n]"]
BLOCK = ["--grid", "4", "--block", "64", "--arg", "y=f32[64]:zeros"]


def test_a_buffer_too_small(run, file):
    code, _, err = run("predict", file("k.cu", SHIFT), *GRID, "--arg", "x=f32[n]", "-DOFFSET=n")
    assert code == 1
    assert "k.cu:4: thread (0, 0, 0) of block (2, 0, 0): load of 4 bytes at byte 6144 of buffer x" in err
    assert "which has 4096 bytes" in err
    assert "--arg x=TYPE[SHAPE]" in err


def test_a_load_beside_a_buffer_is_a_remark_as_hardware_runs_it(run, file):
    code, out, _ = run("predict", file("k.cu", SHIFT), *GRID, "--arg", "x=f32[n]", "-DOFFSET=1")
    said = " ".join(out.split())
    assert code == 0
    assert "line 4: thread (255, 0, 0) of block (3, 0, 0): load of 4 bytes at byte 4096 of buffer x" in said
    assert "compute-sanitizer reports it" in said


@pytest.mark.parametrize("level", ["sass", "ptx"])
def test_dynamic_shared_memory_that_the_launch_does_not_give(run, file, level):
    """Counting the PTX in closed form would not see it."""
    kernel = [file("k.cu", DYNAMIC), *BLOCK, "--level", level]
    code, _, err = run("predict", *kernel)
    assert code == 1
    assert "k.cu:4: thread (0, 0, 0) of block (2, 0, 0): store of 4 bytes at byte" in err
    assert "of shared memory, of which a block has" in err
    assert "--shared BYTES" in err
    assert run("predict", *kernel, "--shared", "256")[0] == 0


def test_an_index_below_zero(run, file):
    code, _, err = run("predict", file("k.cu", SHIFT), *GRID, "--arg", "x=f32[n]", "-DOFFSET=(-1000)")
    assert code == 1
    assert "thread (0, 0, 0) of block (2, 0, 0): load of 4 bytes at byte -1952 of buffer x" in err
    assert "negative or overflows" in err


def test_a_null_pointer(run, file):
    code, _, err = run("predict", file("k.cu", SHIFT), *GRID, "--arg", "x=0", "-DOFFSET=0")
    assert code == 1
    assert "k.cu:4: thread (0, 0, 0) of block (2, 0, 0): load of 4 bytes at the null address" in err
    assert "--arg x=TYPE[SHAPE]" in err


def test_a_pointer_that_was_not_given(run, file):
    code, out, _ = run("predict", file("k.cu", SHIFT), *GRID, "-DOFFSET=0")
    assert code == 0
    assert "machine code of all 4 blocks run" in " ".join(out.split())
    assert "buffer x (f32) is not given: as large as the kernel touches" in " ".join(out.split())


def test_a_pointer_that_was_not_given_may_lie_inside_a_buffer(run, file):
    code, out, _ = run("predict", file("k.cu", SHIFT), *GRID, "-DOFFSET=(-2)")
    assert code == 0
    assert "machine code could not be followed: PTX is counted in its place" in " ".join(out.split())


@pytest.mark.parametrize(
    ("source", "words", "said"),
    [
        (MISALIGNED, ["--arg", "x=u8[4100]", *BLOCK], ["k.cu:2", "byte 1 of buffer x", "misaligned"]),
        (DEADLOCK, BLOCK, ["k.cu:3", "waits at a barrier", "must pass the same barriers"]),
        (ENDLESS, BLOCK, ["k.cu:3", "did not end within 20 million", "--loop 3=COUNT"]),
        (TRAP, BLOCK, ["k.cu:2", "thread (3, 0, 0) of block (2, 0, 0): trap"]),
    ],
)  # fmt: skip
def test_kernels_that_never_end_well(run, file, source, words, said):
    code, _, err = run("predict", file("k.cu", source), *words)
    assert code == 1
    assert [text for text in said if text not in err] == []


def test_nan_data_are_told_of(run, file, tmp_path):
    np.save(tmp_path / "nan.npy", np.full(1024, np.nan, np.float32))
    data = f"x=f32[n]:{tmp_path / 'nan.npy'}"
    code, out, _ = run("predict", file("k.cu", HALVE), *GRID, "--arg", data, "--format", "json")
    assert code == 0
    assert "buffer x holds NaN (1024 of 1024" in out


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (np.ones(100, np.float32), "float32[100], described as float32[1024]"),
        (np.ones(1024, np.float64), "described as float32"),
        (b"junk", "not a NumPy file of numbers"),
        (np.array([None, "a"], object), "not a NumPy file of numbers"),
        (None, "No such file"),
    ],
)
def test_data_files_that_do_not_fit(run, file, tmp_path, content, said):
    path = tmp_path / "x.npy"
    if isinstance(content, bytes):
        path.write_bytes(content)
    elif content is not None:
        np.save(path, content)
    code, _, err = run("predict", file("k.cu", HALVE), *GRID, "--arg", f"x=f32[n]:{path}")
    assert code == 1
    assert said in err
    assert "x.npy" in err


def test_the_largest_grid_costs_no_more_than_a_small_one(run, file):
    source = SHIFT.replace("int i = blockIdx", "size_t i = (size_t)blockIdx").replace("int n", "size_t n")
    words = ["--grid", "2147483647", "--block", "32", "--arg", "n=68719476704", "-DOFFSET=0"]
    code, out, _ = run("predict", file("k.cu", source), *words, "--arg", "x=f32[n]", "--arg", "y=f32[n]")
    assert code == 0
    assert "of 2147483647 blocks run, scaled to all" in " ".join(out.split())


def test_an_80_gigabyte_argument(run, file):
    words = ["--grid", "4", "--block", "256", "--arg", "n=1024", "--arg", "x=f32[20000000000]"]
    code, _, _ = run("predict", file("k.cu", SHIFT), *words, "--arg", "y=f32[n]", "-DOFFSET=0")
    assert code == 0


def test_explain_says_how_the_counts_were_found(run, file):
    words = [*GRID, "--arg", "x=f32[n]", "-DOFFSET=0"]
    _, out, _ = run("explain", file("k.cu", SHIFT), *words)
    assert "Machine code of all 4 blocks run." in out
    _, out, _ = run("explain", file("k.cu", SHIFT), *words, "--level", "ptx")
    assert "PTX counted in closed form." in out


def test_explain_names_stride_and_sectors(run, file):
    source = SHIFT.replace("x[i + OFFSET]", "x[32 * i]")
    _, out, _ = run("explain", file("k.cu", source), *GRID, "--arg", "x=f32[32*n]")
    assert "Line 4: 32 sectors per request, 4 would do; stride 128 B (reading x)." in out
