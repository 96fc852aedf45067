// Counts subsets with a given sum: a thread fixes the first items by its number and counts up through masks of the
// others, skipping all masks with a prefix that is too heavy already or can no longer be heavy enough.
// Limited by divergence and integer arithmetic.
__constant__ int weights[48];

extern "C" __global__ void subset_sum(int items, int fixed, int target, unsigned long long *count)
{
    unsigned number = blockIdx.x * blockDim.x + threadIdx.x;
    if (number >> fixed)
        return;
    int start = 0, all = 0;
    for (int i = 0; i < fixed; ++i)
        start += number >> i & 1 ? weights[i] : 0;
    for (int i = fixed; i < items; ++i)
        all += weights[i];
    const int others = items - fixed;
    unsigned found = 0;
    for (unsigned mask = 0; mask >> others == 0;) {
        int sum = start, rest = all, bit = others;  // bits below `bit` are undecided and weigh `rest`
        while (bit > 0 && sum <= target && sum + rest >= target) {
            --bit;
            int weight = weights[fixed + others - 1 - bit];
            rest -= weight;
            sum += mask >> bit & 1 ? weight : 0;
        }
        found += bit == 0 && sum == target;
        mask = ((mask >> bit) + 1) << bit;
    }
    if (found > 0)
        atomicAdd(count, (unsigned long long)found);
}
