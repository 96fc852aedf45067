// Gravitational acceleration of every body by all others; a block stages 256 bodies at a time in shared memory.
// Limited by FP32 and the reciprocal square root.
#define TILE 256

extern "C" __global__ void __launch_bounds__(TILE)
nbody_tiled(int n, float softening, const float4 *__restrict__ bodies, float4 *__restrict__ acceleration)
{
    __shared__ float4 tile[TILE];
    int i = blockIdx.x * TILE + threadIdx.x;
    float4 me = i < n ? bodies[i] : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    float ax = 0.0f, ay = 0.0f, az = 0.0f;
    for (int start = 0; start < n; start += TILE) {
        int j = start + threadIdx.x;
        tile[threadIdx.x] = j < n ? bodies[j] : make_float4(0.0f, 0.0f, 0.0f, 0.0f);  // no mass, no pull
        __syncthreads();
#pragma unroll 8
        for (int k = 0; k < TILE; ++k) {
            float4 other = tile[k];
            float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
            float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + softening);
            float pull = other.w * inverse * inverse * inverse;
            ax += pull * dx;
            ay += pull * dy;
            az += pull * dz;
        }
        __syncthreads();
    }
    if (i < n)
        acceleration[i] = make_float4(ax, ay, az, 0.0f);
}
