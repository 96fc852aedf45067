// Every thread adds its element to one of very few counters and raises one of very few maxima, all in global memory.
// Limited by atomics on equal addresses, which L2 does one after another.
extern "C" __global__ void atomics_contended(int n, int counters, const int *__restrict__ x, int *sums, int *largest)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int value = x[i], counter = i / 32 % counters;  // a warp's lanes meet on one address
    atomicAdd(&sums[counter], value);
    atomicMax(&largest[counter], value);
}
