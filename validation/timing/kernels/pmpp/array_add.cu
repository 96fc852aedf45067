// Sum of two square matrices; neighbouring threads on neighbouring columns, or on neighbouring rows.
__global__ void add_coalesced(const float *a, const float *b, float *c, int n) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < n && y < n) c[y * n + x] = a[y * n + x] + b[y * n + x];
}

__global__ void add_not_coalesced(const float *a, const float *b, float *c, int n) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < n && y < n) c[x * n + y] = a[x * n + y] + b[x * n + y];
}
