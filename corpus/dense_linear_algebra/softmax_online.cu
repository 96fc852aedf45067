// Softmax of every row, one block per row; maximum and sum come from one pass that rescales the sum when the
// maximum grows. Two reads and one write of the row, two exponentials per element and pass: limited by memory
// bandwidth.
struct Running {
    float largest;
    float sum;  // of exp(x - largest)
};

__device__ __forceinline__ Running merge(Running a, Running b) {
    float largest = fmaxf(a.largest, b.largest);
    return {largest, a.sum * __expf(a.largest - largest) + b.sum * __expf(b.largest - largest)};
}

__device__ __forceinline__ Running merge_warp(Running r) {
    for (int offset = 16; offset > 0; offset /= 2) {
        Running other = {__shfl_xor_sync(0xffffffff, r.largest, offset), __shfl_xor_sync(0xffffffff, r.sum, offset)};
        r = merge(r, other);
    }
    return r;
}

extern "C" __global__ void softmax_online(int cols, const float *__restrict__ x, float *__restrict__ y) {
    constexpr float LOWEST = -3.0e38f;  // finite: its difference to itself is 0, not NaN
    __shared__ float largest[32];
    __shared__ float sum[32];
    size_t row = static_cast<size_t>(blockIdx.x) * cols;
    int lane = threadIdx.x % 32;
    int warps = blockDim.x / 32;

    Running mine = {LOWEST, 0.0f};
    for (int c = threadIdx.x; c < cols; c += blockDim.x) {
        mine = merge(mine, {x[row + c], 1.0f});
    }
    mine = merge_warp(mine);
    if (lane == 0) {
        largest[threadIdx.x / 32] = mine.largest;
        sum[threadIdx.x / 32] = mine.sum;
    }
    __syncthreads();
    Running all = {LOWEST, 0.0f};
    if (lane < warps) {
        all = {largest[lane], sum[lane]};
    }
    all = merge_warp(all);
    float inverse = 1.0f / all.sum;
    for (int c = threadIdx.x; c < cols; c += blockDim.x) {
        y[row + c] = __expf(x[row + c] - all.largest) * inverse;
    }
}
