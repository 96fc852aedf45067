// One level of the Haar wavelet transform: each thread turns a pair into its scaled sum and difference.
// Limited by DRAM bandwidth.
extern "C" __global__ void wavelet_haar(int half, const float2 *__restrict__ in, float *__restrict__ approximation,
                                        float *__restrict__ detail)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= half)
        return;
    float2 pair = in[i];
    approximation[i] = (pair.x + pair.y) * 0.70710678f;
    detail[i] = (pair.x - pair.y) * 0.70710678f;
}
