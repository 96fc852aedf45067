"""Launches whose blocks do unequal work end with their last block, and share what the chip has."""

import heapq
import itertools
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import warpwatt
from warpwatt.models.pipeline.unequal import makespan

SOURCE = """extern "C" __global__ void unequal(float *x, int n, int from, int to, int step, int phase) {
    int b = blockIdx.x;
    int count = b >= from && b < to && b % step == phase ? n : 4;
    float a = x[threadIdx.x];
    for (int k = 0; k < count; ++k) a = a * 1.1f + 1.f;
    x[threadIdx.x + (b & 63) * 128] = a;
}
extern "C" __global__ void triangular(const float *A, const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float s = 0;
    for (int j = 0; j <= i && i < n; ++j) s += A[(long)j * n + i] * x[j];
    if (i < n) y[i] = s;
}
"""
SPARSE = """extern "C" __global__ void sparse(float *x, int n, int every) {
    if (blockIdx.x % every == every - 1) return;
    float a = x[threadIdx.x];
    for (int k = 0; k < n; ++k) a = a * 1.1f + 1.f;
    x[threadIdx.x + (blockIdx.x & 63) * 128] = a;
}
"""
RUNS = st.lists(st.tuples(st.sampled_from([1.0, 2.0, 7.0]), st.integers(1, 40)), min_size=1, max_size=5)


@given(RUNS, st.integers(1, 8))
def test_blocks_start_in_order_in_the_first_slot_that_is_free(runs, slots):
    """Whole rounds taken at once differ from following every block by less than one block."""
    free = [0.0] * slots
    for duration in itertools.chain.from_iterable([d] * n for d, n in runs):
        start = heapq.heappop(free)
        heapq.heappush(free, start + duration)
    assert makespan(runs, slots) == pytest.approx(max(free), abs=max(d for d, _ in runs))


def predicted(tmp_path, kernel, grid, block, args, gpu="h200"):
    file = tmp_path / "k.cu"
    file.write_text(SOURCE)
    return warpwatt.predict(file, gpu=gpu, kernel=kernel, grid=grid, block=block, args=args)


def unequal(tmp_path, grid, n, first=0, last=10**9, step=1, phase=0):
    numbers = {"n": n, "from": first, "to": last, "step": step, "phase": phase}
    return predicted(tmp_path, "unequal", grid, 128, {"x": "f32[8192]", **numbers})


@pytest.mark.toolchain
@pytest.mark.parametrize("where", ["first", "last", "thousandth"])
def test_a_grid_takes_no_less_than_its_longest_block(tmp_path, where):
    alone = unequal(tmp_path, 1, 100_000).time.value
    places = {"first": (0, 1, 1, 0), "last": (9999, 10_000, 1, 0), "thousandth": (0, 10_000, 1000, 7)}
    found = unequal(tmp_path, 10_000, 100_000, *places[where])
    assert alone <= found.time.value < 1.3 * alone
    assert any("as long as the block that works longest" in w for w in found.warnings)
    working = r"\d+" if where == "thousandth" else "1"  # a sample says only about how many
    remark = re.compile(f"all but {working} of 10,000 blocks do next to nothing")
    assert any(remark.fullmatch(w) for w in found.warnings)


@pytest.mark.toolchain
def test_blocks_without_work_cost_little_and_are_told(tmp_path):
    right = unequal(tmp_path, 390, 2000).time.value
    large = unequal(tmp_path, 16_000, 2000, 0, 390)
    empty = unequal(tmp_path, 16_000, 4).time.value
    assert right <= large.time.value < 1.2 * (right + empty)
    assert any(w.startswith("98% of the blocks do next to nothing: 390 ") for w in large.warnings)


