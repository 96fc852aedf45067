// One Jacobi step of the 1-D heat equation, three points, one thread per point.
// Each input is read three times but comes from DRAM once: bound by memory bandwidth.
extern "C" __global__ void stencil_1d_3pt(int n, float alpha, const float *__restrict__ in, float *__restrict__ out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float centre = in[i];
    if (i == 0 || i == n - 1)
        out[i] = centre;
    else
        out[i] = centre + alpha * (in[i - 1] - 2.0f * centre + in[i + 1]);
}
