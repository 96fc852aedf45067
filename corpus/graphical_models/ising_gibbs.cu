// One Gibbs sweep of the 2-D Ising model on a torus, first the black cells, then the white: one thread per cell of
// a colour, random numbers by hashing (seed, sweep, cell). Bound by integer hashing and by byte-sized accesses.
__device__ __forceinline__ unsigned int hash(unsigned int x)
{
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    x ^= x >> 16;
    return x;
}

// threshold[k]: 2**32 times the probability of spin up when k of the four neighbours are up.
extern "C" __global__ void ising_gibbs(int width, int height, int colour, int sweep, int seed,
                                       const unsigned int *__restrict__ threshold, signed char *__restrict__ spin)
{
    int half = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (2 * half >= width || y >= height)
        return;
    int x = 2 * half + ((y + colour) & 1);
    int west = x > 0 ? x - 1 : width - 1;
    int east = x < width - 1 ? x + 1 : 0;
    int north = y > 0 ? y - 1 : height - 1;
    int south = y < height - 1 ? y + 1 : 0;
    int sum = spin[y * width + west] + spin[y * width + east] + spin[north * width + x] + spin[south * width + x];
    unsigned int cell = y * width + x;
    unsigned int random = hash(cell ^ hash((unsigned int)sweep ^ hash((unsigned int)seed)));
    spin[cell] = random < threshold[(sum + 4) / 2] ? 1 : -1;
}
