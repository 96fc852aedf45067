// Sums per block, 32-bit integers, from the textbook's first version to its last.
typedef unsigned int u32;

__global__ void reduce_simple(u32 *x, u32 n, u32 *y) {
  extern __shared__ u32 part[];
  u32 t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  part[t] = i < n ? x[i] : 0;
  __syncthreads();
  for (u32 step = 1; step < blockDim.x; step *= 2) {
    if (t % (2 * step) == 0) part[t] += t + step < n ? part[t + step] : 0;
    __syncthreads();
  }
  if (t == 0) y[blockIdx.x] = part[0];
}

__global__ void reduce_adjacent(u32 *x, u32 n, u32 *y) {
  extern __shared__ u32 part[];
  u32 t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  part[t] = i < n ? x[i] : 0;
  __syncthreads();
  for (u32 step = 1; step < blockDim.x; step *= 2) {
    int at = 2 * step * t;
    if (at < blockDim.x) part[at] += at + step < n ? part[at + step] : 0;
    __syncthreads();
  }
  if (t == 0) y[blockIdx.x] = part[0];
}

__global__ void reduce_sequential(u32 *x, u32 n, u32 *y) {
  extern __shared__ u32 part[];
  u32 t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  part[t] = i < n ? x[i] : 0;
  __syncthreads();
  for (u32 step = blockDim.x / 2; step > 0; step /= 2) {
    if (t < step) part[t] += part[t + step];
    __syncthreads();
  }
  if (t == 0) y[blockIdx.x] = part[0];
}

__device__ void load_two(u32 *part, u32 *x, u32 n) {
  u32 t = threadIdx.x, i = blockIdx.x * blockDim.x * 2 + t;
  part[t] = i < n ? x[i] : 0;
  part[t] += i + blockDim.x < n ? x[i + blockDim.x] : 0;
}

__global__ void reduce_two_loads(u32 *x, u32 n, u32 *y) {
  extern __shared__ u32 part[];
  u32 t = threadIdx.x;
  load_two(part, x, n);
  __syncthreads();
  for (u32 step = blockDim.x / 2; step > 0; step /= 2) {
    if (t < step) part[t] += part[t + step];
    __syncthreads();
  }
  if (t == 0) y[blockIdx.x] = part[0];
}

__device__ void last_warp(volatile u32 *part, u32 t, u32 threads) {
  if (threads >= 64) part[t] += part[t + 32];
  if (threads >= 32) part[t] += part[t + 16];
  if (threads >= 16) part[t] += part[t + 8];
  if (threads >= 8) part[t] += part[t + 4];
  if (threads >= 4) part[t] += part[t + 2];
  if (threads >= 2) part[t] += part[t + 1];
}

__global__ void reduce_last_warp(u32 *x, u32 n, u32 *y) {
  extern __shared__ u32 part[];
  u32 t = threadIdx.x;
  load_two(part, x, n);
  for (u32 step = blockDim.x / 2; step > 32; step /= 2) {
    if (t < step) part[t] += part[t + step];
    __syncthreads();
  }
  if (t < 32) last_warp(part, t, blockDim.x);
  if (t == 0) y[blockIdx.x] = part[0];
}

__device__ void unrolled(u32 *part, u32 *y) {
  u32 t = threadIdx.x;
  __syncthreads();
  if (blockDim.x >= 512 && t < 256) part[t] += part[t + 256];
  __syncthreads();
  if (blockDim.x >= 256 && t < 128) part[t] += part[t + 128];
  __syncthreads();
  if (blockDim.x >= 128 && t < 64) part[t] += part[t + 64];
  __syncthreads();
  if (t < 32) last_warp(part, t, blockDim.x);
  if (t == 0) y[blockIdx.x] = part[0];
}

__global__ void reduce_unrolled(u32 *x, u32 n, u32 *y) {
  extern __shared__ u32 part[];
  load_two(part, x, n);
  unrolled(part, y);
}

__global__ void reduce_many_loads(u32 *x, u32 n, u32 *y) {
  extern __shared__ u32 part[];
  u32 t = threadIdx.x;
  part[t] = 0;
  for (u32 i = blockIdx.x * blockDim.x * 2 + t; i < n; i += gridDim.x * blockDim.x * 2) {
    part[t] += x[i];
    part[t] += i + blockDim.x < n ? x[i + blockDim.x] : 0;
  }
  unrolled(part, y);
}
