"""The CPU stand-in computes what CUDA's documentation says and catches what it must."""

from __future__ import annotations

import numpy as np
import pytest
from validation.corpus.check import check

from tests.corpus.on_cpu import CpuError, run
from warpwatt.lab.measure.inputs import from_bf16, make_inputs, to_bf16


def outputs(program, order=0, **arrays):
    return run(program, "tiny", make_inputs(program, "tiny") | arrays, order)


KERNEL = 'extern "C" __global__ void k('


def test_threads_of_a_3d_launch_cover_it_once(make_program):
    source = (
        KERNEL
        + """int *out) {
        int block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
        int thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
        out[block * blockDim.x * blockDim.y * blockDim.z + thread] += block * 1000 + thread;
    }"""
    )
    program = make_program(source, 'out = "i32[2*3*2*5*3*2]:zeros"', grid="[2, 3, 2]", block="[5, 3, 2]")
    want = (1000 * np.arange(12)[:, None] + np.arange(30)).ravel()
    assert outputs(program)["out"].tolist() == want.tolist()


@pytest.mark.parametrize("order", [0, 1, 5])
def test_barriers_separate_phases_in_every_order(make_program, order):
    source = (
        KERNEL
        + """int *out) {
        __shared__ int a[64];
        extern __shared__ int b[];
        a[threadIdx.x] = threadIdx.x;
        __syncthreads();
        b[threadIdx.x] = a[63 - threadIdx.x];
        int large = __syncthreads_count(threadIdx.x > 60);
        out[threadIdx.x] = b[63 - threadIdx.x] + 100 * large;
    }"""
    )
    program = make_program(source, 'out = "i32[64]"', shared=256)
    assert outputs(program, order)["out"].tolist() == [i + 300 for i in range(64)]


