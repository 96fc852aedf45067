// C = A B in half precision, a 16 x 32 tile of C per block, two columns per thread with packed multiply-adds.
// Half sums are emptied into floats after every 16 products. n is a multiple of 32. Limited by shared-memory
// loads.
#include <cuda_fp16.h>

constexpr int TILE = 16;

extern "C" __global__ void matmul_half2(int n, const __half *__restrict__ A, const __half *__restrict__ B,
                                        __half *__restrict__ C) {
    __shared__ __half2 a_tile[TILE][TILE];  // every element twice, ready for packed arithmetic
    __shared__ __half2 b_tile[TILE][TILE];  // 32 columns as 16 pairs
    int tx = threadIdx.x;
    int ty = threadIdx.y;
    int pairs = n / 2;
    int row = blockIdx.y * TILE + ty;
    int pair = blockIdx.x * TILE + tx;
    const __half2 *B2 = reinterpret_cast<const __half2 *>(B);
    float2 sum = make_float2(0.0f, 0.0f);
    for (int start = 0; start < n; start += TILE) {
        a_tile[ty][tx] = __half2half2(A[row * n + start + tx]);
        b_tile[ty][tx] = B2[(start + ty) * pairs + pair];
        __syncthreads();
        __half2 partial = __float2half2_rn(0.0f);
#pragma unroll
        for (int k = 0; k < TILE; ++k) {
            partial = __hfma2(a_tile[ty][k], b_tile[k][tx], partial);
        }
        float2 wide = __half22float2(partial);
        sum.x += wide.x;
        sum.y += wide.y;
        __syncthreads();
    }
    reinterpret_cast<__half2 *>(C)[row * pairs + pair] = __floats2half2_rn(sum.x, sum.y);
}
