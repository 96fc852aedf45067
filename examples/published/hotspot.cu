// Heat on a chip: some explicit steps on a tile in shared memory, the valid part shrinking by one per step.

constexpr int TILE = 16;

extern "C" __global__ void heat(int steps, const float *power, const float *in, float *out, int columns, int rows,
                                float capacity, float rx, float ry, float rz) {
    __shared__ float now[TILE][TILE];
    __shared__ float next[TILE][TILE];
    int inner = TILE - 2 * steps;
    int tx = threadIdx.x, ty = threadIdx.y;
    int x = inner * blockIdx.x - steps + tx;
    int y = inner * blockIdx.y - steps + ty;
    bool inside = x >= 0 && x < columns && y >= 0 && y < rows;
    int at = y * columns + x;
    float heating = 0.0f;
    if (inside) {
        now[ty][tx] = in[at];
        heating = power[at];
    }
    __syncthreads();
    int west = x > 0 ? tx - 1 : tx, east = x < columns - 1 ? tx + 1 : tx;
    int north = y > 0 ? ty - 1 : ty, south = y < rows - 1 ? ty + 1 : ty;
    bool computed = false;
    for (int step = 0; step < steps; ++step) {
        computed = inside && tx > step && tx < TILE - 1 - step && ty > step && ty < TILE - 1 - step;
        if (computed) {
            float t = now[ty][tx];
            next[ty][tx] = t + capacity * (heating + (now[south][tx] + now[north][tx] - 2.0f * t) * ry +
                                           (now[ty][east] + now[ty][west] - 2.0f * t) * rx + (80.0f - t) * rz);
        }
        __syncthreads();
        if (computed) now[ty][tx] = next[ty][tx];
        __syncthreads();
    }
    if (computed) out[at] = now[ty][tx];
}
