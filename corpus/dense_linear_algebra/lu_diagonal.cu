// LU factorisation without pivoting of a batch of 32 x 32 blocks (the diagonal step of blocked LU), in place.
// One block of 32 x 8 threads per matrix, in shared memory; 31 dependent steps with two barriers each limit
// it.
constexpr int SIZE = 32;

extern "C" __global__ void lu_diagonal(float *__restrict__ A) {
    __shared__ float tile[SIZE][SIZE + 1];
    float *matrix = A + static_cast<size_t>(blockIdx.x) * SIZE * SIZE;
    int col = threadIdx.x;
    for (int row = threadIdx.y; row < SIZE; row += blockDim.y) {
        tile[row][col] = matrix[row * SIZE + col];
    }
    __syncthreads();
    for (int k = 0; k < SIZE - 1; ++k) {
        if (threadIdx.y == 0 && col > k) {
            tile[col][k] /= tile[k][k];  // here the thread's column number names a row of L
        }
        __syncthreads();
        if (col > k) {
            for (int row = k + 1 + threadIdx.y; row < SIZE; row += blockDim.y) {
                tile[row][col] -= tile[row][k] * tile[k][col];
            }
        }
        __syncthreads();
    }
    for (int row = threadIdx.y; row < SIZE; row += blockDim.y) {
        matrix[row * SIZE + col] = tile[row][col];
    }
}
