// A warp per row of 1024 columns, which stays in registers: read once, one exponential each.
//
// warpwatt: --grid 1024 --block 256 --arg rows=8192 --arg columns=1024 --arg x=f32[rows*columns] --arg y=f32[rows*columns]:zeros

__device__ float largest_of_warp(float value) {
    for (int offset = 16; offset > 0; offset /= 2) value = fmaxf(value, __shfl_xor_sync(~0u, value, offset));
    return value;
}

__device__ float sum_of_warp(float value) {
    for (int offset = 16; offset > 0; offset /= 2) value += __shfl_xor_sync(~0u, value, offset);
    return value;
}

__global__ void softmax(int rows, int columns, const float *x, float *y) {
    constexpr int KEPT = 32;  // columns / 32
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    float values[KEPT], largest = -INFINITY, sum = 0.0f;
#pragma unroll
    for (int k = 0; k < KEPT; ++k) {
        values[k] = x[row * columns + 32 * k + lane];
        largest = fmaxf(largest, values[k]);
    }
    largest = largest_of_warp(largest);
#pragma unroll
    for (int k = 0; k < KEPT; ++k) sum += values[k] = expf(values[k] - largest);
    float scale = 1.0f / sum_of_warp(sum);
#pragma unroll
    for (int k = 0; k < KEPT; ++k) y[row * columns + 32 * k + lane] = values[k] * scale;
}
