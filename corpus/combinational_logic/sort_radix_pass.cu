// One stable pass of a radix sort by four bits: blocks count digits, one block scans the counts (digit-major), blocks
// scatter, ranking lanes of equal digits by match. Limited by DRAM and, in the scan, by one block's latency.
extern "C" __global__ void __launch_bounds__(512)
radix_count(int blocks, int shift, const unsigned *__restrict__ keys, int *__restrict__ counts)
{
    __shared__ int mine[16];
    if (threadIdx.x < 16)
        mine[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&mine[keys[blockIdx.x * 512 + threadIdx.x] >> shift & 15], 1);
    __syncthreads();
    if (threadIdx.x < 16)
        counts[threadIdx.x * blocks + blockIdx.x] = mine[threadIdx.x];
}

extern "C" __global__ void __launch_bounds__(1024) radix_scan(int blocks, int *counts)
{
    __shared__ int totals[32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int carry = 0;
    for (int start = 0; start < blocks * 16; start += 1024) {
        int i = start + threadIdx.x, count = i < blocks * 16 ? counts[i] : 0, sum = count;
        for (int distance = 1; distance < 32; distance *= 2) {
            int other = __shfl_up_sync(0xffffffff, sum, distance);
            sum += lane >= distance ? other : 0;
        }
        if (lane == 31)
            totals[warp] = sum;
        __syncthreads();
        int before = carry;
        for (int w = 0; w < 32; ++w) {
            before += w < warp ? totals[w] : 0;
            carry += totals[w];
        }
        if (i < blocks * 16)
            counts[i] = before + sum - count;
        __syncthreads();
    }
}

extern "C" __global__ void __launch_bounds__(512)
radix_scatter(int blocks, int shift, const unsigned *__restrict__ keys, const int *__restrict__ counts,
              unsigned *__restrict__ moved)
{
    __shared__ int of_warp[16][16];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    if (threadIdx.x < 256)
        of_warp[threadIdx.x / 16][threadIdx.x % 16] = 0;
    __syncthreads();
    unsigned key = keys[blockIdx.x * 512 + threadIdx.x], digit = key >> shift & 15;
    unsigned equal = __match_any_sync(0xffffffff, digit), before = equal & ((1u << lane) - 1);
    if (before == 0)
        of_warp[warp][digit] = __popc(equal);
    __syncthreads();
    if (threadIdx.x < 16) {
        int sum = counts[threadIdx.x * blocks + blockIdx.x];
        for (int w = 0; w < 16; ++w) {
            int count = of_warp[w][threadIdx.x];
            of_warp[w][threadIdx.x] = sum;
            sum += count;
        }
    }
    __syncthreads();
    moved[of_warp[warp][digit] + __popc(before)] = key;
}
