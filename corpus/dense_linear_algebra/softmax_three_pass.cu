// Softmax, one block per row: the maximum, then the sum of exponentials, then the quotients. Tree reductions in
// dynamic shared memory (a float per thread; blockDim.x a power of two): limited by barriers on short rows, by memory
// bandwidth on long ones.
extern "C" __global__ void softmax_three_pass(int cols, const float *__restrict__ x, float *__restrict__ y) {
    extern __shared__ float scratch[];
    size_t row = static_cast<size_t>(blockIdx.x) * cols;
    int t = threadIdx.x;

    float largest = -INFINITY;
    for (int c = t; c < cols; c += blockDim.x) {
        largest = fmaxf(largest, x[row + c]);
    }
    scratch[t] = largest;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (t < half) {
            scratch[t] = fmaxf(scratch[t], scratch[t + half]);
        }
        __syncthreads();
    }
    largest = scratch[0];
    __syncthreads();

    float sum = 0.0f;
    for (int c = t; c < cols; c += blockDim.x) {
        sum += expf(x[row + c] - largest);
    }
    scratch[t] = sum;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (t < half) {
            scratch[t] += scratch[t + half];
        }
        __syncthreads();
    }
    float inverse = 1.0f / scratch[0];
    for (int c = t; c < cols; c += blockDim.x) {
        y[row + c] = expf(x[row + c] - largest) * inverse;
    }
}
