"""Atomics that L2 takes one after the other: their time, and what everything else has of it."""

from __future__ import annotations

import pytest

import warpwatt

pytestmark = pytest.mark.toolchain
SOURCE = """
extern "C" __global__ void scatter(float *field, const float *x, int n, int per) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&field[i / per], x[i]);
}
"""
OPERATIONS = 524_288
CLOCK = 1.44e9


@pytest.fixture(scope="module")
def prediction(tmp_path_factory):
    """Return half a million sums into 64 neighbouring places, a whole warp into one at a time."""
    path = tmp_path_factory.mktemp("atomics") / "scatter.cu"
    path.write_text(SOURCE, encoding="utf-8")
    n, per = OPERATIONS, OPERATIONS // 64
    return warpwatt.predict(
        path, gpu="rtx3080", grid=n // 256, block=256, clock="1440,9501",
        args={"field": "f32[64]", "x": "f32[n]", "n": n, "per": per},
    )  # fmt: skip


def test_lanes_on_one_address_keep_their_slice_busy_one_by_one(prediction):
    """64 floats lie in one slice of L2, which takes one of their sums in two clocks at most."""
    assert prediction.timing.bottleneck == "atomics on one address"
    assert prediction.time.value > 2 * OPERATIONS / CLOCK


def test_shares_of_other_units_are_shares_of_the_whole_time(prediction):
    """2 MiB of DRAM at some 700 GB/s are 3 µs of more than 720."""
    assert prediction.timing.utilisation["dram"] < 0.02
    assert prediction.timing.utilisation["atomics"] > 0.95
