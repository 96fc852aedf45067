"""Tiles that blocks share although no offset tells: beside what every block of the grid touches."""

from __future__ import annotations

import numpy as np
import pytest

import warpwatt
from tests.emulate.caches.kernels import LANES, TracedKernel, slot
from warpwatt.core.launch import Dim3
from warpwatt.core.program import Access
from warpwatt.emulate.caches.footprint import footprint
from warpwatt.emulate.caches.reuse import reuse_of
from warpwatt.emulate.caches.sampled_blocks import SampledBlocks
from warpwatt.emulate.sampling import sample_blocks

ROWS, COLUMNS, GROUP, STEPS = 48, 40, 8, 8
STEP_BYTES = 4096
"""What a block reads of a row of tiles, and of a column, in one step."""


def tile(block: int) -> tuple[int, int]:
    """Return row and column of a block, as Triton's grouped order has them."""
    first, rest = block // (GROUP * COLUMNS) * GROUP, block % (GROUP * COLUMNS)
    size = min(ROWS - first, GROUP)
    return first + rest % size, rest // size


def product(steps: int = STEPS, shift: int = 0) -> TracedKernel:
    """Tiles of a product; with ``shift``, each block reads on from where the one before begins."""

    def accesses(x, y, z):
        row, column = tile(x)
        row, column = (
            (x // 4 * 7 % (ROWS * COLUMNS // 4) * 4 + x % 4 * shift, x)
            if shift
            else (row * STEPS, column * STEPS)
        )
        for warp in range(4):
            at = (warp * 32 + LANES) * 16
            yield [
                (operand, slot(operand + 2) + (first + step) * STEP_BYTES + half * 2048 + at)
                for step in range(steps)
                for half in (0, 1)
                for operand, first in enumerate((row, column))
            ]

    loads = ((Access.LOAD, 16, "ld.global"),) * 2
    size = float(STEPS * STEP_BYTES * max(ROWS, COLUMNS) * 8)
    return TracedKernel(Dim3(ROWS * COLUMNS), Dim3(128), loads, accesses, {2: ("a", size), 3: ("b", size)})


def growths(kernel: TracedKernel, beginnings: TracedKernel | None, numbers: list[int] | None = None):
    blocks = sample_blocks(kernel.grid)
    if numbers is not None:
        blocks = SampledBlocks(kernel.grid, np.array(numbers), np.ones(len(numbers)))
    begin = None if beginnings is None else lambda parts, _: map(beginnings.trace, parts)
    found = reuse_of(kernel.trace(blocks.numbers), kernel.program, blocks, kernel.buffers, begin=begin)
    return {growth.buffer: growth for growth in found.growths}


@pytest.mark.parametrize("count", [8, 60, 216, 640, ROWS * COLUMNS])
def test_tiles_in_groups_of_rows_grow_as_those_of_every_block(count: int):
    """Mean over waves anywhere in the grid."""
    found = growths(product(), product(steps=1))
    tiles = np.array([tile(block) for block in range(ROWS * COLUMNS)])
    for axis, name in enumerate(("a", "b")):
        starts = range(0, ROWS * COLUMNS - count + 1, 7)
        distinct = np.mean([len(np.unique(tiles[first : first + count, axis])) for first in starts])
        exact = distinct * STEPS * STEP_BYTES
        assert footprint(found[name], Dim3(ROWS * COLUMNS), count) == pytest.approx(exact, rel=0.15), name


def test_tiles_are_read_again_after_as_many_blocks_as_lie_between():
    found = growths(product(), product(steps=1))
    (a,) = [lag for lag in found["a"].lags if lag.share > 0.5]
    (b,) = [lag for lag in found["b"].lags if lag.share > 0.5]
    assert (a.blocks, b.blocks) == (GROUP, 1)
    assert b.share == pytest.approx(1 - 1 / GROUP, abs=0.01)


def test_beginnings_that_share_less_than_whole_blocks_say_nothing():
    """Four neighbours each begin two steps further, fours of them anywhere."""
    found = growths(product(shift=2), product(steps=1, shift=2))
    assert found["a"].lags is None


def test_blocks_in_a_row_are_not_run_where_sampled_ones_say_that_beginnings_tell_nothing():
    ran = []

    def begin(parts, _):
        for part in parts:
            ran.append(len(part))
            yield product(steps=1, shift=2).trace(part)

    kernel = product(shift=2)
    blocks = sample_blocks(kernel.grid)
    reuse_of(kernel.trace(blocks.numbers), kernel.program, blocks, kernel.buffers, begin=begin)
    assert ran == [len(blocks.numbers)]


def test_blocks_that_gather_here_and_there_have_no_tiles():
    rows = np.random.default_rng(0).integers(0, 1 << 12, (4096, 16))

    def accesses(x, y, z):
        yield [(0, slot(2) + row * 512 + LANES * 16) for row in rows[x].tolist()]

    load = ((Access.LOAD, 16, "ld.global"),)
    kernel = TracedKernel(Dim3(4096), Dim3(32), load, accesses, {2: ("x", 2.0**21)})
    assert growths(kernel, kernel)["x"].lags is None


EXPERTS, TILES, ROW_BLOCKS = 128, 12, 3
"""Of a mixture of experts: experts, tiles of each one's weights, blocks of rows that an expert has."""


def test_a_row_of_blocks_that_touches_more_than_far_ones_say_is_believed():
    """Blocks of all experts by tiles of weights: three blocks in a row read one tile, and no others do."""
    rows = EXPERTS * ROW_BLOCKS

    def accesses(x, y, z):
        first, rest = x // (64 * TILES) * 64, x % (64 * TILES)
        row, column = first + rest % 64, rest // 64
        at = slot(2) + (row // ROW_BLOCKS * TILES + column) * 4096
        yield [(0, at + half * 512 + LANES * 16) for half in range(8)]

    load = ((Access.LOAD, 16, "ld.global"),)
    size = EXPERTS * TILES * 4096.0
    kernel = TracedKernel(Dim3(rows * TILES), Dim3(32), load, accesses, {2: ("weights", size)})
    tiles = ((0, 7), (1, 2), (3, 11), (4, 5), (8, 1), (11, 8), (13, 3), (19, 10))
    few = [64 * column + ROW_BLOCKS * expert + row for expert, column in tiles for row in range(ROW_BLOCKS)]
    assert growths(kernel, None, few)["weights"].total < 0.1 * size
    assert growths(kernel, kernel, few)["weights"].total == pytest.approx(size, rel=0.05)


KERNEL = """
__global__ void product(const float4* a, const float4* b, float* c) {
    int rest = blockIdx.x % 640;
    int row = blockIdx.x / 640 * 16 + rest % 16, column = rest / 16;
    float sum = 0;
    for (int k = 0; k < 64; ++k) {
        float4 x = a[(row * 64 + k) * 512 + threadIdx.x], y = b[(column * 64 + k) * 512 + threadIdx.x];
        sum += x.x * y.x + x.y * y.y;
    }
    c[blockIdx.x * 512 + threadIdx.x] = sum;
}
"""


@pytest.mark.toolchain
def test_a_grouped_order_finds_its_tiles_in_l2():
    """160 rows, 40 columns of tiles of 512 KiB; a wave of A100 holds fewer than L2 does."""
    args = {"a": f"f32[{160 * 131072}]", "b": f"f32[{40 * 131072}]", "c": f"f32[{6400 * 512}]"}
    found = warpwatt.predict(KERNEL, gpu="a100", grid=6400, block=512, args=args).case.workload
    assert 200 * (512 << 10) <= found.dram.read < 0.1 * found.l2.read
