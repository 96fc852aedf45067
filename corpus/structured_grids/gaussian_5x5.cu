// 5 x 5 Gaussian blur (binomial coefficients in constant memory), edges replicated, one thread per pixel.
// 25 loads per pixel hit in L1: bound by L1 throughput and instruction issue rather than by DRAM.
__constant__ float coefficient[25] = {
    1.0f / 256, 4.0f / 256,  6.0f / 256,  4.0f / 256,  1.0f / 256,
    4.0f / 256, 16.0f / 256, 24.0f / 256, 16.0f / 256, 4.0f / 256,
    6.0f / 256, 24.0f / 256, 36.0f / 256, 24.0f / 256, 6.0f / 256,
    4.0f / 256, 16.0f / 256, 24.0f / 256, 16.0f / 256, 4.0f / 256,
    1.0f / 256, 4.0f / 256,  6.0f / 256,  4.0f / 256,  1.0f / 256,
};

extern "C" __global__ void gaussian_5x5(int width, int height, const float *__restrict__ image,
                                        float *__restrict__ blurred)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    float sum = 0.0f;
#pragma unroll
    for (int dy = -2; dy <= 2; ++dy) {
        const float *row = image + min(max(y + dy, 0), height - 1) * width;
#pragma unroll
        for (int dx = -2; dx <= 2; ++dx)
            sum += coefficient[(dy + 2) * 5 + dx + 2] * row[min(max(x + dx, 0), width - 1)];
    }
    blurred[y * width + x] = sum;
}
