// Sum of an array: a grid-stride loop, a shuffle tree, one atomic per block.
//
// warpwatt: --grid 1056 --block 256 --arg n=67108864 --arg x=f32[n] --arg sum=f32[1]:zeros

__global__ void reduce(int n, const float *x, float *sum) {
    __shared__ float partial[32];
    float value = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        value += x[i];
    }
    for (int offset = 16; offset > 0; offset /= 2) {
        value += __shfl_down_sync(0xffffffffu, value, offset);
    }
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = value;
    __syncthreads();
    if (threadIdx.x < 32) {
        value = threadIdx.x < blockDim.x / 32 ? partial[threadIdx.x] : 0.0f;
        for (int offset = 16; offset > 0; offset /= 2) {
            value += __shfl_down_sync(0xffffffffu, value, offset);
        }
        if (threadIdx.x == 0) atomicAdd(sum, value);
    }
}
