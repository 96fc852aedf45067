// Roots of a forest by following parent pointers, one thread per vertex: the last step of many
// connected-components methods. A chain of dependent loads of uneven length: bound by memory latency.
extern "C" __global__ void pointer_jumping(int vertices, const int *__restrict__ parent, int *__restrict__ root)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= vertices)
        return;
    int here = v;
    int above = parent[here];
    while (above != here) {
        here = above;
        above = parent[here];
    }
    root[v] = here;
}
