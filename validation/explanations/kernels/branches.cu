// Two recurrences, one for even and one for odd elements. Before: neighbouring threads take different ones.
// After: the first half of a block takes the even elements, the second half the odd ones.
//
// warpwatt: --kernel before --grid 4096 --block 256 --arg times=100 --arg x=f32[1048576]
// warpwatt: --kernel after --grid 4096 --block 256 --arg times=100 --arg x=f32[1048576]

__device__ float even(int times, float value) {
    for (int k = 0; k < times; ++k) value = value * 0.75f + 0.5f;
    return value;
}

__device__ float odd(int times, float value) {
    for (int k = 0; k < times; ++k) value = (value + 0.25f) * (1.0f - value);
    return value;
}

__global__ void before(int times, float *x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i % 2 == 0)
        x[i] = even(times, x[i]);
    else
        x[i] = odd(times, x[i]);
}

__global__ void after(int times, float *x) {
    int half = blockDim.x / 2;
    int first = blockIdx.x * blockDim.x;
    if (threadIdx.x < half) {
        int i = first + 2 * threadIdx.x;
        x[i] = even(times, x[i]);
    } else {
        int i = first + 2 * (threadIdx.x - half) + 1;
        x[i] = odd(times, x[i]);
    }
}
