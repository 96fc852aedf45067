// 32-bit MurmurHash3 of keys of `words` words, one thread a key; keys are stored word-major so that loads coalesce.
// Limited by DRAM for short keys, close to integer multiplication.
extern "C" __global__ void hash_murmur3(int n, int words, unsigned seed, const unsigned *__restrict__ keys,
                                        unsigned *__restrict__ hashes)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned hash = seed;
    for (int word = 0; word < words; ++word) {
        unsigned k = keys[word * n + i] * 0xcc9e2d51u;
        k = __funnelshift_l(k, k, 15) * 0x1b873593u;
        hash ^= k;
        hash = __funnelshift_l(hash, hash, 13) * 5 + 0xe6546b64u;
    }
    hash ^= words * 4;
    hash = (hash ^ hash >> 16) * 0x85ebca6bu;
    hash = (hash ^ hash >> 13) * 0xc2b2ae35u;
    hashes[i] = hash ^ hash >> 16;
}
