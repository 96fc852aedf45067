// Histogram of bytes: each warp counts in a copy of its own in shared memory, so that warps do not collide; the block
// adds the copies up. Limited by shared-memory atomics within warps.
extern "C" __global__ void __launch_bounds__(256)
histogram_warp(int n, const uint4 *__restrict__ data, unsigned *counts)
{
    __shared__ unsigned copies[8][256];
    for (int warp = 0; warp < 8; ++warp)
        copies[warp][threadIdx.x] = 0;
    __syncthreads();
    unsigned *mine = copies[threadIdx.x / 32];
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n / 16; i += gridDim.x * 256) {
        uint4 sixteen = data[i];
        unsigned words[4] = {sixteen.x, sixteen.y, sixteen.z, sixteen.w};
        for (int word = 0; word < 4; ++word)
            for (int shift = 0; shift < 32; shift += 8)
                atomicAdd(&mine[words[word] >> shift & 255], 1u);
    }
    __syncthreads();
    unsigned sum = 0;
    for (int warp = 0; warp < 8; ++warp)
        sum += copies[warp][threadIdx.x];
    atomicAdd(&counts[threadIdx.x], sum);
}
