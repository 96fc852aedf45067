// y = diag(scale) W x with int8 weights and float x, one warp per row, 16 weights per lane and load; cols is
// a multiple of 16. One byte per multiply-add: limited by memory bandwidth until the integer conversions
// catch up.
__device__ __forceinline__ float dot4(int packed, float4 x) {
    char4 w = *reinterpret_cast<char4 *>(&packed);
    return w.x * x.x + w.y * x.y + w.z * x.z + w.w * x.w;
}

extern "C" __global__ void gemv_int8(int rows, int cols, const signed char *__restrict__ W,
                                     const float *__restrict__ scale, const float *__restrict__ x,
                                     float *__restrict__ y) {
    int lane = threadIdx.x % 32;
    int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    if (row >= rows) {
        return;
    }
    const int4 *weights = reinterpret_cast<const int4 *>(W + static_cast<size_t>(row) * cols);
    const float4 *x4 = reinterpret_cast<const float4 *>(x);
    float sum = 0.0f;
    for (int v = lane; v < cols / 16; v += 32) {
        int4 w = weights[v];
        sum += dot4(w.x, x4[4 * v]) + dot4(w.y, x4[4 * v + 1]) + dot4(w.z, x4[4 * v + 2]) + dot4(w.w, x4[4 * v + 3]);
    }
    for (int offset = 16; offset > 0; offset /= 2) {
        sum += __shfl_down_sync(0xffffffff, sum, offset);
    }
    if (lane == 0) {
        y[row] = scale[row] * sum;
    }
}
