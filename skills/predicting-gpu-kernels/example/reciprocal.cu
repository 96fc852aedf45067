// A warp per row that divides once.
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
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    float largest = -INFINITY;
    for (int i = lane; i < columns; i += 32) largest = fmaxf(largest, x[row * columns + i]);
    largest = largest_of_warp(largest);
    float sum = 0.0f;
    for (int i = lane; i < columns; i += 32) sum += expf(x[row * columns + i] - largest);
    sum = sum_of_warp(sum);
    float scale = 1.0f / sum;
    for (int i = lane; i < columns; i += 32) y[row * columns + i] = expf(x[row * columns + i] - largest) * scale;
}