def test_warp_operations(make_program):
    source = (
        KERNEL
        + """int *out) {
        int t = threadIdx.x, lane = t % 32;
        out[t] = __shfl_sync(0xffffffff, t, lane + 3, 8);
        out[64 + t] = __shfl_up_sync(0xffffffff, t, 3, 16);
        out[128 + t] = __shfl_down_sync(0xffffffff, t, 5);
        out[192 + t] = __shfl_xor_sync(0xffffffff, t, 12);
        out[256 + t] = __ballot_sync(0xffffffff, t % 5 == 0);
        out[320 + t] = __match_any_sync(0xffffffff, t % 7);
        if (lane < 8) out[384 + t] = __reduce_min_sync(0xff, 50 - t);
        out[448 + t] = __all_sync(0xffffffff, t < 32) * 2 + __any_sync(0xffffffff, t == 40);
    }"""
    )
    got = outputs(make_program(source, 'out = "i32[512]:zeros"'))["out"].reshape(8, 64)
    t = np.arange(64)
    lane, base = t % 32, t // 32 * 32
    assert got[0].tolist() == (t // 8 * 8 + (lane + 3) % 8).tolist()
    assert got[1].tolist() == np.where(lane % 16 >= 3, t - 3, t).tolist()
    assert got[2].tolist() == np.where(lane < 27, t + 5, t).tolist()
    assert got[3].tolist() == (t ^ 12).tolist()
    ballots = [sum(1 << i for i in range(32) if (b + i) % 5 == 0) for b in base]
    assert got[4].view(np.uint32).tolist() == ballots
    matches = [sum(1 << i for i in range(32) if (b + i) % 7 == j % 7) for j, b in enumerate(base)]
    assert got[5].view(np.uint32).tolist() == matches
    assert got[6].tolist() == np.where(lane < 8, 43 - base, 0).tolist()
    assert got[7].tolist() == np.where(t < 32, 2, 1).tolist()


def test_half_and_bfloat16_round_to_nearest_even(make_program):
    source = (
        "#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n"
        + KERNEL
        + """int n, const float *x, half *h, __nv_bfloat16 *b, float *back) {
        for (int i = threadIdx.x; i < n; i += blockDim.x) {
            h[i] = __float2half(x[i]);
            b[i] = __float2bfloat16(x[i]);
            back[i] = __half2float(h[i]);
        }
    }"""
    )
    args = 'n = 70000, x = "f32[n]", h = "f16[n]", b = "bf16[n]", back = "f32[n]"'
    program = make_program(source, args)
    every = np.arange(65536, dtype=np.uint16).view(np.float16).astype(np.float32)
    every = np.where(np.isnan(every), 0, every)
    between = np.nextafter(every[:4464], np.float32(9)) * np.float32(1.00048828125)
    x = np.concatenate([every, between])
    got = outputs(program, x=x)
    with np.errstate(over="ignore"):
        assert (got["h"] == x.astype(np.float16)).all()
    assert (got["back"] == x.astype(np.float16).astype(np.float32)).all()
    assert (got["b"] == to_bf16(x)).all()
    finite = np.isfinite(x)
    assert np.abs(from_bf16(got["b"])[finite] - x[finite]).max() <= 65504 / 256


def test_bit_intrinsics(make_program):
    source = (
        KERNEL
        + """const unsigned *x, unsigned *out) {
        unsigned a = x[threadIdx.x], b = x[(threadIdx.x + 1) % 64];
        unsigned *o = out + threadIdx.x * 8;
        o[0] = __popc(a), o[1] = __clz(a), o[2] = __brev(a), o[3] = __byte_perm(a, b, 0x7531);
        o[4] = __funnelshift_l(a, b, 7), o[5] = __umulhi(a, b);
        o[6] = __dp4a(int(a), int(b), 9), o[7] = __ffs(a);
    }"""
    )
    x = np.random.default_rng(1).integers(0, 2**32, 64, np.uint32)
    x[0] = 0
    got = outputs(make_program(source, 'x = "u32[64]", out = "u32[512]"'), x=x)["out"].reshape(64, 8)
    for i, row in enumerate(got.tolist()):
        a, b = int(x[i]), int(x[(i + 1) % 64])
        signed = [np.frombuffer(v.to_bytes(4, "little"), np.int8).astype(int) for v in (a, b)]
        nine = 9 + int(signed[0] @ signed[1])
        odd = (a >> 8 & 255) | (a >> 24) << 8 | (b >> 8 & 255) << 16 | (b >> 24) << 24
        shifted = ((b << 32 | a) << 7 >> 32) & 0xFFFFFFFF
        assert row[:4] == [a.bit_count(), 32 - a.bit_length(), int(f"{a:032b}"[::-1], 2), odd]
        assert row[4:] == [shifted, a * b >> 32, nine % 2**32, (a & -a).bit_length()]


def test_matrix_fragments(make_program):
    source = (
        "#include <mma.h>\nusing namespace nvcuda;\n"
        + KERNEL
        + """const half *a, const half *b, float *c) {
        wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
        wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> fb;
        wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
        wmma::fill_fragment(fc, 1.0f);
        wmma::load_matrix_sync(fa, a, 16);
        wmma::load_matrix_sync(fb, b, 16);
        wmma::mma_sync(fc, fa, fb, fc);
        wmma::store_matrix_sync(c, fc, 16, wmma::mem_row_major);
    }"""
    )
    program = make_program(source, 'a = "f16[256]", b = "f16[256]", c = "f32[256]"', block="[32]")
    inputs = make_inputs(program, "tiny")
    a, b = (inputs[name].reshape(16, 16).astype(np.float64) for name in "ab")
    assert np.allclose(outputs(program)["c"], (1 + a @ b.T).ravel(), rtol=1e-6)


def test_atomics_and_constant_symbols(make_program):
    source = (
        "__constant__ float weights[4];\n"
        + KERNEL
        + """float *sum, unsigned *ring, int *slots) {
        atomicAdd(sum, weights[threadIdx.x % 4]);
        atomicInc(ring, 9u);
        int at = 0;
        while (atomicCAS(&slots[at], 0, int(threadIdx.x) + 1) != 0) ++at;
    }"""
    )
    args = 'weights = "f32[4]:arange", sum = "f32[1]:zeros", ring = "u32[1]:zeros", slots = "i32[64]:zeros"'
    got = outputs(make_program(source, args), 1)
    assert (got["sum"][0], got["ring"][0], sorted(got["slots"])) == (96, 4, list(range(1, 65)))


BROKEN = {
    "threads wait": """int *out) {
        if (threadIdx.x < 32)
            __syncthreads();
        else
            __syncthreads();
        out[0] = 1; }""",
    "have returned": "int *out) { if (threadIdx.x % 32 == 5) return; out[0] = __any_sync(0xffffffff, 1); }",
    "missing from the mask": "int *out) { out[0] = __any_sync(1u, 1); }",
    "byte 256 of buffer out": "int *out) { out[threadIdx.x + 1] = 0; }",
    "written at byte -4": "int *out) { out[int(threadIdx.x) - 1] = 0; }",
    "dynamic shared": "int *out) { extern __shared__ int s[]; s[threadIdx.x] = 1; out[0] = s[0]; }",
    "in no buffer": "int *out) { int *p = nullptr; *(volatile int *)p = 1; }",
    "wrong": """int *out) {
        __shared__ int s[64];
        s[threadIdx.x] = 0;
        out[threadIdx.x] = s[63 - threadIdx.x]; }""",
}


@pytest.mark.parametrize("symptom", BROKEN)
def test_mistakes_are_found(make_program, symptom):
    program = make_program(KERNEL + BROKEN[symptom], 'out = "i32[64]:zeros"', shared=128)
    (problem,) = check(program)
    assert symptom in problem


def test_a_source_that_is_no_c_is_refused(make_program):
    program = make_program(KERNEL + "int *out) { out[0] = nothing; }", 'out = "i32[1]"')
    with pytest.raises(CpuError, match="nothing"):
        outputs(program)
