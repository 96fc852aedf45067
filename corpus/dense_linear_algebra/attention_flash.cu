// Attention softmax(scale Q K^T) V in one kernel without the score matrix, head size 64, blockIdx.y the head. A thread
// owns a query; tiles of 16 keys and values stream through shared memory, and sums are rescaled when the maximum grows.
// n is a multiple of 16. Query and output live in registers: limited by arithmetic at low occupancy.
constexpr int DIM = 64;
constexpr int KEYS = 16;

__device__ __forceinline__ float4 scaled_add(float4 sum, float a, float4 v) {
    return make_float4(sum.x + a * v.x, sum.y + a * v.y, sum.z + a * v.z, sum.w + a * v.w);
}

__device__ __forceinline__ float4 times(float4 v, float a) {
    return make_float4(v.x * a, v.y * a, v.z * a, v.w * a);
}

extern "C" __global__ void __launch_bounds__(128)
    attention_flash(int n, float scale, const float *__restrict__ Q, const float *__restrict__ K,
                    const float *__restrict__ V, float *__restrict__ O) {
    __shared__ float4 keys[KEYS][DIM / 4];
    __shared__ float4 values[KEYS][DIM / 4];
    size_t head = static_cast<size_t>(blockIdx.y) * n * (DIM / 4);
    const float4 *k_head = reinterpret_cast<const float4 *>(K) + head;
    const float4 *v_head = reinterpret_cast<const float4 *>(V) + head;
    int query = blockIdx.x * blockDim.x + threadIdx.x;
    bool active = query < n;
    size_t own = head + (active ? query : 0) * (DIM / 4);

    float4 q[DIM / 4];
    float4 out[DIM / 4];
#pragma unroll
    for (int i = 0; i < DIM / 4; ++i) {
        q[i] = times(reinterpret_cast<const float4 *>(Q)[own + i], scale);
        out[i] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    }
    float largest = -INFINITY;
    float sum = 0.0f;

    for (int start = 0; start < n; start += KEYS) {
        __syncthreads();
        for (int i = threadIdx.x; i < KEYS * DIM / 4; i += blockDim.x) {
            keys[i / (DIM / 4)][i % (DIM / 4)] = k_head[start * (DIM / 4) + i];
            values[i / (DIM / 4)][i % (DIM / 4)] = v_head[start * (DIM / 4) + i];
        }
        __syncthreads();

        float score[KEYS];
        float tile_largest = largest;
#pragma unroll
        for (int j = 0; j < KEYS; ++j) {
            float dot = 0.0f;
#pragma unroll
            for (int i = 0; i < DIM / 4; ++i) {
                float4 k = keys[j][i];
                dot += q[i].x * k.x + q[i].y * k.y + q[i].z * k.z + q[i].w * k.w;
            }
            score[j] = dot;
            tile_largest = fmaxf(tile_largest, dot);
        }
        float correction = __expf(largest - tile_largest);  // 0 for the first tile
        largest = tile_largest;
        sum *= correction;
#pragma unroll
        for (int i = 0; i < DIM / 4; ++i) {
            out[i] = times(out[i], correction);
        }
#pragma unroll
        for (int j = 0; j < KEYS; ++j) {
            float weight = __expf(score[j] - largest);
            sum += weight;
#pragma unroll
            for (int i = 0; i < DIM / 4; ++i) {
                out[i] = scaled_add(out[i], weight, values[j][i]);
            }
        }
    }
    if (active) {
        float inverse = 1.0f / sum;
#pragma unroll
        for (int i = 0; i < DIM / 4; ++i) {
            reinterpret_cast<float4 *>(O)[own + i] = times(out[i], inverse);
        }
    }
}
