// CRC-32 of every row of 32-bit words, one thread a row, bit by bit without a table.
// Limited by integer logic.
extern "C" __global__ void crc32_bitwise(int n, int words, const unsigned *__restrict__ rows,
                                         unsigned *__restrict__ checksums)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const unsigned *row = rows + (long long)i * words;
    unsigned crc = 0xffffffffu;
    for (int k = 0; k < words; ++k) {
        crc ^= row[k];
#pragma unroll
        for (int bit = 0; bit < 32; ++bit)
            crc = crc >> 1 ^ (0xedb88320u & (0u - (crc & 1)));
    }
    checksums[i] = ~crc;
}
