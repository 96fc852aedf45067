// C = A B for square row-major matrices, one thread per element of C, no reuse in shared memory.
// Two loads per multiply-add, served by the L1 and L2 caches: limited by the load/store path.
extern "C" __global__ void matmul_naive(int n, const float *__restrict__ A, const float *__restrict__ B,
                                        float *__restrict__ C) {
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= n || col >= n) {
        return;
    }
    float sum = 0.0f;
    for (int k = 0; k < n; ++k) {
        sum += A[row * n + k] * B[k * n + col];
    }
    C[row * n + col] = sum;
}
