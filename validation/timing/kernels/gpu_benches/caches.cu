// Reading from caches: a block sums its piece again and again from L1, or blocks sum pieces that they share
// from L2; and one warp follows a chain of indices.

#ifndef ELEMENTS
#define ELEMENTS 4096
#endif
#ifndef REPEATS
#define REPEATS 1000
#endif
const int L1_THREADS = 256, L2_THREADS = 1024, L2_LOADS = 64, STEPS = 32;

extern "C" __global__ void l1_sum(float *out, const float *__restrict__ x, int zero) {
    float sum = 0.0f;
    x += threadIdx.x;
    for (int repeat = 0; repeat < REPEATS; ++repeat) {
        x += zero;
#pragma unroll ELEMENTS / L1_THREADS >= 64 ? 32 : ELEMENTS / L1_THREADS
        for (int i = 0; i < ELEMENTS; i += L1_THREADS) sum += x[i];
        sum *= 1.3f;
    }
    if (sum == 1233.0f) out[threadIdx.x] += sum;
}

extern "C" __global__ void l2_sum(double *__restrict__ out, const double *__restrict__ x, int pieces) {
    double sum = 0.0;
    for (int k = 0; k < L2_LOADS / 2; ++k) {
        int i = (blockDim.x * pieces * k + (blockIdx.x % pieces) * L2_THREADS) * 2 + threadIdx.x;
        sum += x[i] * x[i + L2_THREADS];
    }
    sum *= 1.3;
    if (threadIdx.x > 1233 || sum == 23.12) out[threadIdx.x] += sum;
}

extern "C" __global__ void chase(const long long *next, long long *out, long long loads) {
    long long at = 0;
#pragma unroll 1
    for (long long done = 0; done < loads; done += STEPS) {
#pragma unroll
        for (int step = 0; step < STEPS; ++step) at = next[at];
    }
    if (threadIdx.x + blockIdx.x * blockDim.x > 12313) out[0] = at;
}
