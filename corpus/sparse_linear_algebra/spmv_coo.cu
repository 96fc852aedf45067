// Sparse matrix times vector from coordinates sorted by row, one thread per entry, one atomic addition each.
// Neighbouring entries hit the same row: bound by the throughput of contended atomics.
extern "C" __global__ void spmv_coo_clear(int rows, float *__restrict__ y)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows)
        y[row] = 0.0f;
}

extern "C" __global__ void spmv_coo_add(int nnz, const int *__restrict__ row, const int *__restrict__ column,
                                        const float *__restrict__ values, const float *__restrict__ x,
                                        float *__restrict__ y)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k < nnz)
        atomicAdd(&y[row[k]], values[k] * x[column[k]]);
}
