// Exclusive prefix sum of each chunk of 1024 elements by Blelloch's two sweeps of a tree in shared memory.
// Limited by bank conflicts, which double with every level, and barriers.
extern "C" __global__ void scan_blelloch(const int *__restrict__ x, int *__restrict__ y)
{
    __shared__ int s[1024];
    const int t = threadIdx.x, base = blockIdx.x * 1024;
    s[2 * t] = x[base + 2 * t];
    s[2 * t + 1] = x[base + 2 * t + 1];
    int stride = 1;
    for (int active = 512; active > 0; active /= 2) {
        __syncthreads();
        if (t < active)
            s[stride * (2 * t + 2) - 1] += s[stride * (2 * t + 1) - 1];
        stride *= 2;
    }
    if (t == 0)
        s[1023] = 0;
    for (int active = 1; active < 1024; active *= 2) {
        stride /= 2;
        __syncthreads();
        if (t < active) {
            int left = stride * (2 * t + 1) - 1, right = stride * (2 * t + 2) - 1, sum = s[left];
            s[left] = s[right];
            s[right] += sum;
        }
    }
    __syncthreads();
    y[base + 2 * t] = s[2 * t];
    y[base + 2 * t + 1] = s[2 * t + 1];
}
