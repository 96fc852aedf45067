// Sparse matrix times vector in CSR, one warp per row: lanes read a row together and add up by shuffles.
// Coalesced, yet idle lanes on short rows; the gather from x decides the rest: bound by memory.
extern "C" __global__ void spmv_csr_vector(int rows, const int *__restrict__ offsets,
                                           const int *__restrict__ columns, const float *__restrict__ values,
                                           const float *__restrict__ x, float *__restrict__ y)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    int lane = threadIdx.x % 32;
    if (row >= rows)
        return; // whole warps only
    float sum = 0.0f;
    int end = offsets[row + 1];
    for (int k = offsets[row] + lane; k < end; k += 32)
        sum += values[k] * x[columns[k]];
    for (int distance = 16; distance > 0; distance /= 2)
        sum += __shfl_down_sync(0xffffffff, sum, distance);
    if (lane == 0)
        y[row] = sum;
}
