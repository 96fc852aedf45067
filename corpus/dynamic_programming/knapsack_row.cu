// 0/1 knapsack, one item per launch, one thread per capacity: take the item or leave it.
// Two reads and one write per thread, one of the reads shifted by the item's weight: bound by memory bandwidth.
extern "C" __global__ void knapsack_row(int capacities, int weight, int worth, const int *__restrict__ without,
                                        int *__restrict__ best)
{
    int capacity = blockIdx.x * blockDim.x + threadIdx.x;
    if (capacity >= capacities)
        return;
    int value = without[capacity];
    if (capacity >= weight)
        value = max(value, without[capacity - weight] + worth);
    best[capacity] = value;
}
