// Histogram of bytes: each block counts in shared memory, then adds its counts to the global ones.
// Limited by shared-memory atomics on equal values.
extern "C" __global__ void histogram_shared(int n, const uchar4 *__restrict__ data, unsigned *counts)
{
    __shared__ unsigned mine[256];
    mine[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n / 4; i += gridDim.x * 256) {
        uchar4 four = data[i];
        atomicAdd(&mine[four.x], 1u);
        atomicAdd(&mine[four.y], 1u);
        atomicAdd(&mine[four.z], 1u);
        atomicAdd(&mine[four.w], 1u);
    }
    __syncthreads();
    atomicAdd(&counts[threadIdx.x], mine[threadIdx.x]);
}
