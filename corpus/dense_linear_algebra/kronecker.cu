// C = A (p x q) kron B (r x s), row-major, one thread per element of C (p r x q s).
// Two integer divisions locate the factors, which sit in cache; the stores of C limit it.
extern "C" __global__ void kronecker(int p, int q, int r, int s, const float *__restrict__ A,
                                     const float *__restrict__ B, float *__restrict__ C) {
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= p * r || col >= q * s) {
        return;
    }
    float a = A[row / r * q + col / s];
    float b = B[row % r * s + col % s];
    C[static_cast<size_t>(row) * (q * s) + col] = a * b;
}
