// Speed of particles. Before: an array of structures. After: an array per field.
//
// warpwatt: --kernel before --grid 16384 --block 256 --arg p=f32[33554432] --arg speed=f32[4194304]:zeros
// warpwatt: --kernel after --grid 16384 --block 256 --arg x=f32[4194304] --arg y=f32[4194304] --arg z=f32[4194304] --arg speed=f32[4194304]:zeros

struct Particle {
    float place[3], mass, x, y, z, charge;
};

__global__ void before(const Particle *p, float *speed) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    speed[i] = p[i].x * p[i].x + p[i].y * p[i].y + p[i].z * p[i].z;
}

__global__ void after(const float *x, const float *y, const float *z, float *speed) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    speed[i] = x[i] * x[i] + y[i] * y[i] + z[i] * z[i];
}
