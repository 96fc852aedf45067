// One Jacobi step of the 3-D heat equation, seven points, one thread per point.
// The planes above and below must survive in L2 to be read once: bound by memory bandwidth.
extern "C" __global__ void stencil_3d_7pt(int nx, int ny, int nz, float alpha, const float *__restrict__ in,
                                          float *__restrict__ out)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x >= nx || y >= ny || z >= nz)
        return;
    int plane = nx * ny;
    int i = z * plane + y * nx + x;
    float centre = in[i];
    bool rim = x == 0 || y == 0 || z == 0 || x == nx - 1 || y == ny - 1 || z == nz - 1;
    if (!rim) {
        float neighbours = in[i - 1] + in[i + 1] + in[i - nx] + in[i + nx] + in[i - plane] + in[i + plane];
        centre += alpha * (neighbours - 6.0f * centre);
    }
    out[i] = centre;
}
