// One Jacobi step of the five-point stencil on a square grid with a fixed border.
//
// warpwatt: --grid 128,512 --block 32,8 --arg n=4096 --arg in=f32[n*n] --arg out=f32[n*n]:zeros

__global__ void stencil(int n, const float *in, float *out) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= n - 1 || y >= n - 1) return;
    int i = y * n + x;
    out[i] = 0.2f * (in[i] + in[i - 1] + in[i + 1] + in[i - n] + in[i + n]);
}
