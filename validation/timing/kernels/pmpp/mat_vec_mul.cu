// Matrix times vector, 32-bit integers, one thread per row.
typedef unsigned int u32;

__global__ void mat_vec(u32 *y, u32 *a, u32 *x, int rows, int cols) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  u32 sum = 0;
  for (int k = 0; k < cols; ++k) sum += a[row * cols + k] * x[k];
  y[row] = sum;
}

// The vector is staged block by block in shared memory.
__global__ void mat_vec_shared(u32 *y, u32 *a, u32 *x, int rows, int cols) {
  extern __shared__ u32 piece[];
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  int pieces = (cols + blockDim.x - 1) / blockDim.x;
  u32 sum = 0;
  for (int p = 0; p < pieces; ++p) {
    int k0 = p * blockDim.x, own = k0 + threadIdx.x;
    piece[threadIdx.x] = own < cols ? x[own] : 0;
    __syncthreads();
    if (row < rows)
      for (int k = 0; k < blockDim.x && k0 + k < cols; ++k) sum += a[row * cols + k0 + k] * piece[k];
    __syncthreads();
  }
  y[row] = sum;
}
