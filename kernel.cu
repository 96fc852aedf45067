// warpwatt: --kernel shared --grid 4096 --block 256 --arg n=1048576 --arg x=f32[n] --arg y=f32[n]
__global__ void shared(const float *x, float *y, int n) {
  int i = blockIdx.x * 256 + threadIdx.x;
  __shared__ float s[256]; s[threadIdx.x] = x[i]; __syncthreads(); float a = 0.f; for (int k = 0; k < 64; ++k) a += s[(threadIdx.x + k) % 256]; y[i] = a;
}
// warpwatt: --kernel one_address --grid 4096 --block 256 --arg n=1048576 --arg x=f32[n] --arg y=f32[n]
__global__ void one_address(const float *x, float *y, int n) {
  int i = blockIdx.x * 256 + threadIdx.x;
  atomicAdd(y, x[i]);
}