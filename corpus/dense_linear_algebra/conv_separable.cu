// A separable 17 x 17 filter with zero borders: rows first, then columns, each from a strip with halo in
// shared memory. 17 shared loads and multiply-adds per pixel and pass: limited by shared-memory loads, close
// to memory bandwidth.
constexpr int RADIUS = 8;
constexpr int ROW_X = 128;  // rows: 128 x 2 threads, a pixel each
constexpr int ROW_Y = 2;
constexpr int COL_X = 32;   // columns: 32 x 8 threads, a strip of 64 pixels downwards, 8 per thread
constexpr int COL_Y = 8;
constexpr int STRIP = 64;

extern "C" __global__ void convolve_rows(int h, int w, const float *__restrict__ image, const float *__restrict__ taps,
                                         float *__restrict__ middle) {
    __shared__ float strip[ROW_Y][ROW_X + 2 * RADIUS];
    int left = blockIdx.x * ROW_X - RADIUS;
    int y = blockIdx.y * ROW_Y + threadIdx.y;
    for (int i = threadIdx.x; i < ROW_X + 2 * RADIUS; i += ROW_X) {
        int x = left + i;
        strip[threadIdx.y][i] = y < h && x >= 0 && x < w ? image[y * w + x] : 0.0f;
    }
    __syncthreads();
    int x = blockIdx.x * ROW_X + threadIdx.x;
    if (x >= w || y >= h) {
        return;
    }
    float sum = 0.0f;
#pragma unroll
    for (int t = 0; t <= 2 * RADIUS; ++t) {
        sum += taps[t] * strip[threadIdx.y][threadIdx.x + t];
    }
    middle[y * w + x] = sum;
}

extern "C" __global__ void convolve_columns(int h, int w, const float *__restrict__ middle,
                                            const float *__restrict__ taps, float *__restrict__ output) {
    __shared__ float strip[STRIP + 2 * RADIUS][COL_X];
    int x = blockIdx.x * COL_X + threadIdx.x;
    int top = blockIdx.y * STRIP;
    for (int i = threadIdx.y; i < STRIP + 2 * RADIUS; i += COL_Y) {
        int y = top - RADIUS + i;
        strip[i][threadIdx.x] = x < w && y >= 0 && y < h ? middle[y * w + x] : 0.0f;
    }
    __syncthreads();
    for (int i = threadIdx.y; i < STRIP; i += COL_Y) {
        int y = top + i;
        if (x >= w || y >= h) {
            return;
        }
        float sum = 0.0f;
#pragma unroll
        for (int t = 0; t <= 2 * RADIUS; ++t) {
            sum += taps[t] * strip[i + t][threadIdx.x];
        }
        output[y * w + x] = sum;
    }
}
