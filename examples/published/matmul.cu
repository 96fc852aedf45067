// C = A * B, square tiles of both factors in shared memory. A is rows x inner, B is inner x columns.

constexpr int TILE = 32;

extern "C" __global__ void matmul_tiled(float *c, const float *a, const float *b, int inner, int columns) {
    __shared__ float a_tile[TILE][TILE];
    __shared__ float b_tile[TILE][TILE];
    int row = blockIdx.y * TILE + threadIdx.y;
    int column = blockIdx.x * TILE + threadIdx.x;
    float sum = 0.0f;
    for (int start = 0; start < inner; start += TILE) {
        a_tile[threadIdx.y][threadIdx.x] = a[row * inner + start + threadIdx.x];
        b_tile[threadIdx.y][threadIdx.x] = b[(start + threadIdx.y) * columns + column];
        __syncthreads();
        for (int k = 0; k < TILE; ++k) sum += a_tile[threadIdx.y][k] * b_tile[k][threadIdx.x];
        __syncthreads();
    }
    c[row * columns + column] = sum;
}
