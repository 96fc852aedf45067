// Counts random points inside a quarter disc: every thread draws its own from a counter-based generator, blocks
// add up by shuffles. Limited by 32-bit integer multiplication.
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

extern "C" __global__ void monte_carlo_pi(int samples, unsigned seed, unsigned long long *hits)
{
    __shared__ unsigned block_hits;
    if (threadIdx.x == 0)
        block_hits = 0;
    __syncthreads();
    unsigned thread = blockIdx.x * blockDim.x + threadIdx.x, inside = 0;
    for (int i = 0; i < samples; ++i) {
        uint2 random = philox(thread, i, seed);
        unsigned long long x = random.x >> 8, y = random.y >> 8;  // 24 bits each: squares are exact
        inside += x * x + y * y < 1ull << 48;
    }
    for (int offset = 16; offset > 0; offset /= 2)
        inside += __shfl_down_sync(0xffffffff, inside, offset);
    if (threadIdx.x % 32 == 0)
        atomicAdd(&block_hits, inside);
    __syncthreads();
    if (threadIdx.x == 0)
        atomicAdd(hits, (unsigned long long)block_hits);
}
