// Sum of each block's 1024 elements: a float4 per thread, shuffles within warps, then within the first warp.
// Limited by DRAM bandwidth.
__device__ float warp_sum(float mine)
{
    for (int offset = 16; offset > 0; offset /= 2)
        mine += __shfl_down_sync(0xffffffff, mine, offset);
    return mine;
}

extern "C" __global__ void reduction_shuffle(int n, const float *__restrict__ in, float *__restrict__ sums)
{
    __shared__ float partial[8];
    int i = (blockIdx.x * 256 + threadIdx.x) * 4;
    float mine = 0.0f;
    if (i + 3 < n) {
        float4 four = *reinterpret_cast<const float4 *>(in + i);
        mine = (four.x + four.y) + (four.z + four.w);
    } else {
        for (; i < n; ++i)
            mine += in[i];
    }
    mine = warp_sum(mine);
    if (threadIdx.x % 32 == 0)
        partial[threadIdx.x / 32] = mine;
    __syncthreads();
    if (threadIdx.x < 32) {
        mine = warp_sum(threadIdx.x < 8 ? partial[threadIdx.x] : 0.0f);
        if (threadIdx.x == 0)
            sums[blockIdx.x] = mine;
    }
}
