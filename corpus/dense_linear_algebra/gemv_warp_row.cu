// y = A x, one warp per row of a row-major matrix: coalesced loads, then a shuffle reduction.
// Four bytes per multiply-add: limited by memory bandwidth.
extern "C" __global__ void gemv_warp_row(int rows, int cols, const float *__restrict__ A, const float *__restrict__ x,
                                         float *__restrict__ y) {
    int lane = threadIdx.x % 32;
    int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    if (row >= rows) {
        return;
    }
    const float *a = A + static_cast<size_t>(row) * cols;
    float sum = 0.0f;
    for (int c = lane; c < cols; c += 32) {
        sum += a[c] * x[c];
    }
    for (int offset = 16; offset > 0; offset /= 2) {
        sum += __shfl_down_sync(0xffffffff, sum, offset);
    }
    if (lane == 0) {
        y[row] = sum;
    }
}
