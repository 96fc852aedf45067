// Weighted sum of three interleaved bytes per pixel.
__global__ void grayscale(const unsigned char *rgb, unsigned char *gray, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  int i = y * width + x;
  unsigned char r = rgb[3 * i], g = rgb[3 * i + 1], b = rgb[3 * i + 2];
  gray[i] = (unsigned char)(0.21f * r + 0.71f * g + 0.07f * b);
}
