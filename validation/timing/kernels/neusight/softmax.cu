// Softmax of rows. Up to 1024 columns one warp keeps a row in registers, four warps per block. Longer rows take a
// block each: maximum, sum of exponentials, result, reading the row three times, four elements at a time.

const int LANES = 32, KEPT = 32, WIDE = 4;
const float LOWEST = -3.402823466e38f;

__device__ float warp_max(float v) {
    for (int d = LANES / 2; d > 0; d /= 2) v = fmaxf(v, __shfl_xor_sync(0xffffffff, v, d));
    return v;
}

__device__ float warp_sum(float v) {
    for (int d = LANES / 2; d > 0; d /= 2) v += __shfl_xor_sync(0xffffffff, v, d);
    return v;
}

extern "C" __global__ void softmax_warp(float *out, const float *x, int rows, int stride, int columns) {
    int row = blockDim.y * blockIdx.x + threadIdx.y;
    if (row >= rows) return;
    x += row * stride + threadIdx.x;
    out += row * stride + threadIdx.x;
    float v[KEPT];
#pragma unroll
    for (int k = 0; k < KEPT; ++k) v[k] = threadIdx.x + k * LANES < columns ? x[k * LANES] : LOWEST;
    float most = v[0];
#pragma unroll
    for (int k = 1; k < KEPT; ++k) most = fmaxf(most, v[k]);
    most = warp_max(most);
    float sum = 0.0f;
#pragma unroll
    for (int k = 0; k < KEPT; ++k) {
        v[k] = expf(v[k] - most);
        sum += v[k];
    }
    sum = warp_sum(sum);
#pragma unroll
    for (int k = 0; k < KEPT; ++k) {
        if (threadIdx.x + k * LANES >= columns) break;
        out[k * LANES] = v[k] / sum;
    }
}

struct Max {
    __device__ float start() const { return LOWEST; }
    __device__ float of(float so_far, float v) const { return fmaxf(so_far, v); }
    __device__ float warp(float v) const { return warp_max(v); }
};

struct SumExp {
    float most;
    __device__ float start() const { return 0.0f; }
    __device__ float of(float so_far, float v) const { return so_far + expf(v - most); }
    __device__ float warp(float v) const { return warp_sum(v); }
};

template <class R>
__device__ float row_of_block(R r, const float *x, int shift, int columns, float *scratch) {
    float v = r.start();
    const float *aligned = x - shift;
    int left = columns;
    if (shift > 0) {  // the elements before the first 16 bytes
        left += shift;
        if (threadIdx.x >= shift) v = r.of(v, aligned[threadIdx.x]);
        left -= blockDim.x;
        aligned += blockDim.x;
    }
    int tail = left % (WIDE * blockDim.x), i = threadIdx.x;
    for (; i * WIDE < left - tail; i += blockDim.x) {
        float4 w = reinterpret_cast<const float4 *>(aligned)[i];
        v = r.of(r.of(r.of(r.of(v, w.x), w.y), w.z), w.w);
    }
    for (i = left - tail + threadIdx.x; i < left; i += blockDim.x) v = r.of(v, aligned[i]);
    __syncthreads();  // scratch may still be read
    v = r.warp(v);
    if (threadIdx.x % LANES == 0) scratch[threadIdx.x / LANES] = v;
    __syncthreads();
    if (threadIdx.x < LANES) {
        v = threadIdx.x < blockDim.x / LANES ? scratch[threadIdx.x] : r.start();
        for (int d = LANES / 2; d > 0; d /= 2) {
            float other = __shfl_xor_sync(0xffffffff, v, d);
            v = r.start() < 0.0f ? fmaxf(v, other) : v + other;
        }
        if (threadIdx.x == 0) scratch[0] = v;
    }
    __syncthreads();
    return scratch[0];
}

extern "C" __global__ void softmax_block(float *out, const float *x, int columns) {
    extern __shared__ float scratch[];
    long long start = (long long)blockIdx.x * columns;
    x += start;
    out += start;
    int shift = start % WIDE;
    float most = row_of_block(Max(), x, shift, columns, scratch);
    float sum = row_of_block(SumExp{most}, x, shift, columns, scratch);
    int left = columns, done = 0;
    if (shift > 0) {
        done = blockDim.x - shift;
        if (threadIdx.x >= shift) out[threadIdx.x - shift] = expf(x[threadIdx.x - shift] - most) / sum;
        left -= done;
    }
    int tail = left % (WIDE * blockDim.x), i = threadIdx.x;
    for (; i * WIDE < left - tail; i += blockDim.x) {
        float4 w = reinterpret_cast<const float4 *>(x + done)[i];
        w = make_float4(expf(w.x - most) / sum, expf(w.y - most) / sum, expf(w.z - most) / sum, expf(w.w - most) / sum);
        reinterpret_cast<float4 *>(out + done)[i] = w;
    }
    for (i = done + left - tail + threadIdx.x; i < columns; i += blockDim.x) out[i] = expf(x[i] - most) / sum;
}
