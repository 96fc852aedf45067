"""Latencies of loads whose data others have asked for, and of what the compiler waits for besides."""

from __future__ import annotations

import pytest

import warpwatt
from warpwatt.models.dram import slowdown, visit_bytes
from warpwatt.models.pipeline.model import chip_launch, moved_over_missed

pytestmark = pytest.mark.toolchain
CHAIN = """
__global__ void chain(const float* x, float* y, int n) {
    float sum = threadIdx.x;
    for (int i = 0; i < n; ++i) sum = sum / x[i];
    y[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
"""


def predict(blocks: int, block: int = 32, l2: str = "cold"):
    return warpwatt.predict(
        CHAIN, gpu="rtx3080", grid=blocks, block=block, l2=l2,
        args={"n": "2048", "x": "f32[2048]:ones", "y": f"f32[{blocks * block}]:zeros"},
    )  # fmt: skip


def test_data_is_there_no_sooner_for_many_sms_than_for_one():
    """All read the same floats in step: what one has missed, the others wait for as long."""
    alone, all_of_them = predict(1), predict(68)
    hits = [h for h in all_of_them.case.workload.hits.values() if h.l2_hits > 0.9]
    assert hits
    assert all_of_them.time.value == pytest.approx(alone.time.value, rel=0.05)
    assert predict(68, l2="warm").time.value < 0.9 * alone.time.value


def test_all_warps_of_a_block_wait_for_what_one_has_missed():
    """As 8 blocks of 8 warps on an RTX 3080 (gpuFLOPBench, eigenvalue: 415 us, 260 where half did)."""
    assert predict(8, block=256).time.value > 0.85 * predict(1).time.value


def test_dram_moves_no_more_for_it():
    found = predict(68)
    launched = chip_launch(found.case)
    visit = visit_bytes(found.case.gpu, found.case.clocks)
    waiting = {i: hits for i, hits in found.case.workload.hits.items() if hits.l2_in_flight}
    assert waiting
    for index, hits in waiting.items():
        row, times = launched.table[index], slowdown(hits.run, visit) * moved_over_missed(hits)
        assert row["l2_miss_rate"] * row["dram_slowdown"] == pytest.approx(times * (1 - hits.l2_hits))


def test_whatever_sets_a_scoreboard_takes_its_time():
    """FCHK of a division, too, whose result was there at once."""
    found = predict(1)
    launched = chip_launch(found.case)
    for i in launched.program.instructions:
        if i.control is not None and i.control.write_barrier is not None:
            assert launched.table[i.index]["latency"] > 0, i.opcode
    assert any(i.opcode == "FCHK" for i in launched.program.instructions)
