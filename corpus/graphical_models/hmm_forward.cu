// Forward algorithm for hidden Markov models: log-likelihood of each sequence, one block per sequence, one thread
// per state, scaled at every step by a block-wide sum. A matrix-vector product from L1 per step, then a
// reduction: bound by L1 throughput and by barriers.
#define STATES 128
#define WARPS (STATES / 32)

extern "C" __global__ void hmm_forward(int steps, const float *__restrict__ initial,
                                       const float *__restrict__ transition, const float *__restrict__ emission,
                                       const unsigned char *__restrict__ observed, float *__restrict__ posterior,
                                       float *__restrict__ log_likelihood)
{
    __shared__ float alpha[STATES];
    __shared__ float partial[WARPS];
    int state = threadIdx.x;
    int sequence = blockIdx.x;
    const unsigned char *symbols = observed + (size_t)sequence * steps;
    float total = 0.0f;

    for (int t = 0; t < steps; ++t) {
        float sum = initial[state];
        if (t > 0) {
            sum = 0.0f;
#pragma unroll 8
            for (int p = 0; p < STATES; ++p)
                sum += alpha[p] * transition[p * STATES + state];
        }
        float value = sum * emission[symbols[t] * STATES + state];

        float scale = value;
        for (int distance = 16; distance > 0; distance /= 2)
            scale += __shfl_xor_sync(0xffffffff, scale, distance);
        if (state % 32 == 0)
            partial[state / 32] = scale;
        __syncthreads(); // also: everybody has read alpha
        scale = 0.0f;
        for (int w = 0; w < WARPS; ++w)
            scale += partial[w];
        alpha[state] = value / scale;
        total += logf(scale);
        __syncthreads();
    }
    posterior[sequence * STATES + state] = alpha[state];
    if (state == 0)
        log_likelihood[sequence] = total;
}
