// Keeps the elements above a threshold, in order: blocks count theirs, one block turns counts into offsets, blocks
// write, ranking lanes by ballots. Limited by DRAM: two reads and a partial write.
extern "C" __global__ void compaction_count(float threshold, const float *__restrict__ x, int *__restrict__ offsets)
{
    int kept = __syncthreads_count(x[blockIdx.x * 1024 + threadIdx.x] > threshold);
    if (threadIdx.x == 0)
        offsets[blockIdx.x + 1] = kept;
}

extern "C" __global__ void __launch_bounds__(1024) compaction_offsets(int blocks, int *offsets)
{
    __shared__ int s[1024];
    int carry = 0;
    for (int start = 1; start <= blocks; start += 1024) {
        int i = start + threadIdx.x;
        s[threadIdx.x] = i <= blocks ? offsets[i] : 0;
        for (int distance = 1; distance < 1024; distance *= 2) {
            __syncthreads();
            int other = threadIdx.x >= distance ? s[threadIdx.x - distance] : 0;
            __syncthreads();
            s[threadIdx.x] += other;
        }
        __syncthreads();
        if (i <= blocks)
            offsets[i] = carry + s[threadIdx.x];
        carry += s[1023];
        __syncthreads();
    }
}

extern "C" __global__ void __launch_bounds__(1024)
compaction_write(float threshold, const float *__restrict__ x, const int *__restrict__ offsets,
                 float *__restrict__ kept)
{
    __shared__ int before[32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    float mine = x[blockIdx.x * 1024 + threadIdx.x];
    unsigned lanes = __ballot_sync(0xffffffff, mine > threshold);
    if (lane == 0)
        before[warp] = __popc(lanes);
    __syncthreads();
    if (warp == 0) {
        int count = before[lane], sum = count;
        for (int distance = 1; distance < 32; distance *= 2) {
            int other = __shfl_up_sync(0xffffffff, sum, distance);
            if (lane >= distance)
                sum += other;
        }
        before[lane] = sum - count;
    }
    __syncthreads();
    if (mine > threshold)
        kept[offsets[blockIdx.x] + before[warp] + __popc(lanes & ((1u << lane) - 1))] = mine;
}
