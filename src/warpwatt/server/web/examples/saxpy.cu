// y = a · x + y: one multiply-add per twelve bytes, so memory decides.
//
// warpwatt: --grid 65536 --block 256 --arg n=16777216 --arg a=2.5 --arg x=f32[n] --arg y=f32[n]

__global__ void saxpy(int n, float a, const float *x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}
