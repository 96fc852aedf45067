// One PageRank iteration, pulling: each thread sums the contributions of one vertex's in-neighbours.
// No atomics, but a gather per edge over the whole graph: bound by L2 and DRAM transactions.
extern "C" __global__ void pagerank_share(int vertices, const float *__restrict__ rank,
                                          const int *__restrict__ out_degree, float *__restrict__ share)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v < vertices)
        share[v] = rank[v] / (float)max(out_degree[v], 1);
}

extern "C" __global__ void pagerank_pull(int vertices, float damping, const int *__restrict__ offsets,
                                         const int *__restrict__ sources, const float *__restrict__ share,
                                         float *__restrict__ next)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= vertices)
        return;
    float sum = 0.0f;
    int end = offsets[v + 1];
    for (int k = offsets[v]; k < end; ++k)
        sum += share[sources[k]];
    next[v] = (1.0f - damping) / (float)vertices + damping * sum;
}
