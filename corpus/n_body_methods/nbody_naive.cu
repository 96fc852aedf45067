// Gravitational acceleration of every body by all others, one thread a body, straight from global memory.
// All lanes read the same address, so caches serve it; limited by FP32 and the reciprocal square root.
extern "C" __global__ void nbody_naive(int n, float softening, const float4 *__restrict__ bodies,
                                       float4 *__restrict__ acceleration)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float4 me = bodies[i];
    float ax = 0.0f, ay = 0.0f, az = 0.0f;
    for (int j = 0; j < n; ++j) {
        float4 other = bodies[j];
        float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
        float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + softening);
        float pull = other.w * inverse * inverse * inverse;
        ax += pull * dx;
        ay += pull * dy;
        az += pull * dz;
    }
    acceleration[i] = make_float4(ax, ay, az, 0.0f);
}
