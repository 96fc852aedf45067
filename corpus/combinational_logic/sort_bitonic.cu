// Sorts every chunk of 1024 keys by a bitonic network in shared memory, two keys a thread.
// Limited by shared memory and the barrier after each of 55 steps.
extern "C" __global__ void __launch_bounds__(512) sort_bitonic(unsigned *keys)
{
    __shared__ unsigned s[1024];
    const int t = threadIdx.x;
    unsigned *chunk = keys + blockIdx.x * 1024;
    s[t] = chunk[t];
    s[t + 512] = chunk[t + 512];
    for (int size = 2; size <= 1024; size *= 2)
        for (int stride = size / 2; stride > 0; stride /= 2) {
            __syncthreads();
            int low = t % stride, at = (t - low) * 2 + low;
            bool ascending = (at & size) == 0;
            unsigned a = s[at], b = s[at + stride];
            if ((a > b) == ascending) {
                s[at] = b;
                s[at + stride] = a;
            }
        }
    __syncthreads();
    chunk[t] = s[t];
    chunk[t + 512] = s[t + 512];
}
