// Softmax of rows of at most 1024 elements, one warp per row, the row held in 32 registers per lane. One read
// and one write per element, no barrier: limited by memory bandwidth, on short rows by predicated-off work.
constexpr int VALUES = 32;

extern "C" __global__ void softmax_warp(int rows, int cols, const float *__restrict__ x, float *__restrict__ y) {
    int lane = threadIdx.x % 32;
    int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    if (row >= rows) {
        return;
    }
    size_t start = static_cast<size_t>(row) * cols;
    float value[VALUES];
    float largest = -INFINITY;
#pragma unroll
    for (int i = 0; i < VALUES; ++i) {
        int c = lane + 32 * i;
        value[i] = c < cols ? x[start + c] : -INFINITY;
        largest = fmaxf(largest, value[i]);
    }
    for (int offset = 16; offset > 0; offset /= 2) {
        largest = fmaxf(largest, __shfl_xor_sync(0xffffffff, largest, offset));
    }
    float sum = 0.0f;
#pragma unroll
    for (int i = 0; i < VALUES; ++i) {
        value[i] = __expf(value[i] - largest);  // 0 beyond the row
        sum += value[i];
    }
    for (int offset = 16; offset > 0; offset /= 2) {
        sum += __shfl_xor_sync(0xffffffff, sum, offset);
    }
    float inverse = 1.0f / sum;
#pragma unroll
    for (int i = 0; i < VALUES; ++i) {
        int c = lane + 32 * i;
        if (c < cols) {
            y[start + c] = value[i] * inverse;
        }
    }
}
