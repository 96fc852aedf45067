// Still a thread per row, with more and smaller blocks.
//
// warpwatt: --grid 256 --block 32 --arg rows=8192 --arg columns=1024 --arg x=f32[rows*columns] --arg y=f32[rows*columns]:zeros

__global__ void softmax(int rows, int columns, const float *x, float *y) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float largest = -INFINITY;
    for (int i = 0; i < columns; ++i) largest = fmaxf(largest, x[row * columns + i]);
    float sum = 0.0f;
    for (int i = 0; i < columns; ++i) sum += expf(x[row * columns + i] - largest);
    for (int i = 0; i < columns; ++i) y[row * columns + i] = expf(x[row * columns + i] - largest) / sum;
}
