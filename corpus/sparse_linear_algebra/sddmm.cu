// Sampled dense-dense product: for every entry (i, j) of a sparse pattern, the dot product of row i of A and
// row j of B, scaled by the entry. One warp per entry, depth 64: bound by gathers from L2 and DRAM.
#define DEPTH 64

extern "C" __global__ void sddmm(int nnz, const int *__restrict__ row, const int *__restrict__ column,
                                 const float *__restrict__ values, const float *__restrict__ A,
                                 const float *__restrict__ B, float *__restrict__ result)
{
    int entry = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    int lane = threadIdx.x % 32;
    if (entry >= nnz)
        return; // whole warps only
    const float *a = A + row[entry] * DEPTH;
    const float *b = B + column[entry] * DEPTH;
    float sum = a[lane] * b[lane] + a[lane + 32] * b[lane + 32];
    for (int distance = 16; distance > 0; distance /= 2)
        sum += __shfl_down_sync(0xffffffff, sum, distance);
    if (lane == 0)
        result[entry] = values[entry] * sum;
}
