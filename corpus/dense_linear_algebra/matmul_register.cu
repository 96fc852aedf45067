// C (m x n) = A (m x k) B (k x n), a 64 x 64 tile of C per block and a 4 x 4 tile per thread in registers. m
// and n are multiples of 64, k of 16. Two 16-byte shared loads feed 16 multiply-adds: limited by arithmetic.
constexpr int TILE = 64;
constexpr int DEPTH = 16;
constexpr int PAD = 4;

extern "C" __global__ void __launch_bounds__(256)
    matmul_register(int n, int k, const float *__restrict__ A, const float *__restrict__ B, float *__restrict__ C) {
    __shared__ alignas(16) float a_tile[DEPTH][TILE + PAD];  // transposed: a column of A is contiguous
    __shared__ alignas(16) float b_tile[DEPTH][TILE];
    int t = threadIdx.x;
    int tx = t % 16;
    int ty = t / 16;
    const float *a_block = A + blockIdx.y * TILE * k;
    const float *b_block = B + blockIdx.x * TILE;
    int a_row = t / 4;
    int a_col = t % 4 * 4;
    float sum[4][4] = {};

    for (int start = 0; start < k; start += DEPTH) {
        float4 a = *reinterpret_cast<const float4 *>(a_block + a_row * k + start + a_col);
        float4 b = *reinterpret_cast<const float4 *>(b_block + (start + ty) * n + tx * 4);
        a_tile[a_col + 0][a_row] = a.x;
        a_tile[a_col + 1][a_row] = a.y;
        a_tile[a_col + 2][a_row] = a.z;
        a_tile[a_col + 3][a_row] = a.w;
        *reinterpret_cast<float4 *>(&b_tile[ty][tx * 4]) = b;
        __syncthreads();
#pragma unroll
        for (int d = 0; d < DEPTH; ++d) {
            float4 u = *reinterpret_cast<const float4 *>(&a_tile[d][ty * 4]);
            float4 v = *reinterpret_cast<const float4 *>(&b_tile[d][tx * 4]);
            float left[4] = {u.x, u.y, u.z, u.w};
            float right[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
            for (int i = 0; i < 4; ++i) {
#pragma unroll
                for (int j = 0; j < 4; ++j) {
                    sum[i][j] += left[i] * right[j];
                }
            }
        }
        __syncthreads();
    }
    float *c_thread = C + (blockIdx.y * TILE + ty * 4) * n + blockIdx.x * TILE + tx * 4;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        *reinterpret_cast<float4 *>(c_thread + i * n) = make_float4(sum[i][0], sum[i][1], sum[i][2], sum[i][3]);
    }
}
