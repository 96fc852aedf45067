// Layer normalisation, one block per row: mean, then variance about it, then scale and shift; three passes.
// The row comes from DRAM once and from cache twice: memory bandwidth and the barriers of two reductions limit it.

// The sum over the block, returned to every thread; blockDim.x is a multiple of 32.
__device__ float block_sum(float value) {
    __shared__ float partial[32];
    int lane = threadIdx.x % 32;
    for (int offset = 16; offset > 0; offset /= 2) {
        value += __shfl_xor_sync(0xffffffff, value, offset);
    }
    if (lane == 0) {
        partial[threadIdx.x / 32] = value;
    }
    __syncthreads();
    value = lane < blockDim.x / 32 ? partial[lane] : 0.0f;
    for (int offset = 16; offset > 0; offset /= 2) {
        value += __shfl_xor_sync(0xffffffff, value, offset);
    }
    __syncthreads();  // partial is free for the next call
    return value;
}

extern "C" __global__ void layernorm_block(int cols, float eps, const float *__restrict__ x,
                                           const float *__restrict__ gamma, const float *__restrict__ beta,
                                           float *__restrict__ y) {
    size_t row = static_cast<size_t>(blockIdx.x) * cols;
    float sum = 0.0f;
    for (int c = threadIdx.x; c < cols; c += blockDim.x) {
        sum += x[row + c];
    }
    float mean = block_sum(sum) / cols;
    float squares = 0.0f;
    for (int c = threadIdx.x; c < cols; c += blockDim.x) {
        float deviation = x[row + c] - mean;
        squares += deviation * deviation;
    }
    float scale = rsqrtf(block_sum(squares) / cols + eps);
    for (int c = threadIdx.x; c < cols; c += blockDim.x) {
        y[row + c] = (x[row + c] - mean) * scale * gamma[c] + beta[c];
    }
}
