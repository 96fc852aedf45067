// Random walks on a square grid, one a thread, until they leave a disc: writes how many steps that took.
// Lanes leave at different times; limited by divergence and integer arithmetic.
// Philox2x32-10 (Salmon et al., Parallel Random Numbers: As Easy as 1, 2, 3, 2011): two random words for a counter.
__device__ uint2 philox(unsigned low, unsigned high, unsigned key)
{
    for (int round = 0; round < 10; ++round) {
        unsigned product_high = __umulhi(0xD256D193u, low), product_low = 0xD256D193u * low;
        low = product_high ^ key ^ high;
        high = product_low;
        key += 0x9E3779B9u;
    }
    return make_uint2(low, high);
}

extern "C" __global__ void monte_carlo_walk(int walkers, int limit, int radius, unsigned seed, int *__restrict__ steps)
{
    int walker = blockIdx.x * blockDim.x + threadIdx.x;
    if (walker >= walkers)
        return;
    int x = 0, y = 0, step = 0;
    unsigned bits = 0;
    while (step < limit && x * x + y * y < radius * radius) {
        if (step % 16 == 0)
            bits = philox(walker, step / 16, seed).x;
        int sign = bits & 1 ? 1 : -1;
        if (bits & 2)
            x += sign;
        else
            y += sign;
        bits >>= 2;
        ++step;
    }
    steps[walker] = step;
}
