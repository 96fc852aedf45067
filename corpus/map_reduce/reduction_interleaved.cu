// Sum of each block's 256 elements by a tree whose active threads are every second, fourth, eighth one.
// Honestly naive: limited by divergence and barriers.
extern "C" __global__ void reduction_interleaved(int n, const float *__restrict__ in, float *__restrict__ sums)
{
    __shared__ float s[256];
    int i = blockIdx.x * 256 + threadIdx.x;
    s[threadIdx.x] = i < n ? in[i] : 0.0f;
    for (int stride = 1; stride < 256; stride *= 2) {
        __syncthreads();
        if (threadIdx.x % (2 * stride) == 0)
            s[threadIdx.x] += s[threadIdx.x + stride];
    }
    if (threadIdx.x == 0)
        sums[blockIdx.x] = s[0];
}
