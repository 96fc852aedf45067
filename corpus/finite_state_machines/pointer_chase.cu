// Every thread follows the links of one random cycle through an array, starting at places spread evenly.
// Limited by the latency of whichever cache holds the array.
extern "C" __global__ void pointer_chase(int n, int walkers, int steps, const int *__restrict__ next,
                                         int *__restrict__ end)
{
    int walker = blockIdx.x * blockDim.x + threadIdx.x;
    if (walker >= walkers)
        return;
    int at = walker * (n / walkers);
    for (int step = 0; step < steps; ++step)
        at = next[at];
    end[walker] = at;
}
