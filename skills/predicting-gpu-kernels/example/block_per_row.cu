// A block per row, with two reductions through shared memory.
//
// warpwatt: --grid 8192 --block 256 --arg rows=8192 --arg columns=1024 --arg x=f32[rows*columns] --arg y=f32[rows*columns]:zeros

__global__ void softmax(int rows, int columns, const float *x, float *y) {
    __shared__ float partial[256];
    int row = blockIdx.x, thread = threadIdx.x;
    float value = -INFINITY;
    for (int i = thread; i < columns; i += blockDim.x) value = fmaxf(value, x[row * columns + i]);
    partial[thread] = value;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (thread < half) partial[thread] = fmaxf(partial[thread], partial[thread + half]);
        __syncthreads();
    }
    float largest = partial[0];
    __syncthreads();
    value = 0.0f;
    for (int i = thread; i < columns; i += blockDim.x) value += expf(x[row * columns + i] - largest);
    partial[thread] = value;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (thread < half) partial[thread] += partial[thread + half];
        __syncthreads();
    }
    float sum = partial[0];
    for (int i = thread; i < columns; i += blockDim.x)
        y[row * columns + i] = expf(x[row * columns + i] - largest) / sum;
}
