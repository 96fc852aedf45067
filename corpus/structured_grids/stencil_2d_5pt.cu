// One Jacobi step of the 2-D heat equation, five points, one thread per point, no shared memory.
// Neighbours hit in L1 and L2, each point comes from DRAM once: bound by memory bandwidth.
extern "C" __global__ void stencil_2d_5pt(int width, int height, float alpha, const float *__restrict__ in,
                                          float *__restrict__ out)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    int i = y * width + x;
    float centre = in[i];
    if (x == 0 || y == 0 || x == width - 1 || y == height - 1)
        out[i] = centre;
    else
        out[i] = centre + alpha * (in[i - width] + in[i - 1] + in[i + 1] + in[i + width] - 4.0f * centre);
}
