// Square matrix multiplication C = A · B, straight and in tiles; predict both with
//
//     warpwatt predict matmul.cu
//
// warpwatt: --kernel matmul_naive --grid 64,64 --block 16,16 --arg n=1024 --arg A=f32[n*n] --arg B=f32[n*n] --arg C=f32[n*n]:zeros
// warpwatt: --kernel matmul_tiled --grid 64,64 --block 16,16 --arg n=1024 --arg A=f32[n*n] --arg B=f32[n*n] --arg C=f32[n*n]:zeros

constexpr int TILE = 16;

__global__ void matmul_naive(int n, const float *A, const float *B, float *C) {
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n || column >= n) return;
    float sum = 0.0f;
    for (int k = 0; k < n; ++k) {
        sum += A[row * n + k] * B[k * n + column];
    }
    C[row * n + column] = sum;
}

__global__ void matmul_tiled(int n, const float *A, const float *B, float *C) {
    __shared__ float a[TILE][TILE];
    __shared__ float b[TILE][TILE];
    int row = blockIdx.y * TILE + threadIdx.y;
    int column = blockIdx.x * TILE + threadIdx.x;
    float sum = 0.0f;
    for (int tile = 0; tile < n / TILE; ++tile) {
        a[threadIdx.y][threadIdx.x] = A[row * n + tile * TILE + threadIdx.x];
        b[threadIdx.y][threadIdx.x] = B[(tile * TILE + threadIdx.y) * n + column];
        __syncthreads();
        for (int k = 0; k < TILE; ++k) {
            sum += a[threadIdx.y][k] * b[k][threadIdx.x];
        }
        __syncthreads();
    }
    C[row * n + column] = sum;
}
