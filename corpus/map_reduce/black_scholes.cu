// Black-Scholes prices of European call and put options, one thread an option.
// Limited by DRAM (20 bytes each) close to special functions.
__device__ float normal(float x)
{
    return 0.5f * erfcf(-0.70710678f * x);
}

extern "C" __global__ void black_scholes(int n, float rate, float volatility, const float *__restrict__ spot,
                                         const float *__restrict__ strike, const float *__restrict__ years,
                                         float *__restrict__ call, float *__restrict__ put)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float s = spot[i], k = strike[i], t = years[i];
    float deviation = volatility * sqrtf(t);
    float d1 = (logf(s / k) + (rate + 0.5f * volatility * volatility) * t) / deviation;
    float d2 = d1 - deviation;
    float discounted = k * expf(-rate * t);
    call[i] = s * normal(d1) - discounted * normal(d2);
    put[i] = discounted * normal(-d2) - s * normal(-d1);
}
