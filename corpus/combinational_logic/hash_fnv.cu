// 64-bit FNV-1a of every row of bytes, one thread a row, byte by byte: neighbouring lanes read far apart.
// Honestly naive: limited by uncoalesced loads and a chain of 64-bit multiplications.
extern "C" __global__ void hash_fnv(int n, int length, const unsigned char *__restrict__ rows,
                                    unsigned long long *__restrict__ hashes)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const unsigned char *row = rows + (long long)i * length;
    unsigned long long hash = 0xcbf29ce484222325ull;
    for (int k = 0; k < length; ++k)
        hash = (hash ^ row[k]) * 0x100000001b3ull;
    hashes[i] = hash;
}
