// out = transpose(in) through a 32 x 32 tile in shared memory with 16-byte global loads and stores; 8 x 32
// threads. rows and cols are multiples of 32. A quarter of the global instructions: limited by memory
// bandwidth.
constexpr int TILE = 32;

extern "C" __global__ void transpose_float4(int rows, int cols, const float *__restrict__ in, float *__restrict__ out) {
    __shared__ float tile[TILE][TILE + 1];  // stored transposed already
    int lane = threadIdx.x * 4;             // first of this thread's four columns
    int line = threadIdx.y;
    size_t row = blockIdx.y * TILE + line;
    size_t out_row = blockIdx.x * TILE + line;
    float4 v = *reinterpret_cast<const float4 *>(in + row * cols + blockIdx.x * TILE + lane);
    tile[lane + 0][line] = v.x;
    tile[lane + 1][line] = v.y;
    tile[lane + 2][line] = v.z;
    tile[lane + 3][line] = v.w;
    __syncthreads();
    v = make_float4(tile[line][lane], tile[line][lane + 1], tile[line][lane + 2], tile[line][lane + 3]);
    *reinterpret_cast<float4 *>(out + out_row * rows + blockIdx.y * TILE + lane) = v;
}
