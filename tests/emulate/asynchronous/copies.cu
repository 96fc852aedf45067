// Copies by the tensor memory accelerator, each on its own.
#include "hopper.cuh"

// A box of a tensor to shared memory, as it lies there to `out`.
__device__ void load_and_show(const TensorMap* map, int4* out, int x, int y, int bytes) {
    extern __shared__ __align__(1024) int4 box[];
    __shared__ uint64_t barrier;
    if (threadIdx.x == 0) {
        make_barrier(&barrier, 1);
        arrive_expecting(&barrier, bytes);
        load_box(box, map, &barrier, x, y);
    }
    __syncthreads();
    await_phase(&barrier, 0);
    for (int i = threadIdx.x; i < bytes / 16; i += blockDim.x) out[i] = box[i];
}

extern "C" __global__ void load_one_box(const __grid_constant__ TensorMap map, int4* out, int x, int y, int bytes) {
    load_and_show(&map, out, x, y, bytes);
}

extern "C" __global__ void load_box_by_pointer(const TensorMap* map, int4* out, int x, int y, int bytes) {
    load_and_show(map, out, x, y, bytes);
}

// A box of a tensor from shared memory, or added to it.
extern "C" __global__ void store_one_box(const __grid_constant__ TensorMap map, const int4* in, int x, int y,
                                         int bytes, int add) {
    extern __shared__ __align__(1024) int4 box[];
    for (int i = threadIdx.x; i < bytes / 16; i += blockDim.x) box[i] = in[i];
    asm volatile("fence.proxy.async;");
    __syncthreads();
    if (threadIdx.x != 0) return;
    const uint32_t from = shared_address(box);
    if (add)
        asm volatile(
            "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%1, {%2, %3}], [%0];" ::"r"(from),
            "l"(&map), "r"(x), "r"(y));
    else
        asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%1, {%2, %3}], [%0];" ::"r"(from),
                     "l"(&map), "r"(x), "r"(y));
    asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;");
}

// out = 2 in, by pieces of 1 KB that one thread loads and stores.
extern "C" __global__ void twice(const float* in, float* out, int pieces) {
    constexpr int kPiece = 256, kStages = 2;
    __shared__ __align__(128) float buffer[kStages][kPiece];
    __shared__ uint64_t full[kStages];
    if (threadIdx.x == 0)
        for (int s = 0; s < kStages; ++s) make_barrier(full + s, 1);
    __syncthreads();
    for (int i = 0; i < pieces; ++i) {
        const int s = i % kStages, at = (blockIdx.x * pieces + i) * kPiece;
        if (threadIdx.x == 0) {
            arrive_expecting(full + s, sizeof buffer[s]);
            asm volatile(
                "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                    shared_address(buffer[s])),
                "l"(in + at), "r"(uint32_t(sizeof buffer[s])), "r"(shared_address(full + s))
                : "memory");
        }
        await_phase(full + s, i / kStages % 2);
        for (int j = threadIdx.x; j < kPiece; j += blockDim.x) buffer[s][j] *= 2;
        asm volatile("fence.proxy.async.shared::cta;");
        __syncthreads();
        if (threadIdx.x == 0)
            asm volatile(
                "cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2; cp.async.bulk.commit_group; "
                "cp.async.bulk.wait_group 0;" ::"l"(out + at),
                "r"(shared_address(buffer[s])), "r"(uint32_t(sizeof buffer[s]))
                : "memory");
        __syncthreads();
    }
}
