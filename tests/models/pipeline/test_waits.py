"""Waiting takes the time that the program asks for."""

from __future__ import annotations

import numpy as np
import pytest

from tests.models.pipeline.tables import inputs, table
from warpwatt.compose import predict
from warpwatt.core.arguments import parse_arguments
from warpwatt.core.launch import Dim3, Launch
from warpwatt.core.prediction import Prediction
from warpwatt.core.program import Flow, Instruction, Level, Program, Register
from warpwatt.core.streams import WarpStreams
from warpwatt.emulate.run import CLOCK_TICK
from warpwatt.emulate.spins import without_spins
from warpwatt.frontend.compiled import Source
from warpwatt.frontend.load import load_kernel
from warpwatt.gpus import find
from warpwatt.models.pipeline.simulator import simulate

WAITS = b"""
extern "C" __global__ void sleeps(int *x) {
  for (int i = 0; i < 5; ++i) __nanosleep(1000000);
  x[threadIdx.x] = 1;
}
extern "C" __global__ void spins(long long *x, long long cycles) {
  long long t = clock64();
  while (clock64() - t < cycles) {}
  x[threadIdx.x] = t;
}
extern "C" __global__ void lock(int *lock, float *sum) {
  if (threadIdx.x == 0) {
    while (atomicCAS(lock, 0, 1)) {}
    sum[0] += 1.f;
    __threadfence();
    atomicExch(lock, 0);
  }
}
"""


def test_a_warp_that_sleeps_leaves_the_others_their_units() -> None:
    rows = table(3, pipe=3, pipe_cycles=2)
    rows["sleep_cycles"][1] = 5000
    for warps in (1, 8):
        assert simulate(inputs(rows, warps=warps)).counters.cycles == pytest.approx(5000, abs=50)


def test_rounds_of_a_loop_on_the_clock_become_a_wait() -> None:
    """Two warps enter (0), go round (1-3) five times and twice, and leave (4)."""
    clock = Instruction(1, "CS2R", (Register("R4"), Register("SR_CLOCKLO")), writes=("R4",))
    jump = Instruction(3, "BRA", flow=Flow.JUMP, targets=("L",), reads=("P0",))
    rest = [Instruction(i, "IADD3") for i in (0, 2, 4)]
    body = tuple(sorted([clock, jump, *rest], key=lambda i: i.index))
    program = Program("k", Level.SASS, "sm_90", body, {"L": 1})
    steps = [[0, 1, 0], *[[1, 4, 0]] * 5, [4, 5, 0], [0, 1, 0], *[[1, 4, 0]] * 2, [4, 5, 0]]
    none, whole = np.zeros(0), np.zeros(0, np.int64)
    streams = WarpStreams(2, (0,), np.array([0, 7, 11]), np.array(steps), whole, none, none, none, none)
    found = without_spins(streams, program)
    assert found.steps.tolist() == [[0, 1, 0], [1, 4, 0], [4, 5, 0]] * 2
    assert found.starts.tolist() == [0, 3, 6]
    assert found.waits == {3: CLOCK_TICK * 3 * (4 + 1) / 2}
    assert found.waited == 3 * (4 + 1)
    assert without_spins(found, program).steps.tolist() == found.steps.tolist()


def predicted(name: str, block: int, *arguments: str) -> Prediction:
    kernel = load_kernel(Source("<waits>", WAITS), "sm_90", name=name)
    launch = Launch(Dim3(8), Dim3(block), arguments=parse_arguments(list(arguments)))
    return predict(kernel, launch, find("h200"))


@pytest.mark.toolchain
@pytest.mark.parametrize("block", [32, 1024])
def test_a_loop_on_the_clock_takes_its_cycles_whatever_the_number_of_warps(block: int) -> None:
    found = predicted("spins", block, "cycles=200000", "x=i64[1024]")
    assert found.time.value == pytest.approx(200000 / found.case.clocks.sm, rel=0.03)


@pytest.mark.toolchain
def test_sleeping_takes_what_it_asks_for_give_or_take_as_much() -> None:
    found = predicted("sleeps", 64, "x=i32[64]")
    assert found.time.value == pytest.approx(5e-3, rel=0.01)
    assert found.time.low < 3.1e-3
    assert found.time.high > 8e-3
    assert any("__nanosleep" in a.message for a in found.assumptions)


