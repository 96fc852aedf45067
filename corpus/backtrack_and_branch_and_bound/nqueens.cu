// Counts solutions of the n-queens problem: a thread places three queens by its number and backtracks over the other
// rows with bit masks, its stack in local memory. Limited by divergence and local-memory latency.
extern "C" __global__ void nqueens(int n, unsigned long long *solutions)
{
    unsigned columns[20], left[20], right[20], open[20];
    const unsigned all = (1u << n) - 1;
    unsigned number = blockIdx.x * blockDim.x + threadIdx.x, count = 0;
    columns[0] = left[0] = right[0] = 0;
    bool possible = number < unsigned(n * n * n);
    for (int row = 0; row < 3; ++row) {
        unsigned queen = 1u << number % n;
        possible = possible && !(queen & (columns[0] | left[0] | right[0]));
        columns[0] |= queen;
        left[0] = (left[0] | queen) << 1;
        right[0] = (right[0] | queen) >> 1;
        number /= n;
    }
    open[0] = possible ? all & ~(columns[0] | left[0] | right[0]) : 0;
    for (int depth = 0; depth >= 0;) {
        if (open[depth] == 0) {
            --depth;
            continue;
        }
        unsigned queen = open[depth] & (0u - open[depth]);
        open[depth] ^= queen;
        if (depth == n - 4) {
            ++count;
            continue;
        }
        columns[depth + 1] = columns[depth] | queen;
        left[depth + 1] = (left[depth] | queen) << 1;
        right[depth + 1] = (right[depth] | queen) >> 1;
        ++depth;
        open[depth] = all & ~(columns[depth] | left[depth] | right[depth]);
    }
    if (count > 0)
        atomicAdd(solutions, (unsigned long long)count);
}
