// Parts of an explicit solver for the compressible Euler equations: five variables per cell, cells along rows.

constexpr int VARIABLES = 5;
constexpr float GAMMA = 1.4f;
__constant__ float far_field[VARIABLES];

extern "C" __global__ void initialise(int cells, float *variables) {
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    for (int v = 0; v < VARIABLES; ++v) variables[i + v * cells] = far_field[v];
}

extern "C" __global__ void step_factor(int cells, const float *variables, const float *areas, float *factors) {
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    float density = variables[i];
    float x = variables[i + cells] / density, y = variables[i + 2 * cells] / density;
    float z = variables[i + 3 * cells] / density;
    float energy = variables[i + 4 * cells];
    float speed2 = x * x + y * y + z * z;
    float pressure = (GAMMA - 1.0f) * (energy - 0.5f * density * speed2);
    float sound = sqrtf(GAMMA * pressure / density);
    factors[i] = 0.5f / (sqrtf(areas[i]) * (sqrtf(speed2) + sound));
}

extern "C" __global__ void time_step(int stage, int cells, const float *old, float *variables, const float *factors,
                                     const float *fluxes) {
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    float factor = factors[i] / float(4 - stage);
    for (int v = 0; v < VARIABLES; ++v)
        variables[i + v * cells] = old[i + v * cells] + factor * fluxes[i + v * cells];
}
