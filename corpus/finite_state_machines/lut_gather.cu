// Bilinear interpolation in a two-dimensional table at random places, four gathered loads through the read-only cache.
// Limited by sectors per request: L1, L2 or DRAM, wherever the table fits.
extern "C" __global__ void lut_gather(int n, int width, int height, const float *__restrict__ table,
                                      const float *__restrict__ u, const float *__restrict__ v, float *__restrict__ out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float x = u[i] * (width - 1), y = v[i] * (height - 1);
    int column = min(int(x), width - 2), row = min(int(y), height - 2);
    float fx = x - column, fy = y - row;
    const float *corner = table + row * width + column;
    float top = __ldg(corner) * (1.0f - fx) + __ldg(corner + 1) * fx;
    float bottom = __ldg(corner + width) * (1.0f - fx) + __ldg(corner + width + 1) * fx;
    out[i] = top * (1.0f - fy) + bottom * fy;
}
