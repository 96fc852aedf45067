// A function that calls itself for some lanes: the lanes of each level meet behind the call before they return.
__device__ __noinline__ unsigned levels(unsigned a, unsigned depth) {
    if (depth && (a & 1)) a ^= levels(a >> 1, depth - 1) * 3;
    return a + 1;
}

__global__ void recursion(unsigned *x, const unsigned *in) {
    unsigned a = levels(in[threadIdx.x], 3);
    x[threadIdx.x] = a + __popc(__ballot_sync(~0u, a & 1)) * 1000;
}
