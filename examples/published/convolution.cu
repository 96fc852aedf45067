// Rows of a separable convolution: a halo of BLOCK_X numbers on both sides, STEPS numbers per thread.

constexpr int RADIUS = 8, BLOCK_X = 16, BLOCK_Y = 4, STEPS = 8;
__constant__ float kernel_weights[2 * RADIUS + 1];

extern "C" __global__ void convolve_rows(float *out, const float *in, int width) {
    __shared__ float row[BLOCK_Y][(STEPS + 2) * BLOCK_X];
    int x = (blockIdx.x * STEPS - 1) * BLOCK_X + threadIdx.x;
    int y = blockIdx.y * BLOCK_Y + threadIdx.y;
    const float *source = in + y * width + x;
#pragma unroll
    for (int i = 0; i < STEPS + 2; ++i) {
        bool inside = x + i * BLOCK_X >= 0 && x + i * BLOCK_X < width;
        row[threadIdx.y][threadIdx.x + i * BLOCK_X] = inside ? source[i * BLOCK_X] : 0.0f;
    }
    __syncthreads();
#pragma unroll
    for (int i = 1; i <= STEPS; ++i) {
        float sum = 0.0f;
#pragma unroll
        for (int j = -RADIUS; j <= RADIUS; ++j)
            sum += kernel_weights[RADIUS - j] * row[threadIdx.y][threadIdx.x + i * BLOCK_X + j];
        out[y * width + x + i * BLOCK_X] = sum;
    }
}
