"""Grids whose blocks ask memory whether there is work for them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import warpwatt

pytestmark = pytest.mark.toolchain

KERNEL = """
__global__ void queue(const int* todo, const float* x, float* y) {
    if (!todo[blockIdx.x / 4]) return;
    float sum = 0;
    for (int i = 0; i < 128; ++i) sum += x[(blockIdx.x * 128 + i) * blockDim.x + threadIdx.x];
    y[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
"""
BLOCKS = 1600


def predicted(folder: Path, working: np.ndarray):
    np.save(folder / "todo.npy", working.astype(np.int32))
    args = {
        "todo": f"i32[{len(working)}]:{folder / 'todo.npy'}",
        "x": f"f32[{128 * 128 * BLOCKS}]",
        "y": f"f32[{128 * BLOCKS}]",
    }
    return warpwatt.predict(KERNEL, gpu="a100", grid=BLOCKS, block=128, args=args)


def test_blocks_that_exit_at_once_are_counted_one_by_one(tmp_path: Path):
    """Of 1600 blocks a third works, in fours spread at random: its time and bytes are a third of all's."""
    working = np.random.default_rng(1).random(BLOCKS // 4) < 1 / 3
    share = working.mean()
    some, every = predicted(tmp_path, working), predicted(tmp_path, np.ones_like(working))
    classes = some.case.workload.execution.classes
    assert classes is not None
    assert sorted(classes.populations) == sorted([4 * working.sum(), BLOCKS - 4 * working.sum()])
    assert every.case.workload.execution.classes is None
    assert some.case.workload.dram.read == pytest.approx(share * every.case.workload.dram.read, rel=0.05)
    assert some.time.value == pytest.approx(share * every.time.value, rel=0.15)
