// Sums of consecutive stretches, few warps per SM. Before: each load is waited for. After: four at once.
//
// warpwatt: --kernel before --grid 512 --block 128 --arg n=33554432 --arg x=f32[n] --arg sum=f32[65536]:zeros
// warpwatt: --kernel after --grid 512 --block 128 --arg n=33554432 --arg x=f32[n] --arg sum=f32[65536]:zeros

__global__ void before(int n, const float *x, float *sum) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
    float total = 0.0f;
#pragma unroll 1
    for (int i = thread; i < n; i += threads) total += x[i];
    sum[thread] = total;
}

__global__ void after(int n, const float *x, float *sum) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
    float total[4] = {0.0f, 0.0f, 0.0f, 0.0f};
#pragma unroll 1
    for (int i = thread; i + 3 * threads < n; i += 4 * threads) {
        total[0] += x[i];
        total[1] += x[i + threads];
        total[2] += x[i + 2 * threads];
        total[3] += x[i + 3 * threads];
    }
    sum[thread] = total[0] + total[1] + total[2] + total[3];
}
