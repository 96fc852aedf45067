// One Bellman-Ford round of single-source shortest paths: every reached vertex relaxes its edges with atomic
// minima, one thread per vertex. Scattered atomics on a graph with hubs: bound by L2 atomics and divergence.
#define UNREACHED 0x7fffffff

extern "C" __global__ void sssp_copy(int vertices, const int *__restrict__ distance, int *__restrict__ relaxed)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v < vertices)
        relaxed[v] = distance[v];
}

extern "C" __global__ void sssp_relax(int vertices, const int *__restrict__ offsets,
                                      const int *__restrict__ neighbours, const int *__restrict__ weights,
                                      const int *__restrict__ distance, int *__restrict__ relaxed)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= vertices)
        return;
    int here = distance[v];
    if (here == UNREACHED)
        return;
    int end = offsets[v + 1];
    for (int k = offsets[v]; k < end; ++k) {
        int w = neighbours[k];
        int candidate = here + weights[k];
        if (candidate < distance[w]) // spares most atomics
            atomicMin(&relaxed[w], candidate);
    }
}
