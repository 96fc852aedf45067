// Symmetric int8 quantisation, one block per row: scale = largest magnitude / 127, then round to nearest.
// Two passes over the row, the second from cache, and one reduction with a barrier: limited by memory bandwidth.

// The largest value over the block, returned to every thread; values are not negative, blockDim.x is a multiple of 32.
__device__ float block_max(float value) {
    __shared__ float partial[32];
    int lane = threadIdx.x % 32;
    for (int offset = 16; offset > 0; offset /= 2) {
        value = fmaxf(value, __shfl_xor_sync(0xffffffff, value, offset));
    }
    if (lane == 0) {
        partial[threadIdx.x / 32] = value;
    }
    __syncthreads();
    value = lane < blockDim.x / 32 ? partial[lane] : 0.0f;
    for (int offset = 16; offset > 0; offset /= 2) {
        value = fmaxf(value, __shfl_xor_sync(0xffffffff, value, offset));
    }
    return value;
}

extern "C" __global__ void quantise_int8(int cols, const float *__restrict__ x, signed char *__restrict__ q,
                                         float *__restrict__ scale) {
    size_t row = static_cast<size_t>(blockIdx.x) * cols;
    float largest = 0.0f;
    for (int c = threadIdx.x; c < cols; c += blockDim.x) {
        largest = fmaxf(largest, fabsf(x[row + c]));
    }
    largest = block_max(largest);
    float inverse = largest > 0.0f ? 127.0f / largest : 0.0f;
    for (int c = threadIdx.x; c < cols; c += blockDim.x) {
        q[row + c] = static_cast<signed char>(__float2int_rn(x[row + c] * inverse));
    }
    if (threadIdx.x == 0) {
        scale[blockIdx.x] = largest / 127.0f;
    }
}
