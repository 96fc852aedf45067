// Lennard-Jones force and energy of every particle from its list of 26 neighbours (stored neighbour-major, so
// that list reads coalesce) in a periodic box. One thread a particle; limited by gathers through L1 and L2.
extern "C" __global__ void lennard_jones(int n, float box, float cutoff, const float4 *__restrict__ particles,
                                         const int *__restrict__ neighbours, float4 *__restrict__ force)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float4 me = particles[i];
    float fx = 0.0f, fy = 0.0f, fz = 0.0f, energy = 0.0f;
    for (int k = 0; k < 26; ++k) {
        float4 other = particles[neighbours[k * n + i]];
        float dx = me.x - other.x, dy = me.y - other.y, dz = me.z - other.z;
        dx -= box * rintf(dx / box);
        dy -= box * rintf(dy / box);
        dz -= box * rintf(dz / box);
        float squared = dx * dx + dy * dy + dz * dz;
        if (squared < cutoff * cutoff) {
            float inverse = 1.0f / squared, sixth = inverse * inverse * inverse;
            float push = 24.0f * inverse * sixth * (2.0f * sixth - 1.0f);
            fx += push * dx;
            fy += push * dy;
            fz += push * dz;
            energy += 2.0f * sixth * (sixth - 1.0f);  // half of each pair
        }
    }
    force[i] = make_float4(fx, fy, fz, energy);
}
