// Steps of Collatz's sequence from consecutive numbers down to one: neighbouring lanes loop differently often.
// Limited by divergence and 64-bit integer arithmetic.
extern "C" __global__ void branching_loops(int n, unsigned long long start, int *__restrict__ steps)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned long long value = start + i;
    int count = 0;
    while (value != 1) {
        value = value % 2 == 0 ? value / 2 : 3 * value + 1;
        ++count;
    }
    steps[i] = count;
}
