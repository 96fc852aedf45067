"""Stores that few slices of L2 have to take, one after the other."""

from __future__ import annotations

import pytest

import warpwatt
from warpwatt.models.roofs import L2_CLOCK_SHARE

pytestmark = pytest.mark.toolchain
SOURCE = """
extern "C" __global__ void flag(volatile unsigned char *flags, int times, int apart) {
    for (int i = 0; i < times; i++) flags[blockIdx.x * apart] = i;
}
"""
BLOCKS, WARPS, TIMES, CLOCK = 612, 4, 1000, 1.44e9


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    path = tmp_path_factory.mktemp("hot") / "flag.cu"
    path.write_text(SOURCE, encoding="utf-8")
    return path


def _seconds(source, apart: int):
    """Return the prediction for blocks that are all resident, whose flags lie so many bytes apart."""
    return warpwatt.predict(
        source, gpu="rtx3080", grid=BLOCKS, block=32 * WARPS, clock="1440,9501",
        args={"flags": f"u8[{BLOCKS * apart}]", "times": TIMES, "apart": apart},
    )  # fmt: skip


def test_a_byte_for_each_block_keeps_three_slices_busy(source) -> None:
    """612 bytes lie in two or three pieces of 256 bytes, or four; each takes a store in a clock of L2's."""
    prediction = _seconds(source, 1)
    stores = BLOCKS * WARPS * TIMES / CLOCK / L2_CLOCK_SHARE
    assert prediction.timing.bottleneck == "stores to few lines"
    assert stores / 4 < prediction.time.value < stores / 2
    assert prediction.timing.breakdown["stores to few lines"] > 0


def test_flags_far_apart_are_taken_by_all_slices(source) -> None:
    prediction = _seconds(source, 4096)
    assert "hot lines" not in prediction.timing.utilisation
    assert prediction.timing.bottleneck == "stores leaving the SMs"
    assert prediction.time.value < 0.5 * _seconds(source, 1).time.value
