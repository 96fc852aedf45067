// Convolutions with small masks in one and two dimensions. As published, results are clamped to [0, 1] in
// double precision, which costs GeForce boards more than the convolution itself.
__constant__ float mask[121];

__device__ float clamped(float v) { return min(max((double)v, 0.0), 1.0); }

__global__ void conv1d(float *in, float *weights, float *out, int width, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 0;
  int first = i - width / 2;
  for (int j = 0; j < width; ++j)
    if (first + j >= 0 && first + j < n) sum += in[first + j] * weights[j];
  out[i] = clamped(sum);
}

__global__ void conv1d_constant(float *in, float *out, int width, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  int first = i - width / 2;
  for (int j = 0; j < width; ++j)
    if (first + j >= 0 && first + j < n) sum += in[first + j] * mask[j];
  out[i] = clamped(sum);
}

// The block's inputs and both halos in shared memory.
__global__ void conv1d_tiled(float *in, float *out, int width, int n) {
  extern __shared__ float tile[];
  int t = threadIdx.x, threads = blockDim.x, halo = width / 2;
  int i = blockIdx.x * threads + t;
  if (t >= threads - halo) tile[t - (threads - halo)] = i < threads ? 0 : in[i - threads];
  tile[halo + t] = in[i];
  if (t < halo) tile[halo + threads + t] = i + threads >= n ? 0 : in[i + threads];
  __syncthreads();
  float sum = 0;
  for (int j = 0; j < width; ++j) sum += tile[t + j] * mask[j];
  out[i] = clamped(sum);
}

// Only the block's inputs in shared memory; halos come from the caches.
__global__ void conv1d_tiled_cached(float *in, float *out, int width, int n) {
  extern __shared__ float tile[];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  tile[t] = in[i];
  __syncthreads();
  int begin = blockIdx.x * blockDim.x, end = (blockIdx.x + 1) * blockDim.x, first = i - width / 2;
  float sum = 0;
  for (int j = 0; j < width; ++j) {
    int at = first + j;
    if (at >= 0 && at < n) {
      if (at >= begin && at < end)
        sum += tile[t + j - width / 2] * mask[j];
      else
        sum += in[at] * mask[j];
    }
  }
  out[i] = clamped(sum);
}

__global__ void conv2d(float *in, float *weights, float *out, int high, int wide, int height, int width,
                       int channels) {
  int y = blockIdx.y * blockDim.y + threadIdx.y, x = blockIdx.x * blockDim.x + threadIdx.x;
  if (y >= height || x >= width) return;
  int top = y - high / 2, left = x - wide / 2;
  for (int c = 0; c < channels; ++c) {
    float sum = 0;
    for (int k = 0; k < high; ++k)
      for (int l = 0; l < wide; ++l)
        if (top + k >= 0 && top + k < height && left + l >= 0 && left + l < width)
          sum += in[((top + k) * width + left + l) * channels + c] * weights[k * wide + l];
    out[(y * width + x) * channels + c] = clamped(sum);
  }
}

__global__ void conv2d_constant(float *in, float *out, int high, int wide, int height, int width,
                                int channels) {
  int y = blockIdx.y * blockDim.y + threadIdx.y, x = blockIdx.x * blockDim.x + threadIdx.x;
  if (y >= height || x >= width) return;
  int top = y - high / 2, left = x - wide / 2;
  for (int c = 0; c < channels; ++c) {
    float sum = 0;
    for (int k = 0; k < high; ++k)
      for (int l = 0; l < wide; ++l)
        if (top + k >= 0 && top + k < height && left + l >= 0 && left + l < width)
          sum += in[((top + k) * width + left + l) * channels + c] * mask[k * wide + l];
    out[(y * width + x) * channels + c] = clamped(sum);
  }
}

// Blocks as large as the input tile: the threads of the halo only load.
__global__ void conv2d_tiled(float *in, float *out, int high, int wide, int height, int width, int channels) {
  extern __shared__ float tile[];
  int tx = threadIdx.x, ty = threadIdx.y, rows = blockDim.y - high + 1, cols = blockDim.x - wide + 1;
  int y = blockIdx.y * rows + ty, x = blockIdx.x * cols + tx;
  int from_y = y - high / 2, from_x = x - wide / 2;
  for (int c = 0; c < channels; ++c) {
    bool inside = from_y >= 0 && from_y < height && from_x >= 0 && from_x < width;
    tile[ty * blockDim.x + tx] = inside ? in[(from_y * width + from_x) * channels + c] : 0;
    __syncthreads();
    if (ty < rows && tx < cols && y < height && x < width) {
      float sum = 0;
      for (int k = 0; k < high; ++k)
        for (int l = 0; l < wide; ++l) sum += tile[(ty + k) * blockDim.x + tx + l] * mask[k * wide + l];
      out[(y * width + x) * channels + c] = clamped(sum);
    }
    __syncthreads();
  }
}
