// Shallow-water fluxes (Rusanov) on an unstructured mesh, one thread per edge: gather both cells' states through
// indices, scatter the flux to both with atomics. Bound by gathers and six atomics per edge.
#define GRAVITY 9.81f

extern "C" __global__ void edge_flux_clear(int cells, float *__restrict__ change)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < 3 * cells)
        change[i] = 0.0f;
}

struct Flux {
    float mass, momentum_x, momentum_y, speed;
};

__device__ __forceinline__ Flux normal_flux(float depth, float qx, float qy, float nx, float ny)
{
    float velocity = (qx * nx + qy * ny) / depth;
    float pressure = 0.5f * GRAVITY * depth * depth;
    return {depth * velocity, qx * velocity + pressure * nx, qy * velocity + pressure * ny,
            fabsf(velocity) + sqrtf(GRAVITY * depth)};
}

extern "C" __global__ void edge_flux_atomic(int edges, int cells, const int *__restrict__ left,
                                            const int *__restrict__ right, const float *__restrict__ normal_x,
                                            const float *__restrict__ normal_y, const float *__restrict__ length,
                                            const float *__restrict__ state, float *__restrict__ change)
{
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= edges)
        return;
    int l = left[e], r = right[e];
    float nx = normal_x[e], ny = normal_y[e];
    float left_state[3], right_state[3];
    for (int k = 0; k < 3; ++k) {
        left_state[k] = state[k * cells + l];
        right_state[k] = state[k * cells + r];
    }
    Flux a = normal_flux(left_state[0], left_state[1], left_state[2], nx, ny);
    Flux b = normal_flux(right_state[0], right_state[1], right_state[2], nx, ny);
    float speed = fmaxf(a.speed, b.speed);
    float mean[3] = {a.mass + b.mass, a.momentum_x + b.momentum_x, a.momentum_y + b.momentum_y};
    for (int k = 0; k < 3; ++k) {
        float flux = 0.5f * length[e] * (mean[k] - speed * (right_state[k] - left_state[k]));
        atomicAdd(&change[k * cells + l], -flux);
        atomicAdd(&change[k * cells + r], flux);
    }
}
