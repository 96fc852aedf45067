// Solve L x = b for a batch of small lower triangular systems (column-major), in place in x; one block per
// system. Forward substitution by columns, a thread per unknown (blockDim.x >= n): n dependent steps with a
// barrier each limit it.
extern "C" __global__ void trsv_block(int n, const float *__restrict__ L, float *__restrict__ x) {
    __shared__ float solved;
    const float *matrix = L + static_cast<size_t>(blockIdx.x) * n * n;
    int row = threadIdx.x;
    float value = row < n ? x[blockIdx.x * n + row] : 0.0f;
    for (int col = 0; col < n; ++col) {
        if (row == col) {
            value /= matrix[col * n + col];
            solved = value;
        }
        __syncthreads();
        if (row > col && row < n) {
            value -= matrix[col * n + row] * solved;
        }
        __syncthreads();
    }
    if (row < n) {
        x[blockIdx.x * n + row] = value;
    }
}
