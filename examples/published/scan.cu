// Exclusive scan of arrays of 4 * blockDim.x numbers, one array per block, four numbers per thread.

extern "C" __global__ void scan_block(uint4 *out, const uint4 *in) {
    __shared__ unsigned partial[512];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    uint4 v = in[i];
    v.y += v.x;
    v.z += v.y;
    v.w += v.z;
    int at = threadIdx.x;
    partial[at] = 0;
    at += blockDim.x;
    partial[at] = v.w;
    for (int step = 1; step < blockDim.x; step *= 2) {
        __syncthreads();
        unsigned sum = partial[at] + partial[at - step];
        __syncthreads();
        partial[at] = sum;
    }
    unsigned before = partial[at] - v.w;
    out[i] = make_uint4(before, before + v.x, before + v.y, before + v.z);
}
