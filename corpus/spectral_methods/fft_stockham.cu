// One radix-2 stage of Stockham's Fourier transform: each thread does one butterfly. `ns` is the length of
// the transforms already done; the stage joins pairs of them. Limited by DRAM (two passes a stage) or L2.
extern "C" __global__ void fft_stockham(int n, int ns, const float2 *__restrict__ in, float2 *__restrict__ out)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= n / 2)
        return;
    int k = j % ns;
    float sine, cosine;
    sincospif(-float(k) / ns, &sine, &cosine);
    float2 a = in[j], b = in[j + n / 2];
    float2 c = make_float2(b.x * cosine - b.y * sine, b.x * sine + b.y * cosine);
    int to = (j - k) * 2 + k;
    out[to] = make_float2(a.x + c.x, a.y + c.y);
    out[to + ns] = make_float2(a.x - c.x, a.y - c.y);
}
