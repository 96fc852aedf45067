// Reversible 5/3 wavelet of every row of an image by lifting: one block a row; the row and its details stand in
// dynamic shared memory. Limited by DRAM, then by shared memory with stride two.
extern "C" __global__ void wavelet_lifting(int width, const int *__restrict__ image, int *__restrict__ low,
                                           int *__restrict__ high)
{
    extern __shared__ int row[];
    const int half = width / 2;
    int *detail = row + width;
    const int *from = image + blockIdx.x * width;
    for (int i = threadIdx.x; i < width; i += blockDim.x)
        row[i] = from[i];
    __syncthreads();
    for (int i = threadIdx.x; i < half; i += blockDim.x) {
        int right = 2 * i + 2 < width ? row[2 * i + 2] : row[width - 2];  // mirrored at the border
        detail[i] = row[2 * i + 1] - ((row[2 * i] + right) >> 1);
        high[blockIdx.x * half + i] = detail[i];
    }
    __syncthreads();
    for (int i = threadIdx.x; i < half; i += blockDim.x) {
        int left = i > 0 ? detail[i - 1] : detail[0];
        low[blockIdx.x * half + i] = row[2 * i] + ((left + detail[i] + 2) >> 2);
    }
}
