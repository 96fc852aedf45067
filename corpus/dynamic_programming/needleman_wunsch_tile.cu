// Needleman-Wunsch scores of 64 x 64 tiles (one anti-diagonal of tiles of a long alignment), one block per tile:
// 127 anti-diagonals in shared memory, then only the tile's lower and right rim is stored.
// A barrier per anti-diagonal with half the threads idle on average: bound by latency and barriers.
#define TILE 64

extern "C" __global__ void needleman_wunsch_tile(int tiles, int match, int mismatch, int gap,
                                                 const unsigned char *__restrict__ a,
                                                 const unsigned char *__restrict__ b, const int *__restrict__ top,
                                                 const int *__restrict__ left, int *__restrict__ bottom,
                                                 int *__restrict__ right)
{
    __shared__ int score[TILE + 1][TILE + 2]; // the padding keeps an anti-diagonal free of bank conflicts
    __shared__ unsigned char columns[TILE];
    int tile = blockIdx.x;
    int row = threadIdx.x;
    // Tile t covers strip t of sequence a and strip tiles - 1 - t of sequence b.
    unsigned char base = a[tile * TILE + row] & 3;
    columns[row] = b[(tiles - 1 - tile) * TILE + row] & 3;
    score[0][row + 1] = top[tile * (TILE + 1) + row + 1];
    score[row + 1][0] = left[tile * TILE + row];
    if (row == 0)
        score[0][0] = top[tile * (TILE + 1)];
    __syncthreads();

    for (int diagonal = 0; diagonal < 2 * TILE - 1; ++diagonal) {
        int column = diagonal - row;
        if (column >= 0 && column < TILE) {
            int aligned = score[row][column] + (base == columns[column] ? match : mismatch);
            int skipped = max(score[row][column + 1], score[row + 1][column]) + gap;
            score[row + 1][column + 1] = max(aligned, skipped);
        }
        __syncthreads();
    }
    bottom[tile * TILE + row] = score[TILE][row + 1];
    right[tile * TILE + row] = score[row + 1][TILE];
}
