// y = a x + y in single precision, four elements per thread with 16-byte loads and stores; the rest of n by
// single threads. A quarter of saxpy's memory instructions for the same bytes: limited by memory bandwidth.
extern "C" __global__ void saxpy_float4(int n, float a, const float *__restrict__ x, float *__restrict__ y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int vectors = n / 4;
    if (i < vectors) {
        float4 u = reinterpret_cast<const float4 *>(x)[i];
        float4 v = reinterpret_cast<float4 *>(y)[i];
        v.x += a * u.x;
        v.y += a * u.y;
        v.z += a * u.z;
        v.w += a * u.w;
        reinterpret_cast<float4 *>(y)[i] = v;
    } else if (i - vectors < n % 4) {
        int tail = 4 * vectors + i - vectors;
        y[tail] += a * x[tail];
    }
}