@pytest.mark.toolchain
def test_a_triangle_takes_no_less_than_its_bytes_and_its_longest_row(tmp_path):
    def triangle(grid, n):
        args = {"n": n, "A": "f32[n*n]", "x": "f32[n]", "y": "f32[n]"}
        return predicted(tmp_path, "triangular", grid, 256, args)

    half, few, many = triangle(8, 2048), triangle(16, 4096), triangle(400, 102_400)
    assert many.time.value > 102_400**2 / 2 * 4 / 4.9e12
    counted = [p.case.workload.execution.warp_instructions for p in (half, few, many)]
    assert counted[1] / counted[0] == pytest.approx(4.0, rel=0.05)
    assert counted[2] / counted[1] == pytest.approx(25.0**2, rel=0.05)


@pytest.mark.toolchain
def test_the_block_that_works_is_found_in_a_small_grid_that_is_run_whole(tmp_path):
    """Fewer blocks than SMs, of which the ninth alone works: it lasts as long as that block."""
    alone = unequal(tmp_path, 1, 3000).time.value
    found = unequal(tmp_path, 24, 3000, first=8, last=9)
    assert found.time.value == pytest.approx(alone, rel=0.1)


@pytest.mark.toolchain
def test_units_of_many_waves_of_long_blocks_are_as_busy_as_their_work_says(tmp_path):
    """The first half of the blocks do 1,500 multiply-adds in each of four warps."""
    grid, n = 132 * 16 * 12, 1500
    found = unequal(tmp_path, grid, n, last=grid // 2)
    gpu = found.case.gpu
    each_cycle = gpu.sm_count * gpu.capability.throughput["fp32_add_mul_fma"] / 32
    work = grid / 2 * 4 * n / each_cycle / found.case.clocks.sm
    assert found.timing.utilisation["fp32"] == pytest.approx(work / found.time.value, rel=0.1)


@pytest.mark.toolchain
def test_blocks_that_do_nothing_do_not_keep_others_apart(tmp_path):
    """Every fourth block does nothing: the others stand as close together as without it."""
    grid, n = 132 * 16 * 3, 2000
    mixed = warpwatt.predict(
        SPARSE, gpu="h200", grid=grid // 3 * 4, block=128, args={"x": "f32[8192]", "n": n, "every": 4}
    )
    alone = warpwatt.predict(
        SPARSE, gpu="h200", grid=grid, block=128, args={"x": "f32[8192]", "n": n, "every": 10**9}
    )
    assert alone.time.value * 0.97 <= mixed.time.value < 1.15 * alone.time.value


DATA_STEERED = """extern "C" __global__ void steered(const int *trips, float *x) {
    int n = trips[blockIdx.x];
    float a = x[threadIdx.x];
    for (int k = 0; k < n; ++k) a = a * 1.1f + 1.f;
    x[blockIdx.x * blockDim.x + threadIdx.x] = a;
}
extern "C" __global__ void barriers(const int *trips, float *x) {
    __shared__ float s[256];
    int n = trips[blockIdx.x];
    float a = x[threadIdx.x];
    for (int k = 0; k < n; ++k) {
        s[threadIdx.x] = a;
        __syncthreads();
        a += s[(threadIdx.x + 1) & 255];
        __syncthreads();
    }
    x[blockIdx.x * blockDim.x + threadIdx.x] = a;
}
"""


@pytest.mark.toolchain
@pytest.mark.parametrize("kernel", ["steered", "barriers"])
def test_one_wave_ends_with_the_sm_that_data_gave_the_most_work(tmp_path, kernel):
    """Half of the blocks are long: of 132 SMs some get hardly any other, and none ends before one of them."""
    grid = 1056

    def time(trips):
        file, values = tmp_path / "k.cu", tmp_path / "trips.npy"
        file.write_text(DATA_STEERED)
        np.save(values, np.array(trips, np.int32))
        args = {"trips": f"i32[{len(trips)}]:{values}", "x": f"f32[{256 * len(trips)}]"}
        return warpwatt.predict(
            file, gpu="h200", kernel=kernel, grid=len(trips), block=256, args=args
        ).time.value

    long, short = 400, 5
    half = np.where(np.random.default_rng(1).random(grid) < 0.5, long, short)
    alone, all_long, found = time([long]), time([long] * grid), time(half.tolist())
    assert found >= alone
    assert 0.8 * all_long <= found <= all_long * 1.001
