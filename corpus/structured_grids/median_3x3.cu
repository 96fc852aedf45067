// 3 x 3 median filter, edges replicated, one thread per pixel: sort the three columns, then take the median of
// (largest minimum, median of medians, smallest maximum). Minima and maxima only: memory, then issue bound.
__device__ __forceinline__ float median3(float a, float b, float c)
{
    return fmaxf(fminf(a, b), fminf(fmaxf(a, b), c));
}

extern "C" __global__ void median_3x3(int width, int height, const float *__restrict__ image,
                                      float *__restrict__ filtered)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    const float *above = image + max(y - 1, 0) * width;
    const float *here = image + y * width;
    const float *below = image + min(y + 1, height - 1) * width;

    float low[3], middle[3], high[3];
#pragma unroll
    for (int k = 0; k < 3; ++k) {
        int column = min(max(x + k - 1, 0), width - 1);
        float a = above[column], b = here[column], c = below[column];
        low[k] = fminf(fminf(a, b), c);
        middle[k] = median3(a, b, c);
        high[k] = fmaxf(fmaxf(a, b), c);
    }
    float largest_low = fmaxf(fmaxf(low[0], low[1]), low[2]);
    float smallest_high = fminf(fminf(high[0], high[1]), high[2]);
    filtered[y * width + x] = median3(largest_low, median3(middle[0], middle[1], middle[2]), smallest_high);
}
