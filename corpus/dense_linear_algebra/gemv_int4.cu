// y = W x with 4-bit weights, eight to a word (low nibble first, offset 8), one half scale per group of 32
// weights; warp per row. cols is a multiple of 32. Unpacking costs several integer operations per weight:
// limited by memory and issue slots together.
#include <cuda_fp16.h>

extern "C" __global__ void gemv_int4(int rows, int cols, const unsigned *__restrict__ W,
                                     const __half *__restrict__ scale, const float *__restrict__ x,
                                     float *__restrict__ y) {
    int lane = threadIdx.x % 32;
    int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    if (row >= rows) {
        return;
    }
    const unsigned *weights = W + static_cast<size_t>(row) * (cols / 8);
    const __half *scales = scale + static_cast<size_t>(row) * (cols / 32);
    float sum = 0.0f;
    for (int word = lane; word < cols / 8; word += 32) {
        unsigned packed = weights[word];
        float part = 0.0f;
#pragma unroll
        for (int i = 0; i < 8; i += 4) {
            float4 v = *reinterpret_cast<const float4 *>(x + 8 * word + i);
            part += (static_cast<int>(packed >> (4 * i) & 15u) - 8) * v.x;
            part += (static_cast<int>(packed >> (4 * i + 4) & 15u) - 8) * v.y;
            part += (static_cast<int>(packed >> (4 * i + 8) & 15u) - 8) * v.z;
            part += (static_cast<int>(packed >> (4 * i + 12) & 15u) - 8) * v.w;
        }
        sum += __half2float(scales[word / 4]) * part;
    }
    for (int offset = 16; offset > 0; offset /= 2) {
        sum += __shfl_down_sync(0xffffffff, sum, offset);
    }
    if (lane == 0) {
        y[row] = sum;
    }
}
