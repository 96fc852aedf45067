// Inclusive prefix sum of each chunk of 512 elements by Hillis and Steele's doubling, between two halves of shared
// memory: more additions than needed, few steps. Limited by shared memory and barriers.
extern "C" __global__ void scan_hillis_steele(const float *__restrict__ x, float *__restrict__ y)
{
    __shared__ float s[2][512];
    int t = threadIdx.x, from = 0;
    s[0][t] = x[blockIdx.x * 512 + t];
    __syncthreads();
    for (int distance = 1; distance < 512; distance *= 2) {
        s[1 - from][t] = t >= distance ? s[from][t] + s[from][t - distance] : s[from][t];
        from = 1 - from;
        __syncthreads();
    }
    y[blockIdx.x * 512 + t] = s[from][t];
}
