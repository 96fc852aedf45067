// Smith-Waterman on a batch of sequence pairs, one launch per anti-diagonal, one thread per cell of it; three
// diagonals roll through memory. Streams five arrays, with few instructions per byte: bound by memory.
extern "C" __global__ void smith_waterman_diagonal(int length, int diagonal, int match, int mismatch, int gap,
                                                   const unsigned char *__restrict__ a,
                                                   const unsigned char *__restrict__ b,
                                                   const int *__restrict__ before,
                                                   const int *__restrict__ previous, int *__restrict__ current,
                                                   int *__restrict__ best)
{
    int first = max(diagonal - length + 1, 0);
    int i = first + blockIdx.x * blockDim.x + threadIdx.x;
    int j = diagonal - i;
    int pair = blockIdx.y;
    if (i >= length || j < 0)
        return;
    // Row i of a diagonal is stored at i + 1; place 0 stands for the zeros above the matrix.
    int row = pair * (length + 1) + i + 1;
    bool same = (a[pair * length + i] & 3) == (b[pair * length + j] & 3);
    int above = previous[row - 1];
    int beside = j > 0 ? previous[row] : 0;
    int across = j > 0 ? before[row - 1] : 0;
    int score = max(max(across + (same ? match : mismatch), max(above, beside) + gap), 0);
    current[row] = score;
    if (score > best[pair])
        atomicMax(&best[pair], score);
}
