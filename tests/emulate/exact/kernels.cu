// Kernels whose requests, sectors, lines and shared-memory passes are counted by hand in test_exact.py.

extern "C" __global__ void copy(float *out, const float *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i];
}

extern "C" __global__ void stride_2(float *out, const float *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[2 * i];
}

extern "C" __global__ void stride_32(float *out, const float *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[32 * i];
}

extern "C" __global__ void misaligned(float *out, const float *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i + 1];
}

extern "C" __global__ void broadcast(float *out, const float *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[threadIdx.x / 32];
}

extern "C" __global__ void transposition(float *out, const float *in)
{
    int row = blockIdx.x, column = threadIdx.x;
    out[column * gridDim.x + row] = in[row * blockDim.x + column];
}

#define CONFLICTS(name, distance)                                \
    extern "C" __global__ void name(float *out, const float *in) \
    {                                                            \
        __shared__ float s[32 * distance];                       \
        s[threadIdx.x * distance] = in[threadIdx.x];             \
        __syncthreads();                                         \
        out[threadIdx.x] = s[(31 - threadIdx.x) * distance];     \
    }

CONFLICTS(distance_1, 1)
CONFLICTS(distance_2, 2)
CONFLICTS(distance_4, 4)
CONFLICTS(distance_8, 8)
CONFLICTS(distance_32, 32)
CONFLICTS(padded, 33)

extern "C" __global__ void shared_64(double *out, const double *in)
{
    __shared__ double s[32];
    s[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = s[31 - threadIdx.x];
}

extern "C" __global__ void shared_128(float4 *out, const float4 *in)
{
    __shared__ float4 s[32];
    s[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = s[31 - threadIdx.x];
}

extern "C" __global__ void divergent(float *out, const float *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x % 2 == 1 || threadIdx.x < 8)
        out[i] = in[i];
}

extern "C" __global__ void tree(float *out, const float *in)
{
    __shared__ float s[256];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * 256 + t];
    for (int half = 128; half > 0; half /= 2)
    {
        __syncthreads();
        if (t < half)
            s[t] += s[t + half];
    }
    if (t == 0)
        out[blockIdx.x] = s[0];
}

extern "C" __global__ void one_address(float *out, const float *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(out, in[i]);
}

extern "C" __global__ void shuffles(float *out, const float *in)
{
    float sum = in[blockIdx.x * blockDim.x + threadIdx.x];
    for (int distance = 16; distance > 0; distance /= 2)
        sum += __shfl_down_sync(0xffffffffu, sum, distance);
    if (threadIdx.x % 32 == 0)
        out[(blockIdx.x * blockDim.x + threadIdx.x) / 32] = sum;
}
