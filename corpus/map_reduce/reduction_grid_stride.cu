// Sum of an array: each thread sums a grid-stride share, warps reduce by shuffles, one atomic per block.
// Limited by DRAM bandwidth.
extern "C" __global__ void reduction_grid_stride(int n, const float *__restrict__ x, float *sum)
{
    __shared__ float partial[32];
    float mine = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        mine += x[i];
    for (int offset = 16; offset > 0; offset /= 2)
        mine += __shfl_down_sync(0xffffffff, mine, offset);
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    if (lane == 0)
        partial[warp] = mine;
    __syncthreads();
    if (warp == 0) {
        mine = lane < blockDim.x / 32 ? partial[lane] : 0.0f;
        for (int offset = 16; offset > 0; offset /= 2)
            mine += __shfl_down_sync(0xffffffff, mine, offset);
        if (lane == 0)
            atomicAdd(sum, mine);
    }
}
