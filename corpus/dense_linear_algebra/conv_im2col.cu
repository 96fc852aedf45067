// 3 x 3 convolution over many channels as matrix multiplication: im2col writes the patches as columns, then
// output (c_out x h w) = weight (c_out x 9 c_in) columns (9 c_in x h w) through 16 x 16 shared tiles.
// The first launch is limited by memory bandwidth, the second by shared-memory loads.
constexpr int TILE = 16;

extern "C" __global__ void im2col(int h, int w, const float *__restrict__ input, float *__restrict__ columns) {
    int pixel = blockIdx.x * blockDim.x + threadIdx.x;
    int tap = blockIdx.y;  // channel * 9 + r * 3 + s
    if (pixel >= h * w) {
        return;
    }
    int channel = tap / 9;
    int y = pixel / w + tap % 9 / 3 - 1;
    int x = pixel % w + tap % 3 - 1;
    bool inside = y >= 0 && y < h && x >= 0 && x < w;
    columns[tap * h * w + pixel] = inside ? input[(channel * h + y) * w + x] : 0.0f;
}

extern "C" __global__ void multiply_columns(int c_out, int depth, int pixels, const float *__restrict__ weight,
                                            const float *__restrict__ columns, float *__restrict__ output) {
    __shared__ float w_tile[TILE][TILE];
    __shared__ float c_tile[TILE][TILE];
    int tx = threadIdx.x;
    int ty = threadIdx.y;
    int pixel = blockIdx.x * TILE + tx;
    int k = blockIdx.y * TILE + ty;
    float sum = 0.0f;
    for (int start = 0; start < depth; start += TILE) {
        w_tile[ty][tx] = k < c_out && start + tx < depth ? weight[k * depth + start + tx] : 0.0f;
        c_tile[ty][tx] = start + ty < depth && pixel < pixels ? columns[(start + ty) * pixels + pixel] : 0.0f;
        __syncthreads();
#pragma unroll
        for (int i = 0; i < TILE; ++i) {
            sum += w_tile[ty][i] * c_tile[i][tx];
        }
        __syncthreads();
    }
    if (k < c_out && pixel < pixels) {
        output[k * pixels + pixel] = sum;
    }
}
