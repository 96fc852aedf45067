"""Streams of warps: what one execution of an instruction accesses is one access."""

from __future__ import annotations

import pytest

from warpwatt.compose import predict
from warpwatt.core.arguments import Buffer, DType
from warpwatt.core.launch import Dim3, Launch
from warpwatt.emulate.first_execution import execute
from warpwatt.frontend.compiled import Source
from warpwatt.frontend.load import load_kernel
from warpwatt.frontend.options import CompileOptions
from warpwatt.gpus import find

ROWS, COLUMNS = 2048, 2048
COPY = f"""
#include <cuda_pipeline.h>
extern "C" __global__ void copy(const float *x, float *y) {{
  __shared__ __align__(16) float row[{COLUMNS}];
  size_t first = (size_t)blockIdx.x * {COLUMNS};
  for (int i = threadIdx.x * 4; i < {COLUMNS}; i += 1024)
    __pipeline_memcpy_async(&row[i], &x[first + i], 16);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  for (int i = threadIdx.x; i < {COLUMNS}; i += 256) y[first + i] = row[i] * 2.f;
}}
"""
MATRICES = """
#include <mma.h>
using namespace nvcuda::wmma;
extern "C" __global__ void matrices(const half *x, float *y) {
  __shared__ half tile[16 * 16];
  for (int i = threadIdx.x; i < 256; i += 32) tile[i] = x[i];
  __syncthreads();
  fragment<matrix_a, 16, 16, 16, half, row_major> a;
  fragment<matrix_b, 16, 16, 16, half, row_major> b;
  fragment<accumulator, 16, 16, 16, float> c;
  fill_fragment(c, 0.f);
  load_matrix_sync(a, tile, 16);
  load_matrix_sync(b, tile, 16);
  mma_sync(c, a, b, c);
  store_matrix_sync(y, c, 16, mem_row_major);
}
"""
pytestmark = pytest.mark.toolchain


def kernel(text: str):
    return load_kernel(Source("<test>", text.encode()), "sm_80", CompileOptions())


def buffers(count: int, kind: DType = DType.F32):
    return {"x": Buffer(kind, (count,)), "y": Buffer(DType.F32, (count,))}


def test_an_asynchronous_copy_is_one_access_that_reads_lines_and_writes_banks():
    program = kernel(COPY).sass
    streams = execute(program, Launch(Dim3(2), Dim3(256), arguments=buffers(2 * COLUMNS))).streams
    copies = [i.index for i in program.instructions if i.opcode.startswith("LDGSTS")]
    chosen = [k for k, at in enumerate(streams.access_instruction) if at in copies]
    assert len(chosen) == 2 * (256 // 32) * COLUMNS // 1024
    assert {streams.sectors[k] for k in chosen} == {16.0}, "512 bytes are 16 sectors"
    assert {streams.wavefronts[k] for k in chosen} == {4.0}, "512 bytes into 32 banks of 4 bytes"


def test_a_load_of_four_matrices_is_one_access_of_four_wavefronts():
    program = kernel(MATRICES).sass
    streams = execute(program, Launch(Dim3(1), Dim3(32), arguments=buffers(256, DType.F16))).streams
    loads = [i.index for i in program.instructions if i.opcode.startswith("LDSM") and ".4" in i.opcode]
    assert loads
    for at in loads:
        own = streams.access_instruction == at
        assert own.sum() == 1
        assert streams.wavefronts[own][0] >= 4


def test_every_access_belongs_to_the_step_that_executed_it():
    streams = execute(kernel(COPY).sass, Launch(Dim3(2), Dim3(256), arguments=buffers(2 * COLUMNS))).streams
    ends = [*streams.steps[1:, 2], len(streams.access_instruction)]
    for (first, behind, access), end in zip(streams.steps, ends, strict=True):
        own = streams.access_instruction[access:end]
        assert all(first <= at < behind for at in own)


def test_asynchronous_copies_take_the_time_of_their_bytes():
    gpu = find("a100")
    launch = Launch(Dim3(ROWS * 4), Dim3(256), arguments=buffers(ROWS * 4 * COLUMNS))
    result = predict(kernel(COPY), launch, gpu)
    bytes_moved = 2 * 4 * ROWS * 4 * COLUMNS
    assert result.time.value > bytes_moved / gpu.memory_bandwidth
