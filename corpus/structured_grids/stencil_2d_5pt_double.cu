// One relaxation step of the 2-D Poisson equation in double precision, five points, one thread per point.
// Twice the bytes of the single-precision stencil: bound by memory bandwidth, by FP64 units on consumer GPUs.
extern "C" __global__ void stencil_2d_5pt_double(int width, int height, double spacing, double relaxation,
                                                 const double *__restrict__ source, const double *__restrict__ in,
                                                 double *__restrict__ out)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    int i = y * width + x;
    double centre = in[i];
    if (x > 0 && y > 0 && x < width - 1 && y < height - 1) {
        double neighbours = in[i - width] + in[i - 1] + in[i + 1] + in[i + width];
        double solved = 0.25 * (neighbours - spacing * spacing * source[i]);
        centre += relaxation * (solved - centre);
    }
    out[i] = centre;
}
