// y += transpose(A) x for row-major A: a thread walks down one column of a strip of rows and adds its share
// atomically. Coalesced reads of A; limited by memory bandwidth where strips are long, by atomics where they
// are short.
extern "C" __global__ void gemv_transposed(int rows, int cols, int strip, const float *__restrict__ A,
                                           const float *__restrict__ x, float *__restrict__ y) {
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (col >= cols) {
        return;
    }
    int first = blockIdx.y * strip;
    int last = min(first + strip, rows);
    float sum = 0.0f;
    for (int row = first; row < last; ++row) {
        sum += A[static_cast<size_t>(row) * cols + col] * x[row];
    }
    atomicAdd(&y[col], sum);
}
