// One Jacobi step of the 2-D heat equation, five points: each block stages its tile and a
// one-point halo in shared memory. Bound by memory bandwidth, with shared memory traffic close behind.
#define TILE_X 32
#define TILE_Y 8

extern "C" __global__ void stencil_2d_5pt_shared(int width, int height, float alpha, const float *__restrict__ in,
                                                 float *__restrict__ out)
{
    __shared__ float tile[TILE_Y + 2][TILE_X + 2];
    int left = blockIdx.x * TILE_X - 1;
    int top = blockIdx.y * TILE_Y - 1;

    for (int row = threadIdx.y; row < TILE_Y + 2; row += TILE_Y) {
        for (int column = threadIdx.x; column < TILE_X + 2; column += TILE_X) {
            int x = left + column;
            int y = top + row;
            bool inside = x >= 0 && x < width && y >= 0 && y < height;
            tile[row][column] = inside ? in[y * width + x] : 0.0f;
        }
    }
    __syncthreads();

    int x = blockIdx.x * TILE_X + threadIdx.x;
    int y = blockIdx.y * TILE_Y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    int column = threadIdx.x + 1;
    int row = threadIdx.y + 1;
    float centre = tile[row][column];
    if (x > 0 && y > 0 && x < width - 1 && y < height - 1) {
        float neighbours = tile[row - 1][column] + tile[row][column - 1] + tile[row][column + 1] +
                           tile[row + 1][column];
        centre += alpha * (neighbours - 4.0f * centre);
    }
    out[y * width + x] = centre;
}
