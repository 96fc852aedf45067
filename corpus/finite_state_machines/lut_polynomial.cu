// Piecewise cubic polynomial of 32 pieces, its coefficients in constant memory; lanes need different pieces, which
// constant memory serialises. Limited by that.
__constant__ float coefficients[32 * 4];

extern "C" __global__ void lut_polynomial(int n, const float *__restrict__ x, float *__restrict__ y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float scaled = x[i] * 32.0f;
    int piece = int(scaled);
    float t = scaled - piece;
    const float *c = coefficients + piece * 4;
    y[i] = ((c[3] * t + c[2]) * t + c[1]) * t + c[0];
}
