// One D2Q9 lattice Boltzmann step (pull streaming, then BGK collision) on a periodic grid, one thread per cell,
// one array per direction so that loads coalesce. Bound by memory bandwidth: nine floats in, nine out.
__constant__ int shift_x[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1};
__constant__ int shift_y[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
__constant__ float weight[9] = {4.0f / 9,  1.0f / 9,  1.0f / 9,  1.0f / 9, 1.0f / 9,
                                1.0f / 36, 1.0f / 36, 1.0f / 36, 1.0f / 36};

extern "C" __global__ void lattice_boltzmann_d2q9(int width, int height, float omega, const float *__restrict__ in,
                                                  float *__restrict__ out)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    int cells = width * height;
    float f[9];
    float density = 0.0f, flow_x = 0.0f, flow_y = 0.0f;

#pragma unroll
    for (int d = 0; d < 9; ++d) {
        int from_x = x - shift_x[d];
        int from_y = y - shift_y[d];
        from_x += from_x < 0 ? width : from_x >= width ? -width : 0;
        from_y += from_y < 0 ? height : from_y >= height ? -height : 0;
        f[d] = in[d * cells + from_y * width + from_x];
        density += f[d];
        flow_x += shift_x[d] * f[d];
        flow_y += shift_y[d] * f[d];
    }

    float inverse = 1.0f / density;
    float ux = flow_x * inverse;
    float uy = flow_y * inverse;
    float square = 1.5f * (ux * ux + uy * uy);
#pragma unroll
    for (int d = 0; d < 9; ++d) {
        float along = 3.0f * (shift_x[d] * ux + shift_y[d] * uy);
        float equilibrium = weight[d] * density * (1.0f + along + 0.5f * along * along - square);
        out[d * cells + y * width + x] = f[d] + omega * (equilibrium - f[d]);
    }
}
