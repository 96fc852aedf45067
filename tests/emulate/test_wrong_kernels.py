"""Kernels that cannot be right are remarked on; right ones that look like them are not."""

from __future__ import annotations

import pytest

import warpwatt
from warpwatt.core.errors import WarpWattError

pytestmark = pytest.mark.toolchain
HEAD = "__global__ void f(float *x, float *y) { int t = threadIdx.x; __shared__ float s[256]; "
WRONG = {
    "no barrier before reading a neighbour": ("s[t] = x[t]; y[t] = s[255 - t];", "race"),
    "no barrier before writing again": (
        "s[t] = x[t]; __syncthreads(); float a = s[255 - t]; s[t] = a + 1; __syncthreads(); y[t] = s[t ^ 1];",
        "race",
    ),
    "no barrier in a tree of sums": (
        "s[t] = x[t]; __syncthreads(); for (int k = 128; k; k /= 2) if (t < k) s[t] += s[t + k]; y[t] = *s;",
        "race",
    ),
    "no barrier at the end of a tile": (
        (
            "float a = 0; for (int k = 0; k < 4; ++k) { s[t] = x[t + k]; __syncthreads();"
            " for (int j = 0; j < 256; ++j) a += s[j]; } y[t] = a;"
        ),
        "race",
    ),
    "only a warp is in step": ("s[t] = x[t]; __syncwarp(); y[t] = s[(t + 32) % 256];", "race"),
    "all warps write one sum": (
        "s[t % 32] = x[t]; __syncthreads(); if (s[t % 32] > 0.5f) y[t] = y[t + 1];",
        "race",
    ),
    "nobody wrote it": ("y[t] = s[t] + x[t];", "no thread of the block has written"),
    "half of it was written": (
        "if (t < 128) s[t] = x[t]; __syncthreads(); y[t] = s[t];",
        "no thread of the block has written",
    ),
    "one too far": (
        "s[t % 255] = x[t % 255]; __syncthreads(); y[t] = s[t];",
        "no thread of the block has written",
    ),
    "barriers of two branches": (
        (
            "if (t < 128) { s[t] = x[t]; __syncthreads(); y[t] = s[127 - t]; }\n"
            " else { s[t] = x[t] * 2; __syncthreads(); y[t] = s[383 - t] - 1; }"
        ),
        "different __syncthreads",
    ),
}
RIGHT = {
    "neighbours behind a barrier": "s[t] = x[t]; __syncthreads(); y[t] = s[255 - t];",
    "each its own": "s[t] = x[t]; y[t] = s[t];",
    "a warp by itself": "s[t] = x[t]; __syncwarp(); y[t] = s[t ^ 1];",
    "a tree of sums": (
        "s[t] = x[t]; __syncthreads(); for (int k = 128; k; k /= 2) { if (t < k) s[t] += s[t + k];"
        " __syncthreads(); } y[t] = s[0];"
    ),
    "the last warp without barriers": (
        "s[t] = x[t]; __syncthreads(); for (int k = 128; k > 16; k /= 2) { if (t < k) s[t] += s[t + k];"
        " __syncthreads(); } volatile float *v = s; if (t < 16) v[t] += v[t + 16]; if (t == 0) y[0] = v[0];"
    ),
    "tiles": (
        "float a = 0; for (int k = 0; k < 4; ++k) { s[t] = x[t + k]; __syncthreads();"
        " for (int j = 0; j < 256; ++j) a += s[j]; __syncthreads(); } y[t] = a;"
    ),
    "a histogram": (
        "s[t] = 0; __syncthreads(); atomicAdd(s + (int)(x[t] * 9) % 9, 1.f); __syncthreads(); y[t] = s[t];"
    ),
    "one thread writes for all": "if (t == 0) s[0] = x[0]; __syncthreads(); y[t] = s[0];",
    "bytes of one word": (
        "unsigned char *c = (unsigned char *)s; c[(t * 32 + t / 8) % 256] = (unsigned char)x[t];"
        " __syncthreads(); y[t] = c[t];"
    ),
}


def remarks(body: str, x: str = "f32[512]") -> list[str]:
    found = warpwatt.predict(
        f"{HEAD}{body} }}\n", gpu="h200", grid=2, block=256, args={"x": x, "y": "f32[512]"}, model="roofline"
    )
    return [text for text in found.warnings if any(part in text for part in ("race", "thread", "points to"))]


@pytest.mark.parametrize("name", WRONG)
def test_what_cannot_be_right_is_remarked_on(name):
    body, part = WRONG[name]
    assert any(part in text for text in remarks(body)), remarks(body)


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_right_is_not(name):
    assert remarks(RIGHT[name]) == []


def test_a_buffer_of_another_type_is_remarked_on():
    assert remarks(RIGHT["each its own"], "f64[512]") == ["x points to float and was given f64[...]"]


HIDDEN = {
    "one block of the middle": ("x[i + (blockIdx.x == 1777 ? 5000000 : 0)] = y[i];", 1048576),
    "a product of remainders": (
        "x[(blockIdx.x % 37) * (blockIdx.x % 41) * 256 + threadIdx.x] = y[i];",
        1400 * 256,
    ),
    "a transposition too narrow": ("x[i % 1024 * 1023 + i / 1024] = y[i];", 1023 * 1023),
}


@pytest.mark.parametrize("case", HIDDEN)
def test_blocks_in_the_middle_of_a_grid_that_leave_their_buffer_are_found(case, tmp_path):
    """No block of the middle is in a sample by place: 4,096 blocks, of which 24 run."""
    statement, size = HIDDEN[case]
    path = tmp_path / "hidden.cu"
    path.write_text(
        'extern "C" __global__ void f(float *x, const float *y) '
        f"{{ int i = blockIdx.x * blockDim.x + threadIdx.x; {statement} }}",
        encoding="utf-8",
    )
    arguments = {"y": "f32[1048576]"}
    with pytest.raises(WarpWattError, match="out of bounds"):
        warpwatt.predict(path, gpu="h200", grid=4096, block=256, args={"x": f"f32[{size}]", **arguments})
    enough = {"x": "f32[6100000]", **arguments}
    assert warpwatt.predict(path, gpu="h200", grid=4096, block=256, args=enough).time.value > 0
