// One Jacobi step of the 3-D heat equation: each block owns a column of the grid and marches through z,
// keeping three planes in registers and the middle one in shared memory. Bound by memory bandwidth.
#define TILE_X 32
#define TILE_Y 8

extern "C" __global__ void stencil_3d_7pt_queue(int nx, int ny, int nz, int planes, float alpha,
                                                const float *__restrict__ in, float *__restrict__ out)
{
    __shared__ float tile[TILE_Y + 2][TILE_X + 2];
    int x = blockIdx.x * TILE_X + threadIdx.x;
    int y = blockIdx.y * TILE_Y + threadIdx.y;
    int first = blockIdx.z * planes;
    int last = min(first + planes, nz);
    int column = threadIdx.x + 1;
    int row = threadIdx.y + 1;
    bool inside = x < nx && y < ny;
    bool rim = x == 0 || y == 0 || x == nx - 1 || y == ny - 1;
    int plane = nx * ny;
    int i = first * plane + y * nx + x;

    float behind = inside && first > 0 ? in[i - plane] : 0.0f;
    float current = inside ? in[i] : 0.0f;
    for (int z = first; z < last; ++z, i += plane) {
        float ahead = inside && z + 1 < nz ? in[i + plane] : 0.0f;

        tile[row][column] = current;
        if (threadIdx.y == 0 && inside && y > 0)
            tile[0][column] = in[i - nx];
        if (threadIdx.y == TILE_Y - 1 && inside && y + 1 < ny)
            tile[TILE_Y + 1][column] = in[i + nx];
        if (threadIdx.x == 0 && inside && x > 0)
            tile[row][0] = in[i - 1];
        if (threadIdx.x == TILE_X - 1 && inside && x + 1 < nx)
            tile[row][TILE_X + 1] = in[i + 1];
        __syncthreads();

        if (inside) {
            float value = current;
            if (!rim && z > 0 && z < nz - 1) {
                float neighbours = tile[row][column - 1] + tile[row][column + 1] + tile[row - 1][column] +
                                   tile[row + 1][column] + behind + ahead;
                value += alpha * (neighbours - 6.0f * current);
            }
            out[i] = value;
        }
        __syncthreads();
        behind = current;
        current = ahead;
    }
}
