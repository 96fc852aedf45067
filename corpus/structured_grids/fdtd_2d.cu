// One time step of Maxwell's equations on a staggered 2-D grid (TM mode): the first kernel advances the magnetic
// field, the second the electric one through a material. One thread per cell; bound by memory bandwidth.
extern "C" __global__ void fdtd_update_h(int width, int height, float courant, const float *__restrict__ ez,
                                         float *__restrict__ hx, float *__restrict__ hy)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    int i = y * width + x;
    float here = ez[i];
    if (y < height - 1)
        hx[i] -= courant * (ez[i + width] - here);
    if (x < width - 1)
        hy[i] += courant * (ez[i + 1] - here);
}

extern "C" __global__ void fdtd_update_e(int width, int height, float courant, const float *__restrict__ material,
                                         const float *__restrict__ hx, const float *__restrict__ hy,
                                         float *__restrict__ ez)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= width - 1 || y >= height - 1)
        return; // a perfect conductor surrounds the grid
    int i = y * width + x;
    ez[i] += courant * material[i] * ((hy[i] - hy[i - 1]) - (hx[i] - hx[i - width]));
}
