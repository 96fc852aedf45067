// Sum of every segment of an array, whose bounds stand in `offsets`: one warp a segment, lanes side by side.
// Limited by DRAM for long segments, by latency and idle lanes for short ones.
extern "C" __global__ void reduction_segmented(int segments, const float *__restrict__ x,
                                               const int *__restrict__ offsets, float *__restrict__ sums)
{
    int segment = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (segment >= segments)
        return;
    float mine = 0.0f;
    for (int i = offsets[segment] + lane; i < offsets[segment + 1]; i += 32)
        mine += x[i];
    for (int offset = 16; offset > 0; offset /= 2)
        mine += __shfl_down_sync(0xffffffff, mine, offset);
    if (lane == 0)
        sums[segment] = mine;
}
