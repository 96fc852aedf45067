// Symmetric diagonal scaling of a CSR matrix, a_ij / sqrt(d_i d_j), eight lanes per row.
// Streams the matrix once, gathering one scale per entry: bound by memory bandwidth.
#define LANES 8

extern "C" __global__ void csr_diagonal_scaling(int rows, const int *__restrict__ offsets,
                                                const int *__restrict__ columns, const float *__restrict__ values,
                                                const float *__restrict__ diagonal, float *__restrict__ scaled)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / LANES;
    int lane = threadIdx.x % LANES;
    if (row >= rows)
        return;
    float scale = rsqrtf(diagonal[row]);
    int end = offsets[row + 1];
    for (int k = offsets[row] + lane; k < end; k += LANES)
        scaled[k] = values[k] * scale * rsqrtf(diagonal[columns[k]]);
}
