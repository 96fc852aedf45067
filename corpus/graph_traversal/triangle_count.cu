// Triangles per edge of an oriented graph: one thread per edge merges the sorted neighbour lists of both ends.
// Data-dependent loops over short lists: bound by latency, divergence and uncoalesced loads.
extern "C" __global__ void triangle_count(int edges, const int *__restrict__ offsets,
                                          const int *__restrict__ sources, const int *__restrict__ targets,
                                          int *__restrict__ triangles)
{
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= edges)
        return;
    int u = sources[e];
    int v = targets[e];
    int i = offsets[u], end_i = offsets[u + 1];
    int j = offsets[v], end_j = offsets[v + 1];
    int count = 0;
    while (i < end_i && j < end_j) {
        int a = targets[i];
        int b = targets[j];
        count += a == b;
        i += a <= b;
        j += b <= a;
    }
    triangles[e] = count;
}
