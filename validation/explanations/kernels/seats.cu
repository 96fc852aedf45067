// A chain of dependent arithmetic on values kept in shared memory. Before: 48 KiB per block. After: 24 KiB.
//
// warpwatt: --kernel before --grid 4096 --block 128 --arg times=256 --arg x=f32[524288]
// warpwatt: --kernel after --grid 4096 --block 128 --arg times=256 --arg x=f32[524288]

template <int SIZE>
__device__ void chain(int times, float *x) {
    __shared__ float kept[SIZE];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    kept[threadIdx.x] = x[i];
    __syncthreads();
    float value = kept[(threadIdx.x * 7) % 128];
#pragma unroll 1
    for (int k = 0; k < times; ++k) value = value * kept[(threadIdx.x + k) % 128] + 0.5f;
    if (times < 0) kept[SIZE - 1] = value;
    x[i] = value;
}

__global__ void before(int times, float *x) { chain<12288>(times, x); }

__global__ void after(int times, float *x) { chain<6144>(times, x); }
