// Kernels for the tests of the SASS room: every kind of unit, memory and control flow of sm_75.
struct Pair { int key; char tag; };
struct Large { char text[20000]; };
typedef int (*Function)(int);

__constant__ float coefficients[64];

__device__ float scaled(float x) { return x * 3.0f + 1.0f; }
__device__ __noinline__ float harmonic(float a, int n)
{
    float sum = 0;
    for (int i = 0; i < n; i++) sum += a / (i + 1.0f);
    return sum;
}
__device__ __noinline__ int triple(int x) { return x * 3; }
__device__ __noinline__ int less(int x) { return x - 8; }
__device__ Function functions[2] = {triple, less};

extern "C" __global__ void __launch_bounds__(256) saxpy(float *y, const float *__restrict__ x, float a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = scaled(a * x[i]) + coefficients[i & 63] / y[i];
}

template <int T> __global__ void tiled(const float4 *a, const float *b, float *c, int n)
{
    __shared__ float tile_a[T][T], tile_b[T][T];
    float sum = 0;
    int tx = threadIdx.x, ty = threadIdx.y;
    for (int k = 0; k < n; k += T) {
        tile_a[ty][tx] = a[ty * n + k + tx].x + a[ty * n + k + tx].w;
        tile_b[ty][tx] = b[(k + ty) * n + tx];
        __syncthreads();
        for (int j = 0; j < T; j++) sum += tile_a[ty][j] * tile_b[j][tx];
        __syncthreads();
    }
    c[ty * n + tx] = sum + harmonic(sum, n);
}
template __global__ void tiled<16>(const float4 *, const float *, float *, int);

extern "C" __global__ void reduce(double *out, const double *in, int n)
{
    double sum = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) sum += in[i] / 3.0;
    for (int k = 16; k; k /= 2) sum += __shfl_down_sync(~0u, sum, k);
    if (threadIdx.x % 32 == 0) atomicAdd(out, sum);
}

extern "C" __global__ void choose(int *x)
{
    switch (x[0]) {
    case 0: x[1] = 3; break;
    case 1: x[4] = x[5] * x[6]; break;
    case 2: __syncthreads(); x[6] = __ffs(x[2]); break;
    case 3: x[2] = __popc(x[3]); break;
    case 4: atomicAdd(x + 4, 3); break;
    case 5: x[4] = atomicCAS(x, 3, 4); break;
    case 6: x[4] = x[3] / x[2]; break;
    case 7: x[9] = 0; break;
    }
}

extern "C" __global__ void mathematics(float *f, double *d, long long *l, int *x)
{
    int i = threadIdx.x;
    float g = f[i];
    f[i] = sinf(g) + expf(g) + logf(g) + sqrtf(g) + rsqrtf(g) + fminf(g, f[i + 3]) + rintf(g) + (float)l[i + 9];
    d[i] = sqrt(d[i]) + fmin(d[i + 2], d[i + 3]) + floor(d[i + 4]) + (double)l[i] + (double)g;
    l[i] = l[i + 1] * l[i + 2] / l[i + 3] + (long long)d[i + 7] + __mul64hi(l[i], l[i + 5]) + (l[i] << x[i]);
    x[i] = x[i + 1] / x[i + 2] + __clz(x[i + 4]) + __brev(x[i + 5]) + __dp4a(x[i], x[i + 1], x[i + 2])
         + __funnelshift_l(x[i], x[i + 1], x[i + 2]) + __ballot_sync(~0u, x[i]) + __match_any_sync(~0u, x[i])
         + __vabsdiffu4(x[i + 7], x[i + 3]) + min(x[i], max(x[i + 3], x[i + 4])) + (int)clock64();
}

extern "C" __global__ void memory(int *x, unsigned char *c, short *s, int n)
{
    __shared__ int counters[32];
    extern __shared__ int dynamic[];
    int buffer[64], i = threadIdx.x;
    counters[i] = dynamic[i] = 0;
    for (int k = 0; k < 64; k++) buffer[k] = x[k];
    __syncthreads();
    atomicAdd(counters + i % 3, i);
    atomicMax(x + 5, i);
    __threadfence();
    c[i] = c[i + 1] + c[i + 2];
    s[i] = s[i + 1] * s[i + 2];
    for (int k = 0; k < 64; k++) x[k] = buffer[(buffer[k] ^ n) & 63] + counters[k & 31] + dynamic[k];
    x[i + 99] = __syncthreads_count(i > 3) + functions[x[1] & 1](x[2]);
}

extern "C" __global__ void parameters(Large large, int *x, Pair pair, double d)
{
    x[threadIdx.x] = large.text[x[1]] + pair.tag + d;
}

extern "C" __global__ void nothing() {}
