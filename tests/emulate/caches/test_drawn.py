"""Gathers at random: how footprints grow and what L2 keeps of them, beside every block and an LRU cache."""

import dataclasses

import numpy as np
import pytest

from tests.emulate.caches import kernels
from warpwatt.core.launch import Dim3
from warpwatt.core.program import Access, Resources
from warpwatt.emulate.caches.distance import sector_distances
from warpwatt.emulate.caches.footprint import footprint
from warpwatt.emulate.sampling import sample_blocks
from warpwatt.emulate.workload import workload
from warpwatt.gpus import find

BLOCKS, GATHERS, TABLE = 2_000, 4, 6_000
"""Blocks of one warp, its gathers, and the sectors of a table; each is read 43 times in all."""


@pytest.fixture(scope="module")
def gather():
    """Return a kernel that gathers from a table, and the sectors that its blocks touch, in their order.

    Between its gathers every block reads 512 bytes that no other does.
    """
    drawn = np.random.default_rng(0).integers(0, TABLE, (BLOCKS, GATHERS, 32))

    def accesses(x, y, z):
        rows = [(0, kernels.slot(2) + 32 * row) for row in drawn[x]]
        yield [*rows, (1, kernels.slot(3) + (x * 32 + kernels.LANES) * 16)]

    loads = (Access.LOAD, 4, "ld.global.cg.f32"), (Access.LOAD, 16, "ld.global.cg.v4.f32")
    buffers: dict[int, tuple[str, float | None]] = {2: ("table", TABLE * 32.0), 3: ("read once", None)}
    kernel = kernels.TracedKernel(Dim3(BLOCKS), Dim3(32), loads, accesses, buffers)
    lines = kernel.trace(range(BLOCKS)).lines
    row, bit = np.nonzero(lines[:, None] >> np.arange(4, dtype=np.uint64) & np.uint64(1))
    return kernel, (lines[row] >> np.uint64(7)).astype(np.int64) * 4 + bit, drawn


@pytest.mark.parametrize("blocks", [1, 20, 60, 200, 600, BLOCKS])
def test_footprints_are_those_of_all_blocks(gather, blocks):
    kernel, _, drawn = gather
    growths = kernel.execution(sample_blocks(kernel.grid).numbers).reuse.growths
    (table,) = (growth for growth in growths if growth.buffer == "table")
    exact = 32 * len(np.unique(drawn[:blocks]))
    assert footprint(table, kernel.grid, blocks) == pytest.approx(exact, rel=0.05)


@pytest.mark.parametrize("size", [30_000, 60_000, 120_000, 240_000, 480_000])
def test_dram_reads_lie_between_those_of_a_larger_and_a_smaller_cache(gather, size):
    kernel, sectors, _ = gather
    one = np.ones(len(sectors))
    far = sector_distances(sectors, one.astype(np.uint8), one > 0, one)[:, 0]
    least, most = (32 * int((far >= scale * size / 32).sum()) for scale in (2.0, 0.5))
    gpu = dataclasses.replace(find("rtx3090"), l2_size=size, sm_count=2, l1_shared_per_sm=1024)
    work = workload(kernel.execution(sample_blocks(kernel.grid).numbers), gpu, Resources(registers=16))
    assert 0.95 * least <= work.dram.read <= 1.05 * most
