"""Constants that do not fit into their cache keep the warps of an SM waiting, one after the other."""

from __future__ import annotations

import pytest

from warpwatt.compose import predict
from warpwatt.core.arguments import parse_arguments
from warpwatt.core.launch import Dim3, Launch
from warpwatt.core.prediction import Prediction
from warpwatt.core.warps import Stall
from warpwatt.frontend.compiled import Source
from warpwatt.frontend.load import load_kernel
from warpwatt.gpus import find
from warpwatt.models.pipeline.machine import parameters

SUMS = b"""
__constant__ float table[16384];
extern "C" __global__ void walks(float *y, int count) {
  float sum = 0;
  for (int i = 0; i < count; ++i) sum = fmaf(sum, 0.5f, table[i]);
  y[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
extern "C" __global__ void looks_up(float *y, const int *place, int apart) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < 64; ++k) sum += table[(threadIdx.x * apart + k) & 511];
  y[i] = sum;
}
"""
GPU = find("rtx3080")
BYTES, LINE = 4, 64


def predicted(name: str, blocks: int, *arguments: str) -> Prediction:
    """Return the prediction of one of the kernels, in blocks of 256."""
    kernel = load_kernel(Source("<constants>", SUMS), GPU.target, name=name)
    return predict(kernel, Launch(Dim3(blocks), Dim3(256), arguments=parse_arguments(arguments)), GPU)


@pytest.mark.toolchain
def test_each_warp_waits_for_each_line_of_a_table_that_does_not_fit() -> None:
    """16 KiB, by 8 and by 16 warps of each SM: their lines take their turns; 2 KiB wait for nothing."""
    clock = {}
    for blocks in (GPU.sm_count, 2 * GPU.sm_count):
        found = predicted("walks", blocks, f"y=f32[{blocks * 256}]", "count=4096")
        case = found.case
        clock[blocks] = found.time.value * case.clocks.sm
        assert found.timing.stalls[Stall.IMC_MISS] > 0.5
        assert all(reads.far_misses == 0 for reads in case.workload.execution.constants.values())
    lines = 8 * 4096 * BYTES / LINE
    more = clock[2 * GPU.sm_count] - clock[GPU.sm_count]
    assert more == pytest.approx(lines * parameters(GPU.capability.version)["constant_miss_cycles"], rel=0.03)
    assert not predicted("walks", 68, "y=f32[17408]", "count=512").case.workload.execution.constants


@pytest.mark.toolchain
def test_lanes_that_read_different_constants_take_turns() -> None:
    """One address costs nothing, 32 in each of 64 rounds 31 turns; all in a cache of 2 KiB."""
    same, apart = (predicted("looks_up", 68, "y=f32[17408]", "place=i32[1]", f"apart={n}") for n in (0, 1))
    assert not same.case.workload.execution.constants
    reads = list(apart.case.workload.execution.constants.values())
    assert {r.addresses for r in reads} == {32.0}
    assert all(r.misses == 0 for r in reads)
    turns = 8 * 64 * 31 * parameters(GPU.capability.version)["constant_address_cycles"]
    assert apart.time.value * apart.case.clocks.sm > turns > same.time.value * same.case.clocks.sm
