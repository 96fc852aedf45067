// Division and square root, which ptxas expands into approximations, corrections and slow paths.
#define KERNEL(NAME, TYPE, VALUE)                                                                            \
    extern "C" __global__ void NAME(TYPE *out, const TYPE *x, const TYPE *y) {                               \
        int i = blockIdx.x * blockDim.x + threadIdx.x;                                                       \
        TYPE a = x[i], b = y[i];                                                                             \
        out[i] = VALUE;                                                                                      \
    }
KERNEL(divide, float, a / b)
KERNEL(divide_up, float, __fdiv_ru(a, b))
KERNEL(root, float, sqrtf(a))
KERNEL(reciprocal, float, 1.0f / b)
KERNEL(divide_double, double, a / b)
KERNEL(root_double, double, sqrt(a))
KERNEL(remainder_of, float, fmodf(a, b))
KERNEL(logarithm, double, log(a))

__device__ int counter = 3;
__device__ int *pointer = &counter;
__constant__ float factors[2] = {2.0f, 0.5f};
extern "C" __global__ void variables(float *out, const float *x, const float *y) {
    out[threadIdx.x] = x[threadIdx.x] * factors[threadIdx.x & 1] + *pointer;
}
