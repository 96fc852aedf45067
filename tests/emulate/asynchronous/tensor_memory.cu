// D (128 x 64) = A (128 x 64) B (64 x 64)^T in tensor memory: tiles by tensor maps, one thread multiplies.
#include "hopper.cuh"

constexpr int kRows = 128, kColumns = 64, kDepth = 64;

// Rows of 128 bytes, swizzled, eight after the other; version 1.
__device__ inline uint64_t tile_descriptor(const void* matrix) {
    return (shared_address(matrix) & 0x3ffff) >> 4 | uint64_t{1} << 16 | uint64_t{64} << 32 | uint64_t{1} << 46 |
           uint64_t{2} << 61;
}

extern "C" __global__ void __launch_bounds__(128)
    multiply(const __grid_constant__ TensorMap A, const __grid_constant__ TensorMap B, float* D) {
    extern __shared__ __align__(1024) char buffers[];
    __shared__ uint64_t full, done;
    __shared__ uint32_t columns;
    char *a = buffers, *b = buffers + kRows * kDepth * 2;
    if (threadIdx.x < 32) {
        asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], 64;" ::"r"(
            shared_address(&columns)));
        asm volatile("tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;");
    }
    if (threadIdx.x == 0) make_barrier(&full, 1), make_barrier(&done, 1);
    __syncthreads();
    const uint32_t sums = columns;
    if (threadIdx.x == 0) {
        arrive_expecting(&full, (kRows + kColumns) * kDepth * 2);
        load_box(a, &A, &full, 0, 0);
        load_box(b, &B, &full, 0, 0);
        await_phase(&full, 0);
        const uint32_t kind = 1 << 4 | kColumns / 8 << 17 | kRows / 16 << 24;  // 32-bit sums of f16
        for (int k = 0; k < kDepth / 16; ++k)
            asm volatile(
                "{ .reg .pred p; setp.ne.b32 p, %4, 0; tcgen05.mma.cta_group::1.kind::f16 [%0], %1, %2, %3, p; }" ::"r"(
                    sums),
                "l"(tile_descriptor(a) + 2 * k), "l"(tile_descriptor(b) + 2 * k), "r"(kind), "r"(k)
                : "memory");
        asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(
            shared_address(&done)));
    }
    await_phase(&done, 0);
    for (int column = 0; column < kColumns; column += 4) {
        uint32_t d[4];
        asm volatile("tcgen05.ld.sync.aligned.32x32b.x4.b32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
                     : "r"(sums + column + (threadIdx.x / 32 << 21)));
        asm volatile("tcgen05.wait::ld.sync.aligned;");
        for (int j = 0; j < 4; ++j) D[threadIdx.x * kColumns + column + j] = __uint_as_float(d[j]);
    }
    __syncthreads();
    if (threadIdx.x < 32)
        asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, 64;" ::"r"(sums));
}
