// One level of breadth-first search with queues: each thread expands one vertex of the frontier, claims
// neighbours in a bitmap and appends them to the next queue; a last kernel settles their level and empties the
// queue. Bound by scattered atomics, with one hot counter.
extern "C" __global__ void bfs_queue_clear(int words, unsigned int *__restrict__ claimed, int *__restrict__ next_size)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < words)
        claimed[i] = 0;
    if (i == 0)
        *next_size = 0;
}

extern "C" __global__ void bfs_queue_expand(int frontier_size, const int *__restrict__ frontier,
                                            const int *__restrict__ offsets, const int *__restrict__ neighbours,
                                            const unsigned int *__restrict__ visited,
                                            unsigned int *__restrict__ claimed, int *__restrict__ next,
                                            int *__restrict__ next_size)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= frontier_size)
        return;
    int v = frontier[i];
    int end = offsets[v + 1];
    for (int k = offsets[v]; k < end; ++k) {
        int w = neighbours[k];
        unsigned int bit = 1u << (w % 32);
        if (visited[w / 32] & bit)
            continue;
        unsigned int before = atomicOr(&claimed[w / 32], bit);
        if (!(before & bit))
            next[atomicAdd(next_size, 1)] = w;
    }
}

extern "C" __global__ void bfs_queue_settle(int depth, const int *__restrict__ next_size, int *__restrict__ next,
                                            int *__restrict__ level)
{
    int size = *next_size;
    int stride = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < size; i += stride) {
        level[next[i]] = depth;
        next[i] = -1;
    }
}
