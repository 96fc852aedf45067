// C (m x n, int32) = A (m x k, int8) times the transpose of B (n x k, int8) with four-way dot products
// (dp4a). 16 x 16 tiles of packed words (64 products deep) in shared memory. m, n are guarded; k is a
// multiple of 4. Two shared loads per dp4a limit it.
constexpr int TILE = 16;

extern "C" __global__ void matmul_dp4a(int m, int n, int k, const signed char *__restrict__ A,
                                       const signed char *__restrict__ B, int *__restrict__ C) {
    __shared__ int a_tile[TILE][TILE + 1];
    __shared__ int b_tile[TILE][TILE + 1];
    const int *a_words = reinterpret_cast<const int *>(A);
    const int *b_words = reinterpret_cast<const int *>(B);
    int words = k / 4;
    int tx = threadIdx.x;
    int ty = threadIdx.y;
    int row = blockIdx.y * TILE + ty;
    int col = blockIdx.x * TILE + tx;
    int b_row = blockIdx.x * TILE + ty;  // the row of B this thread loads
    int sum = 0;
    for (int start = 0; start < words; start += TILE) {
        bool inside = start + tx < words;
        a_tile[ty][tx] = inside && row < m ? a_words[row * words + start + tx] : 0;
        b_tile[ty][tx] = inside && b_row < n ? b_words[b_row * words + start + tx] : 0;
        __syncthreads();
#pragma unroll
        for (int w = 0; w < TILE; ++w) {
            sum = __dp4a(a_tile[ty][w], b_tile[tx][w], sum);
        }
        __syncthreads();
    }
    if (row < m && col < n) {
        C[row * n + col] = sum;
    }
}
