// One block step of tiled Floyd-Warshall with 32 x 32 tiles in shared memory: the diagonal tile alone (one block,
// latency bound), then the tiles in its row and column, then all others (bound by shared memory).
#define TILE 32

extern "C" __global__ void floyd_diagonal(int n, int tile, int *__restrict__ distance)
{
    __shared__ int d[TILE][TILE];
    int i = threadIdx.y;
    int j = threadIdx.x;
    int at = (tile * TILE + i) * n + tile * TILE + j;
    d[i][j] = distance[at];
    for (int k = 0; k < TILE; ++k) {
        __syncthreads();
        int shorter = min(d[i][j], d[i][k] + d[k][j]); // row and column k stay as they are in step k
        d[i][j] = shorter;
    }
    distance[at] = d[i][j];
}

// Block (x, 0) is tile x of the row of the diagonal tile, block (x, 1) tile x of its column.
extern "C" __global__ void floyd_cross(int n, int tile, int *__restrict__ distance)
{
    __shared__ int diagonal[TILE][TILE];
    __shared__ int d[TILE][TILE];
    if (blockIdx.x == tile)
        return;
    int i = threadIdx.y;
    int j = threadIdx.x;
    bool in_row = blockIdx.y == 0;
    int tile_row = in_row ? tile : blockIdx.x;
    int tile_column = in_row ? blockIdx.x : tile;
    int at = (tile_row * TILE + i) * n + tile_column * TILE + j;
    diagonal[i][j] = distance[(tile * TILE + i) * n + tile * TILE + j];
    d[i][j] = distance[at];
    for (int k = 0; k < TILE; ++k) {
        __syncthreads();
        int through = in_row ? diagonal[i][k] + d[k][j] : d[i][k] + diagonal[k][j];
        d[i][j] = min(d[i][j], through);
    }
    distance[at] = d[i][j];
}

extern "C" __global__ void floyd_rest(int n, int tile, int *__restrict__ distance)
{
    __shared__ int column[TILE][TILE];
    __shared__ int row[TILE][TILE];
    if (blockIdx.x == tile || blockIdx.y == tile)
        return;
    int i = threadIdx.y;
    int j = threadIdx.x;
    int at = (blockIdx.y * TILE + i) * n + blockIdx.x * TILE + j;
    column[i][j] = distance[(blockIdx.y * TILE + i) * n + tile * TILE + j];
    row[i][j] = distance[(tile * TILE + i) * n + blockIdx.x * TILE + j];
    __syncthreads();
    int shortest = distance[at];
#pragma unroll
    for (int k = 0; k < TILE; ++k)
        shortest = min(shortest, column[i][k] + row[k][j]);
    distance[at] = shortest;
}
