"""Grids whose blocks do what memory says: a few blocks do not tell what the others do."""

from __future__ import annotations

from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest

import warpwatt
from warpwatt.core.launch import Dim3
from warpwatt.emulate.counted_blocks import COUNTED, count_blocks
from warpwatt.emulate.run import UNBOUNDED, Each, Limits, Stop
from warpwatt.emulate.sampling import sample
from warpwatt.emulate.strategies import LIMITS
from warpwatt.emulate.units import run_units

from .test_units import machine, neighbours

ROWS = """
__global__ void rows(const int* row, const float* x, float* y) {
    float sum = 0;
    for (int i = row[blockIdx.x] + threadIdx.x; i < row[blockIdx.x + 1]; i += blockDim.x) sum += x[i];
    y[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
"""
GUARD = """
__global__ void guard(const int* n, float* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= *n) return;
    float value = i;
    for (int k = 0; k < 50; ++k) value = value * 1.5f + k * value;
    y[i] = value;
}
"""


def operations(source: str, grid: int, **args: str):
    found = warpwatt.predict(source, gpu="a100", grid=grid, block=64, args=args)
    return found.case.workload.execution.flops, found


@pytest.mark.toolchain
def test_rows_of_unequal_length_are_counted_one_by_one(tmp_path: Path):
    """Most of the work lies in one row of twenty, of which a sample of places meets none or too many."""
    lengths = np.where(np.random.default_rng(3).random(3000) < 0.05, 6400, 3)
    np.save(tmp_path / "row.npy", np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32))
    size, blocks = int(lengths.sum()), len(lengths)
    args = {
        "row": f"i32[{blocks + 1}]:{tmp_path / 'row.npy'}",
        "x": f"f32[{size}]:zeros",
        "y": f"f32[{64 * blocks}]:zeros",
    }
    done, found = operations(ROWS, blocks, **args)
    assert done == pytest.approx(size)
    assert found.case.workload.dram.read == pytest.approx(4 * size, rel=0.1)


@pytest.mark.toolchain
def test_a_bound_that_memory_holds_is_found_wherever_it_lies(tmp_path: Path):
    """Of a thousand blocks the first thirty work; but for the very first, no sampled one does."""
    np.save(tmp_path / "n.npy", np.array([30 * 64], np.int32))
    done, found = operations(GUARD, 1000, n=f"i32[1]:{tmp_path / 'n.npy'}", y="f32[64000]:zeros")
    whole, _ = operations(GUARD, 30, n=f"i32[1]:{tmp_path / 'n.npy'}", y="f32[64000]:zeros")
    assert done == pytest.approx(whole)
    classes = found.case.workload.execution.classes
    assert classes is not None
    assert 30 in classes.populations


class Counting:
    """Runs blocks that take as many instructions as :func:`neighbours` says, times something."""

    def __init__(self, times: int) -> None:
        self.times = times
        self.run, self.ran = machine(times)

    def __call__(self, blocks, limits: Limits):
        return self.run(blocks, limits)

    def each(self, blocks, limits: Limits, total: int = UNBOUNDED) -> Each:
        spent = [self.times * neighbours(block) for block in blocks]
        done = np.cumsum(spent) <= total
        stops = tuple(Stop.DONE if ended else Stop.INSTRUCTIONS for ended in done)
        return Each(self.run(blocks, Limits(UNBOUNDED, 0)), stops, tuple(spent))


def counted(times: int, grid: int = 30**3):
    start = Counting(times)
    return count_blocks(lambda: (start, Mock()), run_units(start, sample(Dim3(grid)), LIMITS))


def test_a_grid_that_costs_little_is_counted_whole():
    found = counted(1, grid=16_000)
    assert found is not None
    assert (found.each, found.work.total) == (1.0, sum(map(neighbours, range(16_000))))


def test_of_a_large_grid_blocks_everywhere_are_counted():
    found = counted(100)
    assert found is not None
    assert found.work.total == pytest.approx(100 * sum(map(neighbours, range(30**3))), rel=0.02)
    assert found.run.executions.sum() < 2 * COUNTED[1]


def test_few_of_many_long_blocks_are_not_counted():
    """What they would tell is less than the sample's own blocks do."""
    assert counted(100_000) is None


def test_all_of_few_long_blocks_are_counted():
    """The launch lasts as long as the longest (gpuFLOPBench's ccs: one of 50 works six times the mean)."""
    found = counted(100_000, grid=50)
    assert found is not None
    assert found.work.instructions.tolist() == [100_000 * neighbours(block) for block in range(50)]
