// One Jacobi sweep for A x = b with A in CSR, one thread per row: the diagonal is found on the way.
// Short rows of five entries, badly coalesced: bound by memory transactions.
extern "C" __global__ void jacobi_csr(int rows, const int *__restrict__ offsets, const int *__restrict__ columns,
                                      const float *__restrict__ values, const float *__restrict__ b,
                                      const float *__restrict__ x, float *__restrict__ improved)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    float rest = b[row];
    float diagonal = 1.0f;
    int end = offsets[row + 1];
    for (int k = offsets[row]; k < end; ++k) {
        int column = columns[k];
        float value = values[k];
        if (column == row)
            diagonal = value;
        else
            rest -= value * x[column];
    }
    improved[row] = rest / diagonal;
}
