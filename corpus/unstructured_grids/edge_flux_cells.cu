// Shallow-water fluxes (Rusanov) on a triangle mesh, one thread per cell: every cell computes the flux through its
// three edges itself, walls reflect. No atomics, twice the arithmetic: bound by gathers through indices.
#define GRAVITY 9.81f

struct State {
    float depth, qx, qy;
};

struct Flux {
    float mass, momentum_x, momentum_y, speed;
};

__device__ __forceinline__ Flux normal_flux(State s, float nx, float ny)
{
    float velocity = (s.qx * nx + s.qy * ny) / s.depth;
    float pressure = 0.5f * GRAVITY * s.depth * s.depth;
    return {s.depth * velocity, s.qx * velocity + pressure * nx, s.qy * velocity + pressure * ny,
            fabsf(velocity) + sqrtf(GRAVITY * s.depth)};
}

extern "C" __global__ void edge_flux_cells(int cells, const int *__restrict__ neighbour,
                                           const float *__restrict__ normal_x, const float *__restrict__ normal_y,
                                           const float *__restrict__ length, const float *__restrict__ state,
                                           float *__restrict__ change)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= cells)
        return;
    State inside = {state[c], state[cells + c], state[2 * cells + c]};
    State sum = {0.0f, 0.0f, 0.0f};
    for (int k = 0; k < 3; ++k) {
        int i = k * cells + c;
        int other = neighbour[i];
        float nx = normal_x[i], ny = normal_y[i];
        State outside;
        if (other >= 0) {
            outside = {state[other], state[cells + other], state[2 * cells + other]};
        } else { // a wall: the same water moving the other way
            float twice = 2.0f * (inside.qx * nx + inside.qy * ny);
            outside = {inside.depth, inside.qx - twice * nx, inside.qy - twice * ny};
        }
        Flux a = normal_flux(inside, nx, ny);
        Flux b = normal_flux(outside, nx, ny);
        float speed = fmaxf(a.speed, b.speed);
        float half = 0.5f * length[i];
        sum.depth += half * (a.mass + b.mass - speed * (outside.depth - inside.depth));
        sum.qx += half * (a.momentum_x + b.momentum_x - speed * (outside.qx - inside.qx));
        sum.qy += half * (a.momentum_y + b.momentum_y - speed * (outside.qy - inside.qy));
    }
    change[c] = -sum.depth;
    change[cells + c] = -sum.qx;
    change[2 * cells + c] = -sum.qy;
}
