// Layer normalisation: a block of 32 by 4 threads per row. Mean and variance are updated element by element
// (Welford), merged across lanes by shuffles and across warps in shared memory; then the row is read again.

const int LANES = 32, WIDE = 4;

struct Moments { float mean, squares, count; };

__device__ Moments with(Moments m, float v) {
    float off = v - m.mean, count = m.count + 1.0f;
    float mean = m.mean + off * (1.0f / count);
    return {mean, m.squares + off * (v - mean), count};
}

__device__ Moments merged(Moments a, Moments b) {
    float off = b.mean - a.mean, count = a.count + b.count;
    if (count <= 0.0f) return {0.0f, 0.0f, 0.0f};
    float part = 1.0f / count, of_a = a.count * part, of_b = b.count * part;
    return {of_a * a.mean + of_b * b.mean, a.squares + b.squares + off * off * of_a * of_b * count, count};
}

extern "C" __global__ void layer_norm(int columns, float eps, const float *x, const float *gamma, const float *beta,
                                      float *mean, float *rstd, float *y) {
    extern __shared__ float scratch[];  // of half the warps: mean and squares, then counts
    const float4 *row = reinterpret_cast<const float4 *>(x + (long long)blockIdx.x * columns);
    int thread = threadIdx.x + threadIdx.y * blockDim.x, threads = blockDim.x * blockDim.y, wide = columns / WIDE;
    Moments m = {0.0f, 0.0f, 0.0f};
    for (int i = thread; i < wide; i += threads) {
        float4 v = row[i];
        m = with(with(with(with(m, v.x), v.y), v.z), v.w);
    }
    for (int d = LANES / 2; d > 0; d /= 2) {
        Moments other = {__shfl_down_sync(0xffffffff, m.mean, d), __shfl_down_sync(0xffffffff, m.squares, d),
                         __shfl_down_sync(0xffffffff, m.count, d)};
        m = merged(m, other);
    }
    float *counts = scratch + blockDim.y;
    for (int half = blockDim.y / 2; half > 0; half /= 2) {
        if (threadIdx.x == 0 && threadIdx.y >= half && threadIdx.y < 2 * half) {
            int place = threadIdx.y - half;
            scratch[2 * place] = m.mean;
            scratch[2 * place + 1] = m.squares;
            counts[place] = m.count;
        }
        __syncthreads();
        if (threadIdx.x == 0 && threadIdx.y < half) {
            m = merged(m, {scratch[2 * threadIdx.y], scratch[2 * threadIdx.y + 1], counts[threadIdx.y]});
        }
        __syncthreads();
    }
    if (threadIdx.x == 0 && threadIdx.y == 0) {
        scratch[0] = m.mean;
        scratch[1] = m.squares / columns;
    }
    __syncthreads();
    float centre = scratch[0], scale = rsqrtf(scratch[1] + eps);
    float4 *to = reinterpret_cast<float4 *>(y + (long long)blockIdx.x * columns);
    const float4 *g = reinterpret_cast<const float4 *>(gamma), *b = reinterpret_cast<const float4 *>(beta);
    for (int i = thread; i < wide; i += threads) {
        float4 v = row[i], k = g[i], c = b[i];
        v.x = k.x * (scale * (v.x - centre)) + c.x;
        v.y = k.y * (scale * (v.y - centre)) + c.y;
        v.z = k.z * (scale * (v.z - centre)) + c.z;
        v.w = k.w * (scale * (v.w - centre)) + c.w;
        to[i] = v;
    }
    if (thread == 0) {
        mean[blockIdx.x] = centre;
        rstd[blockIdx.x] = scale;
    }
}
