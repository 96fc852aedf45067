// Gravitational acceleration of every body by all others in double precision, one thread a body.
// Limited by FP64.
struct Body {
    double x, y, z, w;
};

extern "C" __global__ void nbody_double(int n, double softening, const Body *__restrict__ bodies,
                                        Body *__restrict__ acceleration)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    double x = bodies[i].x, y = bodies[i].y, z = bodies[i].z;
    double ax = 0.0, ay = 0.0, az = 0.0;
    for (int j = 0; j < n; ++j) {
        double dx = bodies[j].x - x, dy = bodies[j].y - y, dz = bodies[j].z - z;
        double squared = dx * dx + dy * dy + dz * dz + softening;
        double pull = bodies[j].w / (squared * sqrt(squared));
        ax += pull * dx;
        ay += pull * dy;
        az += pull * dz;
    }
    acceleration[i].x = ax;
    acceleration[i].y = ay;
    acceleration[i].z = az;
    acceleration[i].w = 0.0;
}
