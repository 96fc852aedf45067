// Fast Walsh transform: radix-4 steps on 2^log2n numbers per block in shared memory, or one step in global memory.

__device__ void butterfly(float &a, float &b, float &c, float &d) {
    float s = a + c, t = b + d, u = a - c, v = b - d;
    a = s + t;
    b = s - t;
    c = u + v;
    d = u - v;
}

// blockDim.x is a quarter of the block's numbers, log2n is odd.
extern "C" __global__ void walsh_shared(float *out, const float *in, int log2n) {
    extern __shared__ float data[];
    int n = 1 << log2n, base = blockIdx.x << log2n;
    for (int i = threadIdx.x; i < n; i += blockDim.x) data[i] = in[base + i];
    for (int stride = n >> 2; stride > 0; stride >>= 2) {
        int low = threadIdx.x & (stride - 1);
        int i = ((threadIdx.x - low) << 2) + low;
        __syncthreads();
        butterfly(data[i], data[i + stride], data[i + 2 * stride], data[i + 3 * stride]);
    }
    for (int i = threadIdx.x; i < n / 2; i += blockDim.x) {
        __syncthreads();
        float a = data[2 * i], b = data[2 * i + 1];
        data[2 * i] = a + b;
        data[2 * i + 1] = a - b;
    }
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) out[base + i] = data[i];
}

extern "C" __global__ void walsh_global(float *out, const float *in, int stride) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    int low = thread & (stride - 1);
    int i = ((thread - low) << 2) + low;
    float a = in[i], b = in[i + stride], c = in[i + 2 * stride], d = in[i + 3 * stride];
    butterfly(a, b, c, d);
    out[i] = a;
    out[i + stride] = b;
    out[i + 2 * stride] = c;
    out[i + 3 * stride] = d;
}
