// out = transpose(in), one thread per element: coalesced reads, writes a whole column apart.
// Each warp's store touches 32 sectors: limited by the store path and the L2 cache.
extern "C" __global__ void transpose_naive(int rows, int cols, const float *__restrict__ in, float *__restrict__ out) {
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < rows && col < cols) {
        out[static_cast<size_t>(col) * rows + row] = in[static_cast<size_t>(row) * cols + col];
    }
}
