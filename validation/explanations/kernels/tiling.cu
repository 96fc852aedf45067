// Product of square matrices from tiles in shared memory. Before: one result per thread. After: two by two.
//
// warpwatt: --kernel before --grid 64,64 --block 16,16 --arg n=1024 --arg A=f32[n*n] --arg B=f32[n*n] --arg C=f32[n*n]:zeros
// warpwatt: --kernel after --grid 32,32 --block 16,16 --arg n=1024 --arg A=f32[n*n] --arg B=f32[n*n] --arg C=f32[n*n]:zeros

constexpr int T = 16;

__global__ void before(int n, const float *A, const float *B, float *C) {
    __shared__ float a[T][T], b[T][T];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * T + y, column = blockIdx.x * T + x;
    float sum = 0.0f;
    for (int tile = 0; tile < n; tile += T) {
        a[y][x] = A[row * n + tile + x];
        b[y][x] = B[(tile + y) * n + column];
        __syncthreads();
        for (int k = 0; k < T; ++k)
            sum += a[y][k] * b[k][x];
        __syncthreads();
    }
    C[row * n + column] = sum;
}

__global__ void after(int n, const float *A, const float *B, float *C) {
    __shared__ float a[2 * T][T], b[T][2 * T];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 2 * T + y, column = blockIdx.x * 2 * T + x;
    float sum[2][2] = {{0.0f, 0.0f}, {0.0f, 0.0f}};
    for (int tile = 0; tile < n; tile += T) {
        for (int i = 0; i < 2; ++i) {
            a[y + i * T][x] = A[(row + i * T) * n + tile + x];
            b[y][x + i * T] = B[(tile + y) * n + column + i * T];
        }
        __syncthreads();
        for (int k = 0; k < T; ++k)
            for (int i = 0; i < 2; ++i)
                for (int j = 0; j < 2; ++j) sum[i][j] += a[y + i * T][k] * b[k][x + j * T];
        __syncthreads();
    }
    for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2; ++j) C[(row + i * T) * n + column + j * T] = sum[i][j];
}
