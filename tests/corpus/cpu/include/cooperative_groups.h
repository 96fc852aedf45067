// Stands in for CUDA's header of this name: blocks, tiles of a warp, coalesced groups of one thread.
#pragma once

namespace cooperative_groups {

struct thread_block {
    void sync(CPU_LINE) const { __syncthreads(line); }
    static unsigned thread_rank() {
        return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    }
    static unsigned size() { return blockDim.x * blockDim.y * blockDim.z; }
    static unsigned num_threads() { return size(); }
    static uint3 thread_index() { return threadIdx; }
    static uint3 group_index() { return blockIdx; }
    static dim3 dim_threads() { return blockDim; }
    static dim3 group_dim() { return blockDim; }
};
inline thread_block this_thread_block() { return {}; }

template <unsigned N, class Parent = void> struct thread_block_tile {
    static_assert(N >= 1 && N <= 32 && (N & (N - 1)) == 0, "tiles are powers of two up to a warp");
    static unsigned first() { return cpu::lane() & ~(N - 1); }
    static unsigned mask() { return (N == 32 ? ~0u : (1u << N % 32) - 1) << first(); }
    static unsigned thread_rank() { return cpu::lane() & (N - 1); }
    static constexpr unsigned size() { return N; }
    static constexpr unsigned num_threads() { return N; }
    static unsigned meta_group_rank() { return thread_block::thread_rank() / N; }
    static unsigned meta_group_size() { return (thread_block::size() + N - 1) / N; }
    void sync(CPU_LINE) const { __syncwarp(mask(), line); }
    template <class T> T shfl(T v, int source, CPU_LINE) const { return __shfl_sync(mask(), v, source, N, line); }
    template <class T> T shfl_up(T v, unsigned by, CPU_LINE) const { return __shfl_up_sync(mask(), v, by, N, line); }
    template <class T> T shfl_down(T v, unsigned by, CPU_LINE) const {
        return __shfl_down_sync(mask(), v, by, N, line);
    }
    template <class T> T shfl_xor(T v, int lanes, CPU_LINE) const { return __shfl_xor_sync(mask(), v, lanes, N, line); }
    int any(int p, CPU_LINE) const { return __any_sync(mask(), p, line); }
    int all(int p, CPU_LINE) const { return __all_sync(mask(), p, line); }
    unsigned ballot(int p, CPU_LINE) const { return __ballot_sync(mask(), p, line) >> first(); }
    template <class T> unsigned match_any(T v, CPU_LINE) const { return __match_any_sync(mask(), v, line) >> first(); }
};
template <unsigned N, class G> thread_block_tile<N, G> tiled_partition(const G &) { return {}; }

using coalesced_group = thread_block_tile<1>;
inline coalesced_group coalesced_threads() { return {}; }

template <class G> void sync(const G &group, CPU_LINE) { group.sync(line); }

}  // namespace cooperative_groups
