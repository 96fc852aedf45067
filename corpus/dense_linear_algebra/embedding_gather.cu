// Embedding lookup: out[token] = table[id[token]], one block per token, 16 bytes per thread and trip; dim is
// a multiple of 4. Rows at random places, each contiguous: limited by memory bandwidth.
extern "C" __global__ void embedding_gather(int dim, const int *__restrict__ id, const float *__restrict__ table,
                                            float *__restrict__ out) {
    int vectors = dim / 4;
    const float4 *from = reinterpret_cast<const float4 *>(table) + static_cast<size_t>(id[blockIdx.x]) * vectors;
    float4 *to = reinterpret_cast<float4 *>(out) + static_cast<size_t>(blockIdx.x) * vectors;
    for (int i = threadIdx.x; i < vectors; i += blockDim.x) {
        to[i] = from[i];
    }
}
