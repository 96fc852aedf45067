// The internal step of blocked LU: every block right of and below the panel at `offset` loses the product of its block
// of the panel column and its block of the panel row (16 x 16 each, one thread per element; n, offset multiples of 16).
// 16 multiply-adds per element read and written: limited by memory and shared-memory loads together.
constexpr int TILE = 16;

extern "C" __global__ void lu_internal(int n, int offset, float *__restrict__ A) {
    __shared__ float left[TILE][TILE];
    __shared__ float upper[TILE][TILE];
    int tx = threadIdx.x;
    int ty = threadIdx.y;
    int row = offset + (blockIdx.y + 1) * TILE + ty;
    int col = offset + (blockIdx.x + 1) * TILE + tx;
    left[ty][tx] = A[row * n + offset + tx];
    upper[ty][tx] = A[(offset + ty) * n + col];
    __syncthreads();
    float product = 0.0f;
#pragma unroll
    for (int k = 0; k < TILE; ++k) {
        product += left[ty][k] * upper[k][tx];
    }
    A[row * n + col] -= product;
}
