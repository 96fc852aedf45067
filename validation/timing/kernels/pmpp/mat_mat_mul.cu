// Matrix product, 32-bit integers: one element per thread, square tiles, and tiles two blocks wide.
typedef unsigned int u32;

__global__ void mat_mul(u32 *a, u32 *b, u32 *c, int rows, int inner, int cols) {
  int y = blockIdx.y * blockDim.y + threadIdx.y, x = blockIdx.x * blockDim.x + threadIdx.x;
  if (y >= rows || x >= cols) return;
  u32 sum = 0;
  for (int k = 0; k < inner; ++k) sum += a[y * inner + k] * b[k * cols + x];
  c[y * cols + x] = sum;
}

// The tile's width is the block's, known at run time only.
__global__ void mat_mul_tiles(u32 *a, u32 *b, u32 *c, int rows, int inner, int cols) {
  extern __shared__ u32 tiles[];
  int width = blockDim.x, tx = threadIdx.x, ty = threadIdx.y;
  u32 *ta = tiles, *tb = tiles + width * width;
  int y = blockIdx.y * width + ty, x = blockIdx.x * width + tx;
  u32 sum = 0;
  for (int p = 0; p < (inner + width - 1) / width; ++p) {
    int ka = p * width + tx, kb = p * width + ty;
    ta[ty * width + tx] = y < rows && ka < inner ? a[y * inner + ka] : 0;
    tb[ty * width + tx] = kb < inner && x < cols ? b[kb * cols + x] : 0;
    __syncthreads();
    for (int k = 0; k < width; ++k) sum += ta[ty * width + k] * tb[k * width + tx];
    __syncthreads();
  }
  if (y < rows && x < cols) c[y * cols + x] = sum;
}

// As published: the two tiles of b overlap in shared memory, and the grid has four times the blocks the
// result needs, so that most of them stay outside of it.
__global__ void mat_mul_wide_tiles(u32 *a, u32 *b, u32 *c, int rows, int inner, int cols) {
  extern __shared__ u32 tiles[];
  int width = blockDim.x, tx = threadIdx.x, ty = threadIdx.y;
  u32 *ta = tiles, *tb = tiles + width * width;
  int y = blockIdx.y * width + ty, x = blockIdx.x * width * 2 + tx;
  u32 left = 0, right = 0;
  for (int p = 0; p < (inner + width - 1) / width; ++p) {
    int ka = p * width + tx, kb = p * width + ty;
    ta[ty * width + tx] = y < rows && ka < inner ? a[y * inner + ka] : 0;
    tb[ty * width + tx] = kb < inner && x < cols ? b[kb * cols + x] : 0;
    tb[ty * width + width + tx] = kb < inner && x + width < cols ? b[kb * cols + x + width] : 0;
    __syncthreads();
    for (int k = 0; k < width; k++) {
      left += ta[ty * width + k] * tb[k * width + tx];
      right += ta[ty * width + k] * tb[k * width + width + tx];
    }
    __syncthreads();
  }
  if (y < rows && x < cols) c[y * cols + x] = left;
  if (y < rows && x + width < cols) c[y * cols + x + width] = right;
}
