// Gray code of every element, then the bit-reversal permutation: reads coalesce, writes scatter.
// Limited by DRAM sectors of which one word is used.
extern "C" __global__ void bits_gray(int n, const unsigned *__restrict__ x, unsigned *__restrict__ gray)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        gray[i] = x[i] ^ x[i] >> 1;
}

extern "C" __global__ void bits_reverse(int n, int bits, const unsigned *__restrict__ gray, unsigned *__restrict__ y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[__brev(i) >> (32 - bits)] = gray[i];
}
