// Laplacian smoothing of a surface mesh, one thread per vertex: move towards the mean of the neighbours, found
// through a CSR adjacency. Six scattered three-float gathers per vertex: bound by L2 and DRAM transactions.
extern "C" __global__ void mesh_smooth(int vertices, float strength, const int *__restrict__ offsets,
                                       const int *__restrict__ neighbours, const float *__restrict__ position,
                                       float *__restrict__ smoothed)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= vertices)
        return;
    int first = offsets[v];
    int end = offsets[v + 1];
    float x = 0.0f, y = 0.0f, z = 0.0f;
    for (int k = first; k < end; ++k) {
        const float *p = position + 3 * neighbours[k];
        x += p[0];
        y += p[1];
        z += p[2];
    }
    const float *here = position + 3 * v;
    float inverse = 1.0f / (float)(end - first);
    smoothed[3 * v] = here[0] + strength * (x * inverse - here[0]);
    smoothed[3 * v + 1] = here[1] + strength * (y * inverse - here[1]);
    smoothed[3 * v + 2] = here[2] + strength * (z * inverse - here[2]);
}
