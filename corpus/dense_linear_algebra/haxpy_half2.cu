// y = a x + y in half precision, two elements per thread and instruction (half2); n must be even.
// Packed half arithmetic on 4-byte words: limited by memory bandwidth.
#include <cuda_fp16.h>

extern "C" __global__ void haxpy_half2(int n, float a, const __half *__restrict__ x, __half *__restrict__ y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n / 2) {
        const __half2 *x2 = reinterpret_cast<const __half2 *>(x);
        __half2 *y2 = reinterpret_cast<__half2 *>(y);
        y2[i] = __hfma2(__float2half2_rn(a), x2[i], y2[i]);
    }
}
