// Divergence of a 3-D vector field by central differences (one-sided at the faces), one thread per point.
// Three arrays in, one out, little reuse: bound by memory bandwidth.
extern "C" __global__ void divergence_3d(int nx, int ny, int nz, float inverse_spacing,
                                         const float *__restrict__ u, const float *__restrict__ v,
                                         const float *__restrict__ w, float *__restrict__ divergence)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x >= nx || y >= ny || z >= nz)
        return;
    int plane = nx * ny;
    int i = z * plane + y * nx + x;
    int west = x > 0, east = x < nx - 1;
    int south = y > 0, north = y < ny - 1;
    int below = z > 0, above = z < nz - 1;
    float du = (u[i + east] - u[i - west]) / (float)(east + west);
    float dv = (v[i + north * nx] - v[i - south * nx]) / (float)(north + south);
    float dw = (w[i + above * plane] - w[i - below * plane]) / (float)(above + below);
    divergence[i] = inverse_spacing * (du + dv + dw);
}
