// A polynomial. Before: literals without f make the arithmetic double. After: single precision throughout.
//
// warpwatt: --kernel before --grid 8192 --block 256 --arg x=f32[2097152]
// warpwatt: --kernel after --grid 8192 --block 256 --arg x=f32[2097152]

__global__ void before(float *x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = x[i];
    for (int k = 0; k < 16; ++k) v = v * 0.7 + 0.1;
    x[i] = v;
}

__global__ void after(float *x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = x[i];
    for (int k = 0; k < 16; ++k) v = v * 0.7f + 0.1f;
    x[i] = v;
}
