// Sparse CSR matrix times dense matrix of 64 columns, one warp per sparse row, two dense columns per lane.
// Each entry streams a 256-byte row of B: bound by L2 and DRAM bandwidth of those gathers.
#define WIDTH 64

extern "C" __global__ void spmm_csr(int rows, const int *__restrict__ offsets, const int *__restrict__ columns,
                                    const float *__restrict__ values, const float *__restrict__ B,
                                    float *__restrict__ C)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    int lane = threadIdx.x % 32;
    if (row >= rows)
        return;
    float low = 0.0f;
    float high = 0.0f;
    int end = offsets[row + 1];
    for (int k = offsets[row]; k < end; ++k) {
        float value = values[k];
        const float *dense = B + (size_t)columns[k] * WIDTH;
        low += value * dense[lane];
        high += value * dense[lane + 32];
    }
    C[(size_t)row * WIDTH + lane] = low;
    C[(size_t)row * WIDTH + lane + 32] = high;
}
