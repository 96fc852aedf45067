// Histogram of bytes: every thread reads four at a time and counts them by atomics in global memory.
// Limited by atomics of all SMs on the same 256 addresses.
extern "C" __global__ void histogram_global(int n, const uchar4 *__restrict__ data, unsigned *counts)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n / 4; i += gridDim.x * blockDim.x) {
        uchar4 four = data[i];
        atomicAdd(&counts[four.x], 1u);
        atomicAdd(&counts[four.y], 1u);
        atomicAdd(&counts[four.z], 1u);
        atomicAdd(&counts[four.w], 1u);
    }
}
