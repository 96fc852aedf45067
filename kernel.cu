// warpwatt: --kernel copy --grid 4096 --block 256 --arg n=1048576 --arg x=f32[n] --arg y=f32[n]
__global__ void copy(const float *x, float *y, int n) {
  int i = blockIdx.x * 256 + threadIdx.x;
  y[i] = x[i];
}
// warpwatt: --kernel strided --grid 4096 --block 256 --arg n=1048576 --arg x=f32[n] --arg y=f32[n]
__global__ void strided(const float *x, float *y, int n) {
  int i = blockIdx.x * 256 + threadIdx.x;
  y[i] = x[(i * 32) % n];
}
// warpwatt: --kernel polynomial --grid 4096 --block 256 --arg n=1048576 --arg x=f32[n] --arg y=f32[n]
__global__ void polynomial(const float *x, float *y, int n) {
  int i = blockIdx.x * 256 + threadIdx.x;
  float a = x[i]; for (int k = 0; k < 64; ++k) a = a * a + 0.5f; y[i] = a;
}
// warpwatt: --kernel exponential --grid 4096 --block 256 --arg n=1048576 --arg x=f32[n] --arg y=f32[n]
__global__ void exponential(const float *x, float *y, int n) {
  int i = blockIdx.x * 256 + threadIdx.x;
  float a = x[i]; for (int k = 0; k < 16; ++k) a = __expf(a); y[i] = a;
}
// warpwatt: --kernel doubles --grid 4096 --block 256 --arg n=1048576 --arg x=f32[n] --arg y=f32[n]
__global__ void doubles(const float *x, float *y, int n) {
  int i = blockIdx.x * 256 + threadIdx.x;
  double a = x[i]; for (int k = 0; k < 16; ++k) a = a * a + 0.5; y[i] = (float)a;
}
// warpwatt: --kernel integers --grid 4096 --block 256 --arg n=1048576 --arg x=f32[n] --arg y=f32[n]
__global__ void integers(const float *x, float *y, int n) {
  int i = blockIdx.x * 256 + threadIdx.x;
  unsigned a = i; for (int k = 0; k < 64; ++k) a = a * 1664525u + 1013904223u; y[i] = a;
}
// warpwatt: --kernel shared --grid 4096 --block 256 --arg n=1048576 --arg x=f32[n] --arg y=f32[n]
__global__ void shared(const float *x, float *y, int n) {
  int i = blockIdx.x * 256 + threadIdx.x;
  __shared__ float s[256]; s[threadIdx.x] = x[i]; __syncthreads(); float a = 0.f; for (int k = 0; k < 64; ++k) a += s[(threadIdx.x + k) % 256]; y[i] = a;
}
// warpwatt: --kernel conflicts --grid 4096 --block 256 --arg n=1048576 --arg x=f32[n] --arg y=f32[n]
__global__ void conflicts(const float *x, float *y, int n) {
  int i = blockIdx.x * 256 + threadIdx.x;
  __shared__ float s[8192]; s[threadIdx.x * 32] = x[i]; __syncthreads(); y[i] = s[(threadIdx.x ^ 1) * 32];
}
// warpwatt: --kernel one_address --grid 4096 --block 256 --arg n=1048576 --arg x=f32[n] --arg y=f32[n]
__global__ void one_address(const float *x, float *y, int n) {
  int i = blockIdx.x * 256 + threadIdx.x;
  atomicAdd(y, x[i]);
}
// warpwatt: --kernel divergent --grid 4096 --block 256 --arg n=1048576 --arg x=f32[n] --arg y=f32[n]
__global__ void divergent(const float *x, float *y, int n) {
  int i = blockIdx.x * 256 + threadIdx.x;
  float a = x[i]; if (threadIdx.x % 2) for (int k = 0; k < 64; ++k) a = sqrtf(a); y[i] = a;
}