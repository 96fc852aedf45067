// Two steps of a chip's heat balance in one launch: a block loads its tile with a two-cell halo into shared
// memory, computes the first step on tile plus one cell, then the second on the tile.
// Half the DRAM traffic per step, paid with redundant cells and barriers: memory and shared memory.
#define TILE 32
#define ROWS 8 // threads per block: TILE x ROWS
#define HALO 2
#define SPAN (TILE + 2 * HALO)

struct Coefficients {
    float conduct_x, conduct_y, loss, ambient, heating;
};

__device__ __forceinline__ float balance(Coefficients c, float here, float west, float east, float north,
                                         float south, float power)
{
    return here + c.heating * power + c.conduct_x * (west + east - 2.0f * here) +
           c.conduct_y * (north + south - 2.0f * here) + c.loss * (c.ambient - here);
}

extern "C" __global__ void thermal_two_steps(int width, int height, float conduct_x, float conduct_y, float loss,
                                             float ambient, float heating, const float *__restrict__ temperature,
                                             const float *__restrict__ power, float *__restrict__ result)
{
    __shared__ float before[SPAN][SPAN];
    __shared__ float middle[SPAN][SPAN];
    Coefficients c = {conduct_x, conduct_y, loss, ambient, heating};
    int left = blockIdx.x * TILE - HALO;
    int top = blockIdx.y * TILE - HALO;

    for (int row = threadIdx.y; row < SPAN; row += ROWS)
        for (int column = threadIdx.x; column < SPAN; column += TILE) {
            int x = min(max(left + column, 0), width - 1);
            int y = min(max(top + row, 0), height - 1);
            before[row][column] = temperature[y * width + x];
        }
    __syncthreads();

    for (int row = threadIdx.y + 1; row < SPAN - 1; row += ROWS)
        for (int column = threadIdx.x + 1; column < SPAN - 1; column += TILE) {
            int x = left + column;
            int y = top + row;
            if (x >= 0 && x < width && y >= 0 && y < height)
                middle[row][column] =
                    balance(c, before[row][column], before[row][column - 1], before[row][column + 1],
                            before[row - 1][column], before[row + 1][column], power[y * width + x]);
        }
    __syncthreads();

    for (int row = threadIdx.y + HALO; row < TILE + HALO; row += ROWS) {
        int column = threadIdx.x + HALO;
        int x = left + column;
        int y = top + row;
        if (x >= width || y >= height)
            continue;
        int west = x > 0 ? column - 1 : column; // insulated edges: a cell outside is as warm as its neighbour
        int east = x < width - 1 ? column + 1 : column;
        int north = y > 0 ? row - 1 : row;
        int south = y < height - 1 ? row + 1 : row;
        result[y * width + x] = balance(c, middle[row][column], middle[row][west], middle[row][east],
                                        middle[north][column], middle[south][column], power[y * width + x]);
    }
}
