// C (m x n, float) = A (m x k, half) B (k x n, half) on tensor cores, a 64 x 64 tile per block of four warps
// (32 x 32 each). cp.async fills one pair of shared tiles while the other is multiplied. m, n multiples of
// 64, k of 32. Limited by shared-memory bandwidth and the latency of the two-stage pipeline.
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <mma.h>

using namespace nvcuda;

constexpr int TILE = 64;
constexpr int DEPTH = 32;
constexpr int FRAG = 16;
constexpr int A_LD = DEPTH + 8;  // padding keeps rows 16-byte aligned and spreads them over the banks
constexpr int B_LD = TILE + 8;

// Start the copy of one A tile and one B tile: 256 chunks of 16 bytes each, by 128 threads.
__device__ __forceinline__ void copy_tiles(__half (*a_tile)[A_LD], __half (*b_tile)[B_LD], const __half *a,
                                           const __half *b, int n, int k) {
#pragma unroll
    for (int chunk = threadIdx.x; chunk < 256; chunk += 128) {
        int a_row = chunk / 4;
        int a_col = chunk % 4 * 8;
        int b_row = chunk / 8;
        int b_col = chunk % 8 * 8;
        __pipeline_memcpy_async(&a_tile[a_row][a_col], a + a_row * k + a_col, 16);
        __pipeline_memcpy_async(&b_tile[b_row][b_col], b + b_row * n + b_col, 16);
    }
    __pipeline_commit();
}

extern "C" __global__ void __launch_bounds__(128)
    matmul_wmma_async(int n, int k, const __half *__restrict__ A, const __half *__restrict__ B, float *__restrict__ C) {
    __shared__ alignas(128) __half a_tile[2][TILE][A_LD];
    __shared__ alignas(128) __half b_tile[2][DEPTH][B_LD];
    const __half *a_block = A + blockIdx.y * TILE * k;
    const __half *b_block = B + blockIdx.x * TILE;
    int warp = threadIdx.x / 32;
    int warp_row = warp / 2 * 32;
    int warp_col = warp % 2 * 32;

    wmma::fragment<wmma::accumulator, FRAG, FRAG, FRAG, float> sum[2][2];
    for (int i = 0; i < 2; ++i) {
        for (int j = 0; j < 2; ++j) {
            wmma::fill_fragment(sum[i][j], 0.0f);
        }
    }

    copy_tiles(a_tile[0], b_tile[0], a_block, b_block, n, k);
    int stage = 0;
    for (int start = 0; start < k; start += DEPTH) {
        int next = start + DEPTH;
        if (next < k) {
            copy_tiles(a_tile[stage ^ 1], b_tile[stage ^ 1], a_block + next, b_block + next * n, n, k);
            __pipeline_wait_prior(1);
        } else {
            __pipeline_wait_prior(0);
        }
        __syncthreads();
#pragma unroll
        for (int d = 0; d < DEPTH; d += FRAG) {
            wmma::fragment<wmma::matrix_a, FRAG, FRAG, FRAG, __half, wmma::row_major> a[2];
            wmma::fragment<wmma::matrix_b, FRAG, FRAG, FRAG, __half, wmma::row_major> b[2];
#pragma unroll
            for (int i = 0; i < 2; ++i) {
                wmma::load_matrix_sync(a[i], &a_tile[stage][warp_row + i * FRAG][d], A_LD);
                wmma::load_matrix_sync(b[i], &b_tile[stage][d][warp_col + i * FRAG], B_LD);
            }
#pragma unroll
            for (int i = 0; i < 2; ++i) {
#pragma unroll
                for (int j = 0; j < 2; ++j) {
                    wmma::mma_sync(sum[i][j], a[i], b[j], sum[i][j]);
                }
            }
        }
        __syncthreads();
        stage ^= 1;
    }

    float *c_warp = C + (blockIdx.y * TILE + warp_row) * n + blockIdx.x * TILE + warp_col;
    for (int i = 0; i < 2; ++i) {
        for (int j = 0; j < 2; ++j) {
            wmma::store_matrix_sync(c_warp + i * FRAG * n + j * FRAG, sum[i][j], n, wmma::mem_row_major);
        }
    }
}
