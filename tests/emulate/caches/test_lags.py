"""What blocks far behind each other share, against every access of small grids run in full."""

import dataclasses

import numpy as np
import pytest

from tests.emulate.caches import kernels
from warpwatt.core.launch import Dim3
from warpwatt.core.program import Access, Resources
from warpwatt.emulate.caches.distance import sector_distances
from warpwatt.emulate.caches.lags import lags, pattern
from warpwatt.emulate.sampling import sample_blocks
from warpwatt.emulate.workload import workload
from warpwatt.gpus import find

RESOURCES = Resources(registers=16)
SEEDS = range(40)


def shifted(grid: Dim3, steps: tuple[int, int, int], offsets: list[int]) -> kernels.TracedKernel:
    """Each block reads lines at offsets from where it stands, and writes one of its own."""

    def accesses(x, y, z):
        at = 128 * (x * steps[0] + y * steps[1] + z * steps[2]) + 4 * kernels.LANES
        own = 128 * (x + grid.x * (y + grid.y * z)) + 4 * kernels.LANES
        reads = [(k, kernels.slot(2) + at + 128 * offset) for k, offset in enumerate(offsets)]
        yield [*reads, (len(offsets), kernels.slot(3) + own)]

    load, store = (Access.LOAD, 4, "ld.global.f32"), (Access.STORE, 4, "st.global.f32")
    buffers: dict[int, tuple[str, float | None]] = {2: ("x", None), 3: ("y", None)}
    return kernels.TracedKernel(grid, Dim3(32), (*[load] * len(offsets), store), accesses, buffers)


def drawn(seed: int) -> kernels.TracedKernel:
    """Return a kernel with a random grid, random steps and random offsets, all of them met again or not."""
    draw = np.random.default_rng(seed)
    dimensions = seed % 3 + 1
    extents = [int(e) for e in draw.integers(*((200, 600), (12, 30), (5, 10))[dimensions - 1], dimensions)]
    grid = Dim3(*extents)
    x = int(draw.integers(1, 4))
    y = x * (grid.x + int(draw.integers(0, 9)))
    steps = (x, y, y * (grid.y + int(draw.integers(0, 5))))
    margin = 1 + steps[2] * 3
    lags = [draw.integers(-3, 4, 3) * (np.arange(3) < dimensions) for _ in range(draw.integers(1, 5))]
    far = [int(lag @ np.array(steps)) + int(draw.integers(0, 2)) for lag in lags]
    if dimensions == 1:
        far += [int(draw.integers(-80, 80)) * x]
    return shifted(grid, steps, [margin + offset for offset in dict.fromkeys([0, *far])])


def distances(kernel: kernels.TracedKernel) -> np.ndarray:
    """Return how many lines lie between two reads of one, for the blocks one after another."""
    trace = kernel.trace(range(kernel.grid.count))
    lines = (trace.lines >> np.uint64(7)).astype(np.int64)
    masks = (trace.lines & np.uint64(15)).astype(np.uint8)
    far = sector_distances(lines, masks, np.full(len(lines), True), np.ones(len(lines)))
    return far[lines >> 33 == 2]


@pytest.mark.parametrize("seed", SEEDS)
def test_footprints_of_sampled_grids_are_those_of_all_blocks(seed):
    kernel = drawn(seed)
    reuse = kernel.execution(sample_blocks(kernel.grid).numbers).reuse
    total = sum(g.total for g in reuse.growths if g.buffer == "x")
    assert total == pytest.approx(kernels.exact_footprint(kernel, 2), rel=0.05)


@pytest.mark.parametrize("seed", SEEDS)
def test_dram_reads_lie_between_those_of_a_larger_and_a_smaller_simulated_cache(seed):
    kernel = drawn(seed)
    far = distances(kernel)
    size = 128 * int(np.random.default_rng(seed).integers(16, 400))
    least, most = (32 * (far >= scale * size / 128).sum() for scale in (2.5, 0.4))
    gpu = dataclasses.replace(find("rtx3090"), l2_size=size, sm_count=2, l1_shared_per_sm=1024)
    work = workload(kernel.execution(sample_blocks(kernel.grid).numbers), gpu, RESOURCES)
    assert 0.93 * least <= work.dram.read <= 1.07 * most


@pytest.mark.parametrize(("rows_apart", "times"), [(40, 1), (3_000, 3)])
def test_rows_of_an_image_are_read_once_whether_one_axis_numbers_them_or_two(rows_apart, times):
    """Of blocks of 512 bytes; L2 holds the 40 blocks between two touches, not the 3,000."""
    flat = shifted(Dim3(12_000), (1, 0, 0), [k * rows_apart for k in range(3)])
    rows = shifted(
        Dim3(rows_apart, 12_000 // rows_apart), (1, rows_apart, 0), [k * rows_apart for k in range(3)]
    )
    gpu = dataclasses.replace(find("rtx3090"), l2_size=100_000, sm_count=2)
    one, two = (workload(k.execution(sample_blocks(k.grid).numbers), gpu, RESOURCES) for k in (flat, rows))
    assert one.dram.read == pytest.approx(times * 128 * 12_000, rel=0.02, abs=128 * 2 * rows_apart)
    assert two.dram.read == pytest.approx(one.dram.read, rel=0.05)


def test_ends_of_an_array_inside_a_block_are_not_shared_with_the_next_row():
    """Rows of 7 sectors, walked by blocks of 4 in x and 2 rows in y: the last block of a row has 3."""
    sets, coordinates = [], []
    for x, y in ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (0, 9), (1, 9)):
        columns = np.arange(4 * x, min(7, 4 * x + 4))
        sets.append(np.concatenate([columns + 7 * (2 * y + row) for row in range(2)]))
        coordinates.append((x, y, 0))
    assert lags(pattern(sets, np.array(coordinates), (4.0, 14.0, 0.0), Dim3(2, 10))) == ()


def test_rows_are_not_found_again_by_blocks_that_do_nothing():
    """256 of 640 blocks of a row store 64 bytes of each of 16 rows of 16 KiB (HeCBench's zoom)."""
    grid, width = Dim3(640, 200), 16_384

    def accesses(x, y, z):
        warps = range(0, 16, 2) if 192 <= x < 448 else ()
        for row in range(0, 16, 2):
            at = (16 * y + row + kernels.LANES // 16) * width + (x - 192) * 64 + kernels.LANES % 16 * 4
            yield [(0, kernels.slot(1) + at)] if row in warps else []

    store = (Access.STORE, 4, "STG.E")
    kernel = kernels.TracedKernel(grid, Dim3(256), (store,), accesses, {1: ("out", None)})
    numbers = np.sort(np.random.default_rng(3).choice(grid.count, 24, replace=False))
    (growth,) = kernel.execution(numbers).reuse.growths
    assert growth.total == pytest.approx(growth.block_bytes * grid.count)
