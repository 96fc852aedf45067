// Fast Walsh-Hadamard transform in place: chunks of 2048 in shared memory, then one launch per longer stride.
// Limited by DRAM; the shared part by barriers.
extern "C" __global__ void walsh_shared(float *x)
{
    __shared__ float s[2048];
    float *chunk = x + blockIdx.x * 2048;
    s[threadIdx.x] = chunk[threadIdx.x];
    s[threadIdx.x + 1024] = chunk[threadIdx.x + 1024];
    for (int stride = 1; stride < 2048; stride *= 2) {
        __syncthreads();
        int low = threadIdx.x % stride, at = (threadIdx.x - low) * 2 + low;
        float a = s[at], b = s[at + stride];
        s[at] = a + b;
        s[at + stride] = a - b;
    }
    __syncthreads();
    chunk[threadIdx.x] = s[threadIdx.x];
    chunk[threadIdx.x + 1024] = s[threadIdx.x + 1024];
}

extern "C" __global__ void walsh_stage(int n, int stride, float *x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n / 2)
        return;
    int low = i % stride, at = (i - low) * 2 + low;
    float a = x[at], b = x[at + stride];
    x[at] = a + b;
    x[at + stride] = a - b;
}
