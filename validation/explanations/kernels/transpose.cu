// Before: a warp writes down a column. After: through a padded tile in shared memory.
//
// warpwatt: --kernel before --grid 128,128 --block 32,8 --arg n=4096 --arg in=f32[n*n] --arg out=f32[n*n]:zeros
// warpwatt: --kernel after --grid 128,128 --block 32,8 --arg n=4096 --arg in=f32[n*n] --arg out=f32[n*n]:zeros

constexpr int TILE = 32, ROWS = 8;

__global__ void before(int n, const float *in, float *out) {
    int x = blockIdx.x * TILE + threadIdx.x;
    int y = blockIdx.y * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS)
        out[x * n + y + j] = in[(y + j) * n + x];
}

__global__ void after(int n, const float *in, float *out) {
    __shared__ float tile[TILE][TILE + 1];
    int x = blockIdx.x * TILE + threadIdx.x;
    int y = blockIdx.y * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS)
        tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * n + x];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x;
    y = blockIdx.x * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS)
        out[(y + j) * n + x] = tile[threadIdx.x][threadIdx.y + j];
}
