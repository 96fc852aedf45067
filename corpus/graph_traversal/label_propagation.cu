// One round of connected components by label propagation over an edge list: one thread per edge lowers the larger
// of its ends' labels with an atomic minimum. Two gathers and at most one atomic per edge: memory transactions.
extern "C" __global__ void label_copy(int vertices, const int *__restrict__ label, int *__restrict__ lowered)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v < vertices)
        lowered[v] = label[v];
}

extern "C" __global__ void label_propagate(int edges, const int *__restrict__ source,
                                           const int *__restrict__ target, const int *__restrict__ label,
                                           int *__restrict__ lowered)
{
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= edges)
        return;
    int u = source[e];
    int v = target[e];
    int label_u = label[u];
    int label_v = label[v];
    if (label_u < label_v)
        atomicMin(&lowered[v], label_u);
    else if (label_v < label_u)
        atomicMin(&lowered[u], label_v);
}
