// out = transpose(in) through a 32 x 32 tile in shared memory, padded by one column; 32 x 8 threads, four
// rows each. Coalesced on both sides and free of bank conflicts: limited by memory bandwidth.
constexpr int TILE = 32;

extern "C" __global__ void transpose_shared(int rows, int cols, const float *__restrict__ in, float *__restrict__ out) {
    __shared__ float tile[TILE][TILE + 1];
    int col = blockIdx.x * TILE + threadIdx.x;
    for (int j = threadIdx.y; j < TILE; j += blockDim.y) {
        int row = blockIdx.y * TILE + j;
        if (row < rows && col < cols) {
            tile[j][threadIdx.x] = in[static_cast<size_t>(row) * cols + col];
        }
    }
    __syncthreads();
    int out_col = blockIdx.y * TILE + threadIdx.x;
    for (int j = threadIdx.y; j < TILE; j += blockDim.y) {
        int out_row = blockIdx.x * TILE + j;
        if (out_row < cols && out_col < rows) {
            out[static_cast<size_t>(out_row) * rows + out_col] = tile[threadIdx.x][j];
        }
    }
}
