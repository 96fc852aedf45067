// One step of Batcher's odd-even merge of the two sorted halves of an array, in place: compare keys `distance` apart
// and exchange. One thread a pair; limited by DRAM or L2, a pass over the array a step.
extern "C" __global__ void sort_odd_even_merge(int n, int distance, unsigned *keys)
{
    int pair = blockIdx.x * blockDim.x + threadIdx.x;
    int first = distance == n / 2 ? 0 : distance;
    int at = first + pair / distance * 2 * distance + pair % distance;
    if (at + distance >= n)
        return;
    unsigned a = keys[at], b = keys[at + distance];
    if (a > b) {
        keys[at] = b;
        keys[at + distance] = a;
    }
}
