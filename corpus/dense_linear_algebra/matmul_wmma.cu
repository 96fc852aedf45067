// C (m x n, float) = A (m x k, half) B (k x n, half) on tensor cores, one warp per 16 x 16 tile of C. m, n, k
// are multiples of 16. Fragments come straight from global memory: limited by the load path, not the tensor
// cores.
#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

constexpr int TILE = 16;

extern "C" __global__ void matmul_wmma(int m, int n, int k, const __half *__restrict__ A, const __half *__restrict__ B,
                                       float *__restrict__ C) {
    int row = (blockIdx.y * blockDim.y + threadIdx.y) * TILE;  // blockDim.x is one warp
    int col = blockIdx.x * TILE;
    if (row >= m) {
        return;
    }
    wmma::fragment<wmma::matrix_a, TILE, TILE, TILE, __half, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, TILE, TILE, TILE, __half, wmma::row_major> b;
    wmma::fragment<wmma::accumulator, TILE, TILE, TILE, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    for (int start = 0; start < k; start += TILE) {
        wmma::load_matrix_sync(a, A + row * k + start, k);
        wmma::load_matrix_sync(b, B + start * n + col, n);
        wmma::mma_sync(sum, a, b, sum);
    }
    wmma::store_matrix_sync(C + row * n + col, sum, n, wmma::mem_row_major);
}
