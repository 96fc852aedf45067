// y = A x, one thread per row of a row-major matrix: the lanes of a warp read addresses a whole row apart.
// Uncoalesced loads served sector by sector from L1 and L2, few threads: limited by memory latency.
extern "C" __global__ void gemv_thread_row(int rows, int cols, const float *__restrict__ A, const float *__restrict__ x,
                                           float *__restrict__ y) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) {
        return;
    }
    const float *a = A + static_cast<size_t>(row) * cols;
    float sum = 0.0f;
    for (int c = 0; c < cols; ++c) {
        sum += a[c] * x[c];
    }
    y[row] = sum;
}
