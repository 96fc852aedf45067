// Bilateral filter, radius 4: each pixel becomes an average of 81 neighbours weighted by distance and by
// similarity, one thread per pixel. One exponential per neighbour: bound by the special function units and issue.
#define RADIUS 4

extern "C" __global__ void bilateral_filter(int width, int height, float distance_falloff, float range_falloff,
                                            const float *__restrict__ image, float *__restrict__ filtered)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    float centre = image[y * width + x];
    float sum = 0.0f;
    float total = 0.0f;
    for (int dy = -RADIUS; dy <= RADIUS; ++dy) {
        const float *row = image + min(max(y + dy, 0), height - 1) * width;
        for (int dx = -RADIUS; dx <= RADIUS; ++dx) {
            float value = row[min(max(x + dx, 0), width - 1)];
            float difference = value - centre;
            float squared = (float)(dx * dx + dy * dy);
            float w = __expf(-distance_falloff * squared - range_falloff * difference * difference);
            sum += w * value;
            total += w;
        }
    }
    filtered[y * width + x] = sum / total;
}
