// Sum of each block's 1024 elements: two per thread added while loading, then a tree whose active threads stay
// adjacent. Limited by DRAM; barriers show.
extern "C" __global__ void reduction_sequential(int n, const float *__restrict__ in, float *__restrict__ sums)
{
    __shared__ float s[512];
    int i = blockIdx.x * 1024 + threadIdx.x;
    s[threadIdx.x] = (i < n ? in[i] : 0.0f) + (i + 512 < n ? in[i + 512] : 0.0f);
    for (int stride = 256; stride > 0; stride /= 2) {
        __syncthreads();
        if (threadIdx.x < stride)
            s[threadIdx.x] += s[threadIdx.x + stride];
    }
    if (threadIdx.x == 0)
        sums[blockIdx.x] = s[0];
}
