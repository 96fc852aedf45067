// Batch of 1024-point Fourier transforms, one block each: five radix-4 Stockham stages in shared memory,
// four points a thread. Limited by shared memory and barriers once the batch outruns DRAM latency.
extern "C" __global__ void __launch_bounds__(256)
fft_radix4_shared(const float2 *__restrict__ x, float2 *__restrict__ y)
{
    __shared__ float2 s[1024];
    const int j = threadIdx.x;
    const float2 *from = x + blockIdx.x * 1024;
    for (int r = 0; r < 4; ++r)
        s[j + r * 256] = from[j + r * 256];
    for (int ns = 1; ns < 1024; ns *= 4) {
        __syncthreads();
        float2 v[4];
        const int k = j % ns;
        for (int r = 0; r < 4; ++r) {
            float sine, cosine;
            sincospif(-0.5f * r * k / ns, &sine, &cosine);
            float2 p = s[j + r * 256];
            v[r] = make_float2(p.x * cosine - p.y * sine, p.x * sine + p.y * cosine);
        }
        __syncthreads();
        float2 a = make_float2(v[0].x + v[2].x, v[0].y + v[2].y);
        float2 b = make_float2(v[0].x - v[2].x, v[0].y - v[2].y);
        float2 c = make_float2(v[1].x + v[3].x, v[1].y + v[3].y);
        float2 d = make_float2(v[1].y - v[3].y, v[3].x - v[1].x);  // (v1 - v3) times -i
        float2 *to = s + (j - k) * 4 + k;
        to[0] = make_float2(a.x + c.x, a.y + c.y);
        to[ns] = make_float2(b.x + d.x, b.y + d.y);
        to[2 * ns] = make_float2(a.x - c.x, a.y - c.y);
        to[3 * ns] = make_float2(b.x - d.x, b.y - d.y);
    }
    __syncthreads();
    for (int r = 0; r < 4; ++r)
        y[blockIdx.x * 1024 + j + r * 256] = s[j + r * 256];
}
