// Sparse matrix times vector in CSR, one thread per row. Neighbouring threads walk different rows, so loads of
// columns and values do not coalesce and rows of unequal length diverge: bound by memory transactions.
extern "C" __global__ void spmv_csr_scalar(int rows, const int *__restrict__ offsets,
                                           const int *__restrict__ columns, const float *__restrict__ values,
                                           const float *__restrict__ x, float *__restrict__ y)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    float sum = 0.0f;
    int end = offsets[row + 1];
    for (int k = offsets[row]; k < end; ++k)
        sum += values[k] * x[columns[k]];
    y[row] = sum;
}
