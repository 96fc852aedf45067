// Sums over the columns of a tile in shared memory. Before: a warp reads one bank. After: rows are padded.
//
// warpwatt: --kernel before --grid 2048 --block 32,8 --arg times=64 --arg in=f32[2097152] --arg out=f32[65536]:zeros
// warpwatt: --kernel after --grid 2048 --block 32,8 --arg times=64 --arg in=f32[2097152] --arg out=f32[65536]:zeros

constexpr int TILE = 32, ROWS = 8;

template <int WIDTH>
__device__ void sums(int times, const float *in, float *out) {
    __shared__ float tile[TILE][WIDTH];
    for (int j = threadIdx.y; j < TILE; j += ROWS)
        tile[j][threadIdx.x] = in[(blockIdx.x * TILE + j) * TILE + threadIdx.x];
    __syncthreads();
    float sum = 0.0f;
    for (int k = 0; k < times; ++k)
        sum += tile[threadIdx.x][(k + threadIdx.y) % TILE];
    if (threadIdx.y == 0) out[blockIdx.x * TILE + threadIdx.x] = sum;
}

__global__ void before(int times, const float *in, float *out) { sums<TILE>(times, in, out); }

__global__ void after(int times, const float *in, float *out) { sums<TILE + 1>(times, in, out); }
