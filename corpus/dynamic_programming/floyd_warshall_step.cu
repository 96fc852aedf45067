// One step k of Floyd-Warshall on a dense distance matrix, in place, one thread per pair of vertices.
// Reads and writes the whole matrix for one addition and one minimum each: bound by memory bandwidth.
extern "C" __global__ void floyd_warshall_step(int n, int k, int *__restrict__ distance)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= n || j >= n)
        return;
    int through = distance[i * n + k] + distance[k * n + j];
    distance[i * n + j] = min(distance[i * n + j], through);
}
