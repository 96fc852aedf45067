// Batch normalisation (NCHW, training): one block per channel gathers mean and inverse deviation over batch
// and plane, a second launch scales and shifts. Both are limited by memory bandwidth, the first by its few
// blocks where channels are few.
extern "C" __global__ void batchnorm_statistics(int batch, int channels, int plane, float eps,
                                                const float *__restrict__ x, float *__restrict__ mean,
                                                float *__restrict__ inverse_deviation) {
    __shared__ float sums[32];
    __shared__ float squares[32];
    int channel = blockIdx.x;
    float sum = 0.0f;
    float square = 0.0f;
    for (int image = 0; image < batch; ++image) {
        const float *values = x + (static_cast<size_t>(image) * channels + channel) * plane;
        for (int i = threadIdx.x; i < plane; i += blockDim.x) {
            float v = values[i];
            sum += v;
            square += v * v;
        }
    }
    for (int offset = 16; offset > 0; offset /= 2) {
        sum += __shfl_down_sync(0xffffffff, sum, offset);
        square += __shfl_down_sync(0xffffffff, square, offset);
    }
    if (threadIdx.x % 32 == 0) {
        sums[threadIdx.x / 32] = sum;
        squares[threadIdx.x / 32] = square;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int warp = 1; warp < blockDim.x / 32; ++warp) {
            sum += sums[warp];
            square += squares[warp];
        }
        float count = static_cast<float>(batch) * plane;
        float average = sum / count;
        mean[channel] = average;
        inverse_deviation[channel] = rsqrtf(square / count - average * average + eps);
    }
}

// blockIdx.y is image * channels + channel.
extern "C" __global__ void batchnorm_normalise(int channels, int plane, const float *__restrict__ x,
                                               const float *__restrict__ mean,
                                               const float *__restrict__ inverse_deviation,
                                               const float *__restrict__ gamma, const float *__restrict__ beta,
                                               float *__restrict__ y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= plane) {
        return;
    }
    int channel = blockIdx.y % channels;
    size_t at = static_cast<size_t>(blockIdx.y) * plane + i;
    y[at] = (x[at] - mean[channel]) * inverse_deviation[channel] * gamma[channel] + beta[channel];
}
