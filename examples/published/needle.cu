// Needleman-Wunsch: one anti-diagonal of tiles of the score matrix, 16 threads per tile.

constexpr int TILE = 16;

extern "C" __global__ void needle_tile(const int *similarity, int *score, int columns, int penalty, int diagonal) {
    __shared__ int known[TILE + 1][TILE + 1];
    __shared__ int similar[TILE][TILE];
    int t = threadIdx.x;
    int corner = columns * TILE * (diagonal - 1 - blockIdx.x) + TILE * blockIdx.x;
    for (int row = 0; row < TILE; ++row)
        similar[row][t] = similarity[corner + (row + 1) * columns + t + 1];
    known[t + 1][0] = score[corner + (t + 1) * columns];
    known[0][t + 1] = score[corner + t + 1];
    if (t == 0) known[0][0] = score[corner];
    __syncthreads();
    for (int wave = 0; wave < 2 * TILE - 1; ++wave) {
        int x = t + 1, y = wave - t + 1;
        if (y >= 1 && y <= TILE) {
            int match = known[y - 1][x - 1] + similar[y - 1][x - 1];
            known[y][x] = max(match, max(known[y][x - 1], known[y - 1][x]) - penalty);
        }
        __syncthreads();
    }
    for (int row = 0; row < TILE; ++row) score[corner + (row + 1) * columns + t + 1] = known[row + 1][t + 1];
}
