// Sparse matrix times vector in ELLPACK (every row padded to `width`, stored column by column), one thread per
// row. Fully coalesced except for the gather from x: bound by memory bandwidth.
extern "C" __global__ void spmv_ell(int rows, int width, const int *__restrict__ columns,
                                    const float *__restrict__ values, const float *__restrict__ x,
                                    float *__restrict__ y)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    float sum = 0.0f;
    for (int k = 0; k < width; ++k) {
        int column = columns[k * rows + row];
        if (column >= 0) // padding
            sum += values[k * rows + row] * x[column];
    }
    y[row] = sum;
}
