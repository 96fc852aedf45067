// Merges two sorted arrays: every element finds its place by binary search in the other array.
// Limited by the latency of dependent, diverging loads.
extern "C" __global__ void sort_merge_search(int m, int n, const unsigned *__restrict__ a,
                                             const unsigned *__restrict__ b, unsigned *__restrict__ merged)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= m + n)
        return;
    bool of_a = i < m;
    int own = of_a ? i : i - m;
    unsigned key = of_a ? a[own] : b[own];
    const unsigned *other = of_a ? b : a;
    int low = 0, high = of_a ? n : m;
    while (low < high) {
        int middle = (low + high) / 2;
        if (other[middle] < key || (!of_a && other[middle] == key))  // equal keys of a go first
            low = middle + 1;
        else
            high = middle;
    }
    merged[own + low] = key;
}
