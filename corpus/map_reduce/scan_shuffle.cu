// Inclusive prefix sum of each chunk of 1024 elements: shuffles within warps, then the first warp scans the totals.
// Limited by DRAM; two barriers only.
__device__ float warp_scan(float mine, int lane)
{
    for (int distance = 1; distance < 32; distance *= 2) {
        float other = __shfl_up_sync(0xffffffff, mine, distance);
        if (lane >= distance)
            mine += other;
    }
    return mine;
}

extern "C" __global__ void __launch_bounds__(1024)
scan_shuffle(const float *__restrict__ x, float *__restrict__ y)
{
    __shared__ float totals[32];
    const int i = blockIdx.x * 1024 + threadIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    float mine = warp_scan(x[i], lane);
    if (lane == 31)
        totals[warp] = mine;
    __syncthreads();
    if (warp == 0)
        totals[lane] = warp_scan(totals[lane], lane);
    __syncthreads();
    y[i] = warp > 0 ? mine + totals[warp - 1] : mine;
}
