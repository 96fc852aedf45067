// Batch of 256-point Fourier transforms, each as 16 x 16: a thread transforms 16 points in registers, twiddles,
// exchanges through shared memory and transforms 16 again. Sixteen threads a transform; limited by DRAM.
__device__ float2 times(float2 a, float2 b)
{
    return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

// Four points v[0], v[step], ... in place.
__device__ void transform4(float2 *v, int step)
{
    float2 p = v[0], q = v[step], r = v[2 * step], s = v[3 * step];
    float2 a = make_float2(p.x + r.x, p.y + r.y), b = make_float2(p.x - r.x, p.y - r.y);
    float2 c = make_float2(q.x + s.x, q.y + s.y), d = make_float2(q.y - s.y, s.x - q.x);
    v[0] = make_float2(a.x + c.x, a.y + c.y);
    v[step] = make_float2(b.x + d.x, b.y + d.y);
    v[2 * step] = make_float2(a.x - c.x, a.y - c.y);
    v[3 * step] = make_float2(b.x - d.x, b.y - d.y);
}

// Sixteen points in place; the result for frequency c0 + 4 c1 ends in v[4 c0 + c1].
__device__ void transform16(float2 *v)
{
    const float cosine[10] = {1.0f, 0.92387953f, 0.70710678f, 0.38268343f, 0.0f,
                              -0.38268343f, -0.70710678f, -0.92387953f, -1.0f, -0.92387953f};
    const float sine[10] = {0.0f, -0.38268343f, -0.70710678f, -0.92387953f, -1.0f,
                            -0.92387953f, -0.70710678f, -0.38268343f, 0.0f, 0.38268343f};
#pragma unroll
    for (int a = 0; a < 4; ++a)
        transform4(v + a, 4);
#pragma unroll
    for (int c = 0; c < 4; ++c) {
#pragma unroll
        for (int a = 1; a < 4; ++a)
            v[4 * c + a] = times(v[4 * c + a], make_float2(cosine[a * c], sine[a * c]));
        transform4(v + 4 * c, 1);
    }
}

extern "C" __global__ void __launch_bounds__(128)
fft_batched_256(int batch, const float2 *__restrict__ x, float2 *__restrict__ y)
{
    __shared__ float2 exchange[8][16][17];
    const int lane = threadIdx.x % 16, local = threadIdx.x / 16, which = blockIdx.x * 8 + local;
    float2 v[16];
    if (which < batch) {
#pragma unroll
        for (int a = 0; a < 16; ++a)
            v[a] = x[which * 256 + 16 * a + lane];
        transform16(v);
#pragma unroll
        for (int c = 0; c < 16; ++c) {
            float s, k;
            sincospif(-float(lane * c) / 128, &s, &k);
            exchange[local][c][lane] = times(v[c % 4 * 4 + c / 4], make_float2(k, s));
        }
    }
    __syncthreads();
    if (which < batch) {
#pragma unroll
        for (int b = 0; b < 16; ++b)
            v[b] = exchange[local][lane][b];
        transform16(v);
#pragma unroll
        for (int d = 0; d < 16; ++d)
            y[which * 256 + lane + 16 * d] = v[d % 4 * 4 + d / 4];
    }
}
