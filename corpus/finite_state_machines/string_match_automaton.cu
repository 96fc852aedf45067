// Counts occurrences of a pattern: every thread runs a chunk of the text, and what overlaps the next, through the
// pattern's automaton, whose table stands in dynamic shared memory.
// Limited by the latency of a shared-memory load per byte and by uncoalesced byte loads.
extern "C" __global__ void string_match_automaton(int n, int length, int chunk, const unsigned char *__restrict__ text,
                                                  const unsigned char *__restrict__ table, unsigned *matches)
{
    extern __shared__ unsigned char next_state[];
    for (int i = threadIdx.x; i < (length + 1) * 256; i += blockDim.x)
        next_state[i] = table[i];
    __syncthreads();
    int start = (blockIdx.x * blockDim.x + threadIdx.x) * chunk, end = min(start + chunk + length - 1, n);
    int state = 0;
    unsigned count = 0;
    for (int i = start; i < end; ++i) {
        state = next_state[state * 256 + text[i]];
        count += state == length;
    }
    if (count > 0)
        atomicAdd(matches, count);
}
