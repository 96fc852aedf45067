"""Kernels that ask more of a prediction than loops and arrays: recursion, a heap, rounds that data count."""

from __future__ import annotations

import numpy as np
import pytest

import warpwatt

pytestmark = pytest.mark.toolchain

RECURSIVE = """
__device__ __noinline__ int f(int n) { return n < 2 ? n : f(n - 1) + f(n - 2); }
extern "C" __global__ void fibonacci(int *x, int n) { x[threadIdx.x] = f(n); }
"""
ALLOCATING = """
extern "C" __global__ void lists(int **heads) {
    int *mine = (int *)malloc(64);
    if (mine) { mine[0] = threadIdx.x; heads[threadIdx.x] = mine; }
}
"""
ROUNDS = """
extern "C" __global__ void rounds(const int *count, float *y) {
    __shared__ float tile[256];
    tile[threadIdx.x] = threadIdx.x;
    __syncthreads();
    for (int k = 0; k < count[blockIdx.x]; ++k) {
        float next = tile[(threadIdx.x + 1) % 256] * 0.5f;
        __syncthreads();
        tile[threadIdx.x] = next;
        __syncthreads();
    }
    y[blockIdx.x * 256 + threadIdx.x] = tile[threadIdx.x];
}
"""


def test_recursion_is_predicted_by_its_calls():
    """f(n) makes 2 F(n + 1) - 1 calls: 1.618 times as many for the next n."""
    args = {"x": "i32[32]"}
    short, long = (
        warpwatt.predict(RECURSIVE, gpu="h200", grid=1, block=32, args={**args, "n": n}) for n in (12, 14)
    )
    ratio = long.case.workload.execution.warp_instructions / short.case.workload.execution.warp_instructions
    assert ratio == pytest.approx(1.618**2, rel=0.02)
    assert long.time.value > 2 * short.time.value


def test_a_heap_is_not_null_and_what_it_takes_itself_is_named():
    found = warpwatt.predict(ALLOCATING, gpu="h200", grid=1, block=32, args={"heads": "u64[32]"})
    assert found.case.workload.l2.written >= 32 * 8
    (named,) = (a for a in found.assumptions if a.parameter == "the device's heap")
    assert "malloc" in named.message


def test_less_work_behind_barriers_takes_no_longer(tmp_path):
    """In one wave, with rounds that data count: half of them in every block, or in every other block."""

    def time(counts):
        np.save(tmp_path / "counts.npy", counts.astype(np.int32))
        args = {"count": f"i32[64]:{tmp_path / 'counts.npy'}", "y": f"f32[{64 * 256}]"}
        return warpwatt.predict(ROUNDS, gpu="rtx3080", grid=64, block=256, args=args).time.value

    whole, half = np.full(64, 400), np.full(64, 200)
    every_other = np.where(np.arange(64) % 2, whole, half)
    assert time(half) < 0.6 * time(whole)
    assert time(every_other) <= 1.02 * time(whole)


SERIAL = """
extern "C" __global__ void prefix(float *w, float *sums, int n) {
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i < n) w[i] *= 0.5f;
    __syncthreads();
    if (i == 0) for (int x = 1; x < n; x++) sums[x] = w[x] + sums[x - 1];
    __syncthreads();
    if (i < n) w[i] += 1.0f;
}
"""
SPREAD = """
extern "C" __global__ void spread(const float4 *x, float4 *y, int apart) {
    int number = blockIdx.x + blockIdx.y * gridDim.x;
    if (number % apart) return;
    int b = number / apart;
    float4 s = make_float4(0, 0, 0, 0);
    for (int i = 0; i < 64; i++) {
        float4 v = x[(size_t)b * 16384 + i * 256 + threadIdx.x];
        s.x += v.x; s.y += v.y; s.z += v.z; s.w += v.w;
    }
    y[b * 256 + threadIdx.x] = s;
}
"""


def test_a_serial_section_takes_time_in_proportion_to_its_length():
    """One warp works, the others wait; the trace may end within the section."""

    def time(n):
        args = {"w": f"f32[{n}]", "sums": f"f32[{n}]", "n": n}
        return warpwatt.predict(SERIAL, gpu="rtx3080", grid=-(-n // 256), block=256, args=args).time.value

    lengths = (16_000, 36_000, 100_000)
    each = [time(n) / n for n in lengths]
    assert max(each) < 1.3 * min(each)


@pytest.mark.parametrize(("grid", "apart"), [((65536, 1, 1), 97), ((128, 128, 1), 129), ((4096, 1, 1), 1)])
def test_working_blocks_read_all_that_they_ask_for_however_far_apart_they_lie(grid, apart):
    """Every 97th block of a long grid, the diagonal of a square one, all of a grid."""
    working = -(-grid[0] * grid[1] // apart)
    args = {"x": f"f32[{working * 65536}]", "y": f"f32[{working * 1024}]", "apart": apart}
    found = warpwatt.predict(SPREAD, gpu="t4", grid=grid, block=256, args=args)
    assert found.case.workload.dram.read == pytest.approx(working * 262144, rel=0.02)
