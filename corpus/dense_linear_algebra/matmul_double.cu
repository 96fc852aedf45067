// C = A B for square row-major matrices of doubles through 16 x 16 tiles in shared memory, one thread per
// element. Limited by shared-memory bandwidth where FP64 units are plentiful, by FP64 arithmetic where they
// are scarce.
constexpr int TILE = 16;

extern "C" __global__ void matmul_double(int n, const double *__restrict__ A, const double *__restrict__ B,
                                         double *__restrict__ C) {
    __shared__ double a_tile[TILE][TILE];
    __shared__ double b_tile[TILE][TILE];
    int tx = threadIdx.x;
    int ty = threadIdx.y;
    int col = blockIdx.x * TILE + tx;
    int row = blockIdx.y * TILE + ty;
    double sum = 0.0;
    for (int start = 0; start < n; start += TILE) {
        a_tile[ty][tx] = row < n && start + tx < n ? A[row * n + start + tx] : 0.0;
        b_tile[ty][tx] = start + ty < n && col < n ? B[(start + ty) * n + col] : 0.0;
        __syncthreads();
#pragma unroll
        for (int k = 0; k < TILE; ++k) {
            sum += a_tile[ty][k] * b_tile[k][tx];
        }
        __syncthreads();
    }
    if (row < n && col < n) {
        C[row * n + col] = sum;
    }
}
