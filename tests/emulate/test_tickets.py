"""Blocks that draw numbers from a counter in memory: few of them run, all of them counted."""

from __future__ import annotations

import numpy as np
import pytest

import warpwatt
from warpwatt.emulate import tickets

pytestmark = pytest.mark.toolchain

KERNEL = """
__global__ void reduce(unsigned* done, const float* x, float* part, float* out) {
    __shared__ bool last;
    float sum = x[blockIdx.x * blockDim.x + threadIdx.x];
    for (int step = 16; step; step /= 2) sum += __shfl_down_sync(~0u, sum, step);
    if (threadIdx.x == 0) {
        part[blockIdx.x] = sum;
        __threadfence();
        last = atomicAdd(done, 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last) return;
    for (int i = threadIdx.x; i < 100000; i += blockDim.x) sum = sum * 3 + part[i % gridDim.x];
    out[threadIdx.x] = sum;
}
__global__ void queue(int* head, const float* x, float* y) {
    __shared__ int task;
    while (true) {
        __syncthreads();
        if (threadIdx.x == 0) task = atomicAdd(head, 1);
        __syncthreads();
        if (task >= 5000) return;
        float value = x[task * 64 + threadIdx.x];
        for (int i = 0; i < 20; ++i) value = value * 1.5f + x[i];
        y[task * 64 + threadIdx.x] = value;
    }
}
"""
ARGUMENTS = {
    "done": "u32[1]:zeros",
    "head": "i32[1]:zeros",
    "x": "f32[2560000]:zeros",
    "part": "f32[40000]:zeros",
    "out": "f32[64]:zeros",
    "y": "f32[2560000]:zeros",
}


def predicted(kernel: str, grid: int, **arguments):
    names = {"reduce": ("done", "x", "part", "out"), "queue": ("head", "x", "y")}[kernel]
    given = {name: ARGUMENTS[name] for name in names} | arguments
    return warpwatt.predict(KERNEL, kernel=kernel, gpu="a100", grid=grid, block=64, args=given)


def operations(found) -> float:
    return found.case.workload.execution.flops


@pytest.mark.parametrize("grid", [20, 700, 40_000])
def test_the_block_that_comes_last_does_what_only_the_last_does(grid):
    """Each adds five times a thread; one of all adds and multiplies over 100,000 numbers."""
    each = 5 * 64 * grid
    assert operations(predicted("reduce", grid)) == pytest.approx(each + 200_000, rel=0.001)


def test_a_counter_that_was_not_set_back_lets_no_block_be_the_last(tmp_path):
    np.save(tmp_path / "done.npy", np.array([40_500], np.uint32))
    found = predicted("reduce", 40_000, done=f"u32[1]:{tmp_path / 'done.npy'}")
    assert operations(found) == pytest.approx(5 * 64 * 40_000)


def test_a_queue_is_emptied_once_and_by_all_blocks_alike():
    """5,000 tasks of 64 threads, 20 multiply-adds each: five times the blocks take a fifth of the time."""
    few, many = predicted("queue", 20), predicted("queue", 100)
    assert operations(few) == operations(many) == pytest.approx(5000 * 64 * 40)
    assert many.time.value == pytest.approx(few.time.value / 5, rel=0.2)


def test_blocks_run_one_after_the_other_where_no_counter_steers_them(monkeypatch):
    """Numbers that only say where results go are no matter: nothing is looked at twice."""
    monkeypatch.setattr(tickets, "_looked_at", lambda *_: pytest.fail("looked at"))
    source = """__global__ void append(int* end, const float* x, float* y) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        y[atomicAdd(end, 1) % 1000] = x[i];
    }"""
    arguments = {"end": "i32[1]:zeros", "x": "f32[64000]:zeros", "y": "f32[1000]:zeros"}
    warpwatt.predict(source, gpu="a100", grid=1000, block=64, args=arguments)
