// Marks where a pattern occurs in a text: every thread compares at its own position and stops at the first difference.
// Limited by byte loads, which L1 serves, and a little divergence.
extern "C" __global__ void string_match_naive(int n, int length, const unsigned char *__restrict__ text,
                                              const unsigned char *__restrict__ pattern,
                                              unsigned char *__restrict__ found)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > n - length)
        return;
    int k = 0;
    while (k < length && text[i + k] == pattern[k])
        ++k;
    found[i] = k == length;
}
