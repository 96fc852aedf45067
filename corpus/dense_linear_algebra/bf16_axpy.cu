// y = a x + y on bfloat16 storage with float arithmetic, eight elements (16 bytes) per thread; n is a
// multiple of 8. Conversions and shifts around one multiply-add, still limited by memory bandwidth.
#include <cuda_bf16.h>

__device__ __forceinline__ __nv_bfloat162 axpy2(float a, __nv_bfloat162 x, __nv_bfloat162 y) {
    float2 u = __bfloat1622float2(x);
    float2 v = __bfloat1622float2(y);
    return __floats2bfloat162_rn(a * u.x + v.x, a * u.y + v.y);
}

struct alignas(16) Pack {
    __nv_bfloat162 pair[4];
};

extern "C" __global__ void bf16_axpy(int n, float a, const __nv_bfloat16 *__restrict__ x,
                                     __nv_bfloat16 *__restrict__ y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n / 8) {
        return;
    }
    Pack u = reinterpret_cast<const Pack *>(x)[i];
    Pack v = reinterpret_cast<Pack *>(y)[i];
#pragma unroll
    for (int p = 0; p < 4; ++p) {
        v.pair[p] = axpy2(a, u.pair[p], v.pair[p]);
    }
    reinterpret_cast<Pack *>(y)[i] = v;
}
