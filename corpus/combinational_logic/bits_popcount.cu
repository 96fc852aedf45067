// Hamming distances between all rows of two bit matrices, by tiles of 16 rows and 16 words in shared memory.
// Limited by population counts and shared memory.
extern "C" __global__ void __launch_bounds__(256)
bits_popcount(int n, int words, const unsigned *__restrict__ a, const unsigned *__restrict__ b,
              int *__restrict__ distance)
{
    __shared__ unsigned tile_a[16][17], tile_b[16][17];
    const int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 16 + y;
    int sum = 0;
    for (int start = 0; start < words; start += 16) {
        tile_a[y][x] = a[row * words + start + x];
        tile_b[y][x] = b[(blockIdx.x * 16 + y) * words + start + x];
        __syncthreads();
        for (int k = 0; k < 16; ++k)
            sum += __popc(tile_a[y][k] ^ tile_b[x][k]);
        __syncthreads();
    }
    distance[row * n + blockIdx.x * 16 + x] = sum;
}
