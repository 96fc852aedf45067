// Sixty running sums per thread. Before: held to 40 registers so that six blocks fit. After: as many as it needs.
//
// warpwatt: --kernel before --grid 864 --block 256 --arg times=64 --arg x=f32[221184] --arg out=f32[221184]:zeros
// warpwatt: --kernel after --grid 864 --block 256 --arg times=64 --arg x=f32[221184] --arg out=f32[221184]:zeros

constexpr int SUMS = 60;

__device__ void sums(int times, const float *x, float *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float value = x[i], sum[SUMS];
    for (int s = 0; s < SUMS; ++s) sum[s] = value + s;
#pragma unroll 1
    for (int k = 0; k < times; ++k)
#pragma unroll
        for (int s = 0; s < SUMS; ++s) sum[s] = sum[s] * sum[(s + 1) % SUMS] + value;
    float total = 0.0f;
    for (int s = 0; s < SUMS; ++s) total += sum[s];
    out[i] = total;
}

__global__ void __launch_bounds__(256, 6) before(int times, const float *x, float *out) { sums(times, x, out); }

__global__ void __launch_bounds__(256) after(int times, const float *x, float *out) { sums(times, x, out); }
