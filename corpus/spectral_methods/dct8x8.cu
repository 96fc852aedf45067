// Discrete cosine transform of every 8 x 8 block of an image: rows, then columns, through shared memory; one
// thread a pixel, the basis in constant memory. Limited by shared memory and divergent constant reads.
__constant__ float basis[64];

extern "C" __global__ void dct8x8(int width, const float *__restrict__ image, float *__restrict__ out)
{
    __shared__ float pixels[16][17], rows[16][17];
    const int x = threadIdx.x, y = threadIdx.y, u = x % 8, v = y % 8;
    const int at = (blockIdx.y * 16 + y) * width + blockIdx.x * 16 + x;
    pixels[y][x] = image[at];
    __syncthreads();
    float sum = 0.0f;
    for (int k = 0; k < 8; ++k)
        sum += basis[u * 8 + k] * pixels[y][x - u + k];
    rows[y][x] = sum;
    __syncthreads();
    sum = 0.0f;
    for (int k = 0; k < 8; ++k)
        sum += basis[v * 8 + k] * rows[y - v + k][x];
    out[at] = sum;
}
