// Copies and transposes of a matrix, width a multiple of TILE; each thread moves TILE / ROWS elements.

constexpr int TILE = 32;
constexpr int ROWS = 16;

extern "C" __global__ void copy(float *out, const float *in, int width) {
    int x = blockIdx.x * TILE + threadIdx.x;
    int y = blockIdx.y * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS) out[(y + j) * width + x] = in[(y + j) * width + x];
}

extern "C" __global__ void copy_shared(float *out, const float *in, int width) {
    __shared__ float tile[TILE][TILE];
    int x = blockIdx.x * TILE + threadIdx.x;
    int y = blockIdx.y * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * width + x];
    __syncthreads();
    for (int j = 0; j < TILE; j += ROWS) out[(y + j) * width + x] = tile[threadIdx.y + j][threadIdx.x];
}

// Writes with a stride of one row.
extern "C" __global__ void transpose_naive(float *out, const float *in, int width) {
    int x = blockIdx.x * TILE + threadIdx.x;
    int y = blockIdx.y * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS) out[x * width + y + j] = in[(y + j) * width + x];
}

// Rows in, rows out; the column of the tile that a warp reads lies in one bank unless PAD is 1.
template <int PAD> __device__ void transpose_tile(float *out, const float *in, int width, int bx, int by) {
    __shared__ float tile[TILE][TILE + PAD];
    int x = bx * TILE + threadIdx.x;
    int y = by * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * width + x];
    __syncthreads();
    x = by * TILE + threadIdx.x;
    y = bx * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS) out[(y + j) * width + x] = tile[threadIdx.x][threadIdx.y + j];
}

extern "C" __global__ void transpose_coalesced(float *out, const float *in, int width) {
    transpose_tile<0>(out, in, width, blockIdx.x, blockIdx.y);
}

extern "C" __global__ void transpose_padded(float *out, const float *in, int width) {
    transpose_tile<1>(out, in, width, blockIdx.x, blockIdx.y);
}

// Blocks numbered along diagonals, so that neighbours write to different memory partitions.
extern "C" __global__ void transpose_diagonal(float *out, const float *in, int width) {
    transpose_tile<1>(out, in, width, (blockIdx.x + blockIdx.y) % gridDim.x, blockIdx.x);
}
