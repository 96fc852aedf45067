// Embedding bag: out[b] = sum of table rows id[offset[b]] ... id[offset[b + 1] - 1], one block per bag, a
// thread per column. Dependent loads (index, then row) and bags of uneven length: limited by memory latency
// and the longest bags.
extern "C" __global__ void embedding_bag(int dim, const int *__restrict__ offset, const int *__restrict__ id,
                                         const float *__restrict__ table, float *__restrict__ out) {
    int first = offset[blockIdx.x];
    int last = offset[blockIdx.x + 1];
    for (int col = threadIdx.x; col < dim; col += blockDim.x) {
        float sum = 0.0f;
        for (int i = first; i < last; ++i) {
            sum += table[static_cast<size_t>(id[i]) * dim + col];
        }
        out[static_cast<size_t>(blockIdx.x) * dim + col] = sum;
    }
}
