// Breadth-first search, second half of a level: what was reached becomes the next frontier.

extern "C" __global__ void advance(bool *frontier, bool *reached, bool *visited, bool *more, int nodes) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= nodes || !reached[i]) return;
    frontier[i] = true;
    visited[i] = true;
    *more = true;
    reached[i] = false;
}
