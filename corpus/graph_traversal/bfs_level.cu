// One level of breadth-first search over all vertices, one thread each: those on the frontier mark their
// undiscovered neighbours. Most threads only look at their level; hubs make warps diverge. Memory latency bound.
extern "C" __global__ void bfs_level(int vertices, int current, const int *__restrict__ offsets,
                                     const int *__restrict__ neighbours, const int *__restrict__ level,
                                     unsigned char *__restrict__ discovered)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= vertices || level[v] != current)
        return;
    int end = offsets[v + 1];
    for (int k = offsets[v]; k < end; ++k) {
        int w = neighbours[k];
        if (level[w] < 0)
            discovered[w] = 1; // several threads may write the same
    }
}
