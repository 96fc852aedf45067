// A rational function and a square root in double precision, applied again and again to every element.
// Limited by FP64: polynomials, and the sequences that stand for division and root.
extern "C" __global__ void double_math(int n, int rounds, double *x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    double v = x[i];
    for (int round = 0; round < rounds; ++round) {
        double p = (((0.125 * v - 0.5) * v + 0.75) * v + 1.5) * v + 0.25;
        double q = ((0.0625 * v + 0.375) * v + 1.25) * v + 2.0;
        v = 0.5 * p / q + sqrt(v * v + 0.25) * 0.5;
    }
    x[i] = v;
}
