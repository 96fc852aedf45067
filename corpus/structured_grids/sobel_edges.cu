// Sobel edge strength of an 8-bit image (sum of absolute gradients, saturated), one thread per pixel.
// Single-byte accesses move few bytes per instruction: bound by L1 and instruction issue before DRAM.
extern "C" __global__ void sobel_edges(int width, int height, const unsigned char *__restrict__ image,
                                       unsigned char *__restrict__ edges)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    int strength = 0;
    if (x > 0 && y > 0 && x < width - 1 && y < height - 1) {
        const unsigned char *here = image + y * width + x;
        const unsigned char *above = here - width;
        const unsigned char *below = here + width;
        int gx = above[1] + 2 * here[1] + below[1] - above[-1] - 2 * here[-1] - below[-1];
        int gy = below[-1] + 2 * below[0] + below[1] - above[-1] - 2 * above[0] - above[1];
        strength = min(abs(gx) + abs(gy), 255);
    }
    edges[y * width + x] = strength;
}