@pytest.mark.toolchain
def test_a_lock_is_named() -> None:
    found = predicted("lock", 64, "lock=i32[1]:zeros", "sum=f32[1]")
    (named,) = [a for a in found.assumptions if "waits for other blocks" in a.message]
    assert "line 13 takes a lock" in named.message
    assert named.spread > 1
    assert 0.7 * found.time.value < found.time.low, "waiting does not make it quicker"
    assert found.time.high > 5 * found.time.value


SUMMED = b"""
extern "C" __global__ void summed(const float *x, float *y, int same) {
  __shared__ float sums[32];
  if (threadIdx.x < 32) sums[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(&sums[same ? 0 : threadIdx.x % 32], x[blockIdx.x * blockDim.x + threadIdx.x]);
  __syncthreads();
  if (threadIdx.x < 32) y[blockIdx.x * 32 + threadIdx.x] = sums[threadIdx.x];
}
"""


@pytest.mark.toolchain
@pytest.mark.parametrize("same", [0, 1])
def test_a_compare_and_swap_that_threads_undo_is_named(same: int) -> None:
    """Shared memory adds floats by one before Hopper."""
    kernel = load_kernel(Source("<waits>", SUMMED), "sm_86", name="summed")
    arguments = parse_arguments(["x=f32[2048]", "y=f32[256]", f"same={same}"])
    found = predict(kernel, Launch(Dim3(8), Dim3(256), arguments=arguments), find("rtx3080"))
    named = [a.message for a in found.assumptions if a.parameter == "compare-and-swap"]
    assert len(named) == same
    assert all("line 6) is tried 32 times" in message for message in named)


ADDED = b"""
extern "C" __global__ void added(unsigned long long *sums, int places) {
  unsigned long long i = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x;
  unsigned long long *sum = sums + (threadIdx.x % 2 ? i : i - 1) % places, old = *sum, seen;
  do { seen = old; old = atomicCAS(sum, seen, seen + i + 1); } while (seen != old);
}
"""


@pytest.mark.toolchain
@pytest.mark.parametrize(("places", "least", "most"), [(1, 900, 8200), (1 << 18, 1.4, 3)])
def test_who_succeeds_may_undo_all_that_are_at_its_address(places: int, least: float, most: float) -> None:
    """A sum of as many threads took 3.09 s on an RTX 3080 (gpuFLOPBench, atomicCAS): 966 times its queue."""
    kernel = load_kernel(Source("<waits>", ADDED), "sm_86", name="added")
    arguments = parse_arguments([f"sums=u64[{places}]:zeros", f"places={places}"])
    found = predict(kernel, Launch(Dim3(1024), Dim3(256), arguments=arguments), find("rtx3080"))
    assert "compare-and-swap" in {a.parameter for a in found.assumptions}
    assert least < found.time.high / found.time.value < most, found.time


SHARED_STATE = b"""
#include <cooperative_groups.h>
#include <cuda/pipeline>
extern "C" __global__ void staged(const float *x, float *y, int rows) {
  __shared__ float b[2][256];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  auto block = cooperative_groups::this_thread_block();
  auto pipe = cuda::make_pipeline(block, &state);
  for (int r = 0, ahead = 0; r < rows; ++r) {
    for (; ahead < rows && ahead < r + 2; ++ahead) {
      pipe.producer_acquire();
      cuda::memcpy_async(block, b[ahead % 2], x + (size_t)ahead * 256, sizeof(float) * 256, pipe);
      pipe.producer_commit();
    }
    pipe.consumer_wait();
    y[(size_t)r * 256 + threadIdx.x] = b[r % 2][255 - threadIdx.x];
    pipe.consumer_release();
  }
}
"""


@pytest.mark.toolchain
def test_waits_of_a_pipeline_with_shared_state_are_one_round_each() -> None:
    """Machine code of compute capability 8.6; without polls a row takes some hundred instructions a warp."""
    gpu, rows = find("rtx3080"), 64
    kernel = load_kernel(Source("<staged>", SHARED_STATE), gpu.target, name="staged")
    given = parse_arguments(["x=f32[rows*256]", "y=f32[rows*256]", f"rows={rows}"])
    found = predict(kernel, Launch(Dim3(1), Dim3(256), arguments=given), gpu)
    execution = found.case.workload.execution
    assert execution.program.level is Level.SASS
    assert execution.warp_instructions < 500 * rows * 8
    assert any("waits for other threads of a block are not timed" in a.message for a in found.assumptions)
