// Neighbouring lanes take different branches, each with arithmetic of its own: `ways` of eight paths are in use.
// Limited by divergence: a warp runs every path that any of its lanes takes.
extern "C" __global__ void branching_lanes(int n, int ways, int rounds, float *x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float v = x[i];
    for (int round = 0; round < rounds; ++round) {
        switch (i % ways) {
        case 0:
            v = 0.5f * v + 0.25f;
            break;
        case 1:
            v = sqrtf(v + 1.0f);
            break;
        case 2:
            v = 1.0f / (v + 1.0f);
            break;
        case 3:
            v = 0.25f * v * v + 0.125f * v + 0.1f;
            break;
        case 4:
            v = expf(-v);
            break;
        case 5:
            v = logf(v + 2.0f);
            break;
        case 6:
            v = fabsf(v - 0.75f) * 0.5f + fminf(v, 0.5f);
            break;
        default:
            v = 0.5f * cosf(v);
        }
    }
    x[i] = v;
}
