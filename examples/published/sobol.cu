// Sobol's quasi-random numbers: one row of blocks per dimension; a thread strides by a power of two.

constexpr int DIRECTIONS = 32;

extern "C" __global__ void sobol(unsigned vectors, const unsigned *directions, float *out) {
    __shared__ unsigned v[DIRECTIONS];
    directions += DIRECTIONS * blockIdx.y;
    out += vectors * blockIdx.y;
    if (threadIdx.x < DIRECTIONS) v[threadIdx.x] = directions[threadIdx.x];
    __syncthreads();
    unsigned first = blockIdx.x * blockDim.x + threadIdx.x, stride = gridDim.x * blockDim.x;
    unsigned gray = first ^ (first >> 1), x = 0;
    for (unsigned k = 0; k < __ffs(stride) - 1; ++k) {
        x ^= (gray & 1) * v[k];
        gray >>= 1;
    }
    if (first < vectors) out[first] = x * 2.3283064365386963e-10f;
    unsigned high = v[__ffs(stride) - 2];
    for (unsigned i = first + stride; i < vectors; i += stride) {
        x ^= high ^ v[__ffs(~((i - stride) | (stride - 1))) - 1];
        out[i] = x * 2.3283064365386963e-10f;
    }
}
