// Volumes of tetrahedra, one thread each: one 16-byte load of four vertex numbers, four 16-byte gathers of
// positions, one determinant. Bound by memory transactions of the gathers.
extern "C" __global__ void tetra_volume(int tetrahedra, const int4 *__restrict__ corners,
                                        const float4 *__restrict__ position, float *__restrict__ volume)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= tetrahedra)
        return;
    int4 corner = corners[t];
    float4 a = position[corner.x];
    float4 b = position[corner.y];
    float4 c = position[corner.z];
    float4 d = position[corner.w];
    float bx = b.x - a.x, by = b.y - a.y, bz = b.z - a.z;
    float cx = c.x - a.x, cy = c.y - a.y, cz = c.z - a.z;
    float dx = d.x - a.x, dy = d.y - a.y, dz = d.z - a.z;
    float determinant = bx * (cy * dz - cz * dy) - by * (cx * dz - cz * dx) + bz * (cx * dy - cy * dx);
    volume[t] = determinant * (1.0f / 6.0f);
}
