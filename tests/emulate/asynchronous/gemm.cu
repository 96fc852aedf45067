// C (m x n) = A (m x k) B (n x k)^T: a warp loads tiles by tensor maps, a warp group multiplies them.
#include "hopper.cuh"

constexpr int kStages = 4, kTile = 64;

extern "C" __global__ void __launch_bounds__(160)
    gemm(const __grid_constant__ TensorMap A, const __grid_constant__ TensorMap B, float* C, int n, int k) {
    extern __shared__ __align__(1024) char buffers[];
    __shared__ uint64_t full[kStages], empty[kStages];
    __half *a = reinterpret_cast<__half*>(buffers), *b = a + kStages * kTile * kTile;
    if (threadIdx.x == 0)
        for (int s = 0; s < kStages; ++s) make_barrier(full + s, 1), make_barrier(empty + s, 128);
    __syncthreads();
    if (threadIdx.x == 128) {
        for (int i = 0, s = 0, parity = 1; i < k / kTile; ++i) {
            await_phase(empty + s, parity);
            arrive_expecting(full + s, 2 * kTile * kTile * sizeof(__half));
            load_box(a + s * kTile * kTile, &A, full + s, i * kTile, blockIdx.y * kTile);
            load_box(b + s * kTile * kTile, &B, full + s, i * kTile, blockIdx.x * kTile);
            if (++s == kStages) s = 0, parity ^= 1;
        }
    } else if (threadIdx.x < 128) {
        float d[32] = {};
        for (int i = 0, s = 0, parity = 0; i < k / kTile; ++i) {
            await_phase(full + s, parity);
            asm volatile("wgmma.fence.sync.aligned;");
            for (int j = 0; j < 4; ++j)
                multiply(d, descriptor(a + s * kTile * kTile) + 2 * j, descriptor(b + s * kTile * kTile) + 2 * j);
            asm volatile("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;");
            arrive(empty + s);
            if (++s == kStages) s = 0, parity ^= 1;
        }
        const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
        for (int j = 0; j < 8; ++j)
            for (int h = 0; h < 2; ++h) {
                const int row = blockIdx.y * kTile + warp * 16 + lane / 4 + 8 * h;
                float* c = C + size_t(row) * n + blockIdx.x * kTile + j * 8 + lane % 4 * 2;
                c[0] = d[j * 4 + h * 2];
                c[1] = d[j * 4 + h * 2 + 1];
            }
    }
}
