// The average of every plane, one warp per plane; lanes read 4 bytes each, side by side. Short planes leave
// lanes idle and few loads in flight: limited by memory latency, on long planes by bandwidth.
extern "C" __global__ void global_average_pool(int planes, int plane, const float *__restrict__ x,
                                               float *__restrict__ average) {
    int lane = threadIdx.x % 32;
    int which = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    if (which >= planes) {
        return;
    }
    const float *values = x + static_cast<size_t>(which) * plane;
    float sum = 0.0f;
    for (int i = lane; i < plane; i += 32) {
        sum += values[i];
    }
    for (int offset = 16; offset > 0; offset /= 2) {
        sum += __shfl_down_sync(0xffffffff, sum, offset);
    }
    if (lane == 0) {
        average[which] = sum / plane;
    }
}
