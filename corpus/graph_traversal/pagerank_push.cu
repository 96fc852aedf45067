// One PageRank iteration, pushing: each thread adds its vertex's share to all out-neighbours.
// One scattered float atomic per edge: bound by the atomic throughput of L2.
extern "C" __global__ void pagerank_start(int vertices, float damping, float *__restrict__ next)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v < vertices)
        next[v] = (1.0f - damping) / (float)vertices;
}

extern "C" __global__ void pagerank_push(int vertices, float damping, const int *__restrict__ offsets,
                                         const int *__restrict__ targets, const float *__restrict__ rank,
                                         float *__restrict__ next)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= vertices)
        return;
    int first = offsets[v];
    int end = offsets[v + 1];
    if (first == end)
        return;
    float share = damping * rank[v] / (float)(end - first);
    for (int k = first; k < end; ++k)
        atomicAdd(&next[targets[k]], share);
}
