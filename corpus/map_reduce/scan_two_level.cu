// Inclusive prefix sum of a whole array in three launches: chunks of 2048 (a uint4 per thread), the chunks' totals in
// one block, and adding them back. Limited by DRAM: two reads, two writes.
__device__ unsigned block_scan(unsigned mine, unsigned *totals)
{
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int distance = 1; distance < 32; distance *= 2) {
        unsigned other = __shfl_up_sync(0xffffffff, mine, distance);
        if (lane >= distance)
            mine += other;
    }
    if (lane == 31)
        totals[warp] = mine;
    __syncthreads();
    if (warp == 0) {
        unsigned total = lane < blockDim.x / 32 ? totals[lane] : 0;
        for (int distance = 1; distance < 32; distance *= 2) {
            unsigned other = __shfl_up_sync(0xffffffff, total, distance);
            if (lane >= distance)
                total += other;
        }
        totals[lane] = total;
    }
    __syncthreads();
    return warp > 0 ? mine + totals[warp - 1] : mine;
}

extern "C" __global__ void __launch_bounds__(512)
scan_chunks(const uint4 *__restrict__ x, uint4 *__restrict__ y, unsigned *__restrict__ totals)
{
    __shared__ unsigned warps[32];
    int i = blockIdx.x * 512 + threadIdx.x;
    uint4 v = x[i];
    v.y += v.x;
    v.z += v.y;
    v.w += v.z;
    unsigned sum = block_scan(v.w, warps), before = sum - v.w;
    y[i] = make_uint4(v.x + before, v.y + before, v.z + before, sum);
    if (threadIdx.x == 511)
        totals[blockIdx.x] = sum;
}

extern "C" __global__ void __launch_bounds__(1024) scan_totals(int blocks, unsigned *totals)
{
    __shared__ unsigned warps[32];
    unsigned carry = 0;
    for (int start = 0; start < blocks; start += 1024) {
        int i = start + threadIdx.x;
        unsigned sum = carry + block_scan(i < blocks ? totals[i] : 0, warps);
        if (i < blocks)
            totals[i] = sum;
        carry += warps[31];
        __syncthreads();
    }
}

extern "C" __global__ void scan_add(const unsigned *__restrict__ totals, uint4 *__restrict__ y)
{
    if (blockIdx.x == 0)
        return;
    int i = blockIdx.x * 512 + threadIdx.x;
    unsigned before = totals[blockIdx.x - 1];
    uint4 v = y[i];
    y[i] = make_uint4(v.x + before, v.y + before, v.z + before, v.w + before);
}
