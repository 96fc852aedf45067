// Attention softmax(scale Q K^T) V in three launches with the n x n scores of every head in memory;
// blockIdx.z is the head. Scores and values are naive products limited by the load path, the row softmax in
// between by memory bandwidth.
extern "C" __global__ void attention_scores(int n, int d, float scale, const float *__restrict__ Q,
                                            const float *__restrict__ K, float *__restrict__ S) {
    int key = blockIdx.x * blockDim.x + threadIdx.x;
    int query = blockIdx.y * blockDim.y + threadIdx.y;
    if (key >= n || query >= n) {
        return;
    }
    const float *q = Q + (blockIdx.z * n + query) * d;
    const float *k = K + (blockIdx.z * n + key) * d;
    float sum = 0.0f;
    for (int i = 0; i < d; ++i) {
        sum += q[i] * k[i];
    }
    S[(static_cast<size_t>(blockIdx.z) * n + query) * n + key] = scale * sum;
}

// In place, one warp per row of S; a row per (head, query).
extern "C" __global__ void attention_softmax(int rows, int n, float *__restrict__ S) {
    int lane = threadIdx.x % 32;
    int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    if (row >= rows) {
        return;
    }
    float *s = S + static_cast<size_t>(row) * n;
    float largest = -INFINITY;
    for (int c = lane; c < n; c += 32) {
        largest = fmaxf(largest, s[c]);
    }
    for (int offset = 16; offset > 0; offset /= 2) {
        largest = fmaxf(largest, __shfl_xor_sync(0xffffffff, largest, offset));
    }
    float sum = 0.0f;
    for (int c = lane; c < n; c += 32) {
        sum += expf(s[c] - largest);
    }
    for (int offset = 16; offset > 0; offset /= 2) {
        sum += __shfl_xor_sync(0xffffffff, sum, offset);
    }
    for (int c = lane; c < n; c += 32) {
        s[c] = expf(s[c] - largest) / sum;
    }
}

extern "C" __global__ void attention_values(int n, int d, const float *__restrict__ S, const float *__restrict__ V,
                                            float *__restrict__ O) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int query = blockIdx.y * blockDim.y + threadIdx.y;
    if (column >= d || query >= n) {
        return;
    }
    const float *s = S + (static_cast<size_t>(blockIdx.z) * n + query) * n;
    const float *v = V + blockIdx.z * n * d + column;
    float sum = 0.0f;
    for (int key = 0; key < n; ++key) {
        sum += s[key] * v[key * d];
    }
    O[(blockIdx.z * n + query) * d + column] = sum;
}
