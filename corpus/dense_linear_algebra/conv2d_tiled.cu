// 5 x 5 filter over one image with zero borders, a 32 x 16 output tile and its halo of 2 per block in shared
// memory. 25 shared loads per pixel against 8 bytes of DRAM traffic: limited by shared-memory loads.
constexpr int RADIUS = 2;
constexpr int WIDTH = 2 * RADIUS + 1;
constexpr int TILE_X = 32;
constexpr int TILE_Y = 16;

extern "C" __global__ void conv2d_tiled(int h, int w, const float *__restrict__ image, const float *__restrict__ filter,
                                        float *__restrict__ output) {
    __shared__ float tile[TILE_Y + 2 * RADIUS][TILE_X + 2 * RADIUS];
    __shared__ float taps[WIDTH * WIDTH];
    int left = blockIdx.x * TILE_X - RADIUS;
    int top = blockIdx.y * TILE_Y - RADIUS;
    int thread = threadIdx.y * TILE_X + threadIdx.x;
    if (thread < WIDTH * WIDTH) {
        taps[thread] = filter[thread];
    }
    for (int ty = threadIdx.y; ty < TILE_Y + 2 * RADIUS; ty += TILE_Y) {
        for (int tx = threadIdx.x; tx < TILE_X + 2 * RADIUS; tx += TILE_X) {
            int y = top + ty;
            int x = left + tx;
            bool inside = y >= 0 && y < h && x >= 0 && x < w;
            tile[ty][tx] = inside ? image[y * w + x] : 0.0f;
        }
    }
    __syncthreads();
    int x = blockIdx.x * TILE_X + threadIdx.x;
    int y = blockIdx.y * TILE_Y + threadIdx.y;
    if (x >= w || y >= h) {
        return;
    }
    float sum = 0.0f;
#pragma unroll
    for (int r = 0; r < WIDTH; ++r) {
#pragma unroll
        for (int s = 0; s < WIDTH; ++s) {
            sum += taps[r * WIDTH + s] * tile[threadIdx.y + r][threadIdx.x + s];
        }
    }
    output[y * w + x] = sum;
}
