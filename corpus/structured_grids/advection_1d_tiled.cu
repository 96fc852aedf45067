// Sixteen steps of 1-D upwind advection on a ring without leaving the chip: a block loads its segment and
// sixteen cells upwind, steps in shared memory, and stores what is still valid. Barriers and shared memory bound.
#define BLOCK 256
#define STEPS 16

extern "C" __global__ void advection_1d_tiled(int n, float courant, const float *__restrict__ in,
                                              float *__restrict__ out)
{
    __shared__ float cells[2][BLOCK];
    int lane = threadIdx.x;
    int i = blockIdx.x * (BLOCK - STEPS) + lane - STEPS; // the first STEPS threads hold the upwind halo
    int wrapped = i < 0 ? i + n : i < n ? i : i - n;
    cells[0][lane] = in[wrapped];
    __syncthreads();

    int current = 0;
    for (int step = 0; step < STEPS; ++step) {
        float here = cells[current][lane];
        float upwind = cells[current][max(lane - 1, 0)];
        cells[current ^ 1][lane] = here - courant * (here - upwind);
        current ^= 1;
        __syncthreads();
    }
    if (lane >= STEPS && i < n)
        out[i] = cells[current][lane];
}
