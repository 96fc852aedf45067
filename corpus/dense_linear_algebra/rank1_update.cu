// A += alpha x y^T (the BLAS routine ger) on a row-major matrix, one thread per column of a strip of eight
// rows. One multiply-add per element read and written: limited by memory bandwidth.
constexpr int STRIP = 8;

extern "C" __global__ void rank1_update(int rows, int cols, float alpha, const float *__restrict__ x,
                                        const float *__restrict__ y, float *__restrict__ A) {
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (col >= cols) {
        return;
    }
    float scaled = alpha * y[col];
    int first = blockIdx.y * STRIP;
#pragma unroll
    for (int i = 0; i < STRIP; ++i) {
        int row = first + i;
        if (row < rows) {
            A[static_cast<size_t>(row) * cols + col] += x[row] * scaled;
        }
    }
}
