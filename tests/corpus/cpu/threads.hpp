// Where a thread is, and how it meets others: block barriers, warp shuffles, votes, matches, reductions.
#pragma once

#include <type_traits>

// Set by the runtime whenever it resumes a thread. Inline, not static, so that the compiler must expect
// every call to change them.
inline uint3 threadIdx, blockIdx;
inline dim3 blockDim, gridDim;
constexpr int warpSize = 32;

namespace cpu {

enum class Vote { none, count, all, any };
int barrier(Vote vote, int predicate, int line);

enum class Op {
    sync, shuffle, shuffle_up, shuffle_down, shuffle_xor, ballot, match_any, match_all,
    add, min_signed, max_signed, min_unsigned, max_unsigned, bit_and, bit_or, bit_xor,
};
// Waits for all lanes of `mask` to come with the same operation from the same line; returns this lane's result.
uint64_t warp(Op op, unsigned mask, uint64_t value, int operand, int width, int line);
unsigned lane();
void yield();
[[noreturn]] void fail(const char *what);

template <class T> T shuffle(Op op, unsigned mask, T value, int operand, int width, int line) {
    static_assert(sizeof(T) <= 8, "a shuffle moves at most eight bytes");
    uint64_t bits = 0;
    memcpy(&bits, &value, sizeof(T));
    bits = warp(op, mask, bits, operand, width, line);
    memcpy(&value, &bits, sizeof(T));
    return value;
}

template <class T> uint64_t bits_of(T value) {
    uint64_t bits = 0;
    memcpy(&bits, &value, sizeof(T));
    return bits;
}

}  // namespace cpu

#define CPU_LINE int line = __builtin_LINE()

inline void __syncthreads(CPU_LINE) { cpu::barrier(cpu::Vote::none, 0, line); }
inline int __syncthreads_count(int p, CPU_LINE) { return cpu::barrier(cpu::Vote::count, p, line); }
inline int __syncthreads_and(int p, CPU_LINE) { return cpu::barrier(cpu::Vote::all, p, line); }
inline int __syncthreads_or(int p, CPU_LINE) { return cpu::barrier(cpu::Vote::any, p, line); }
inline void __syncwarp(unsigned mask = ~0u, CPU_LINE) { cpu::warp(cpu::Op::sync, mask, 0, 0, 32, line); }

template <class T> T __shfl_sync(unsigned mask, T v, int source, int width = 32, CPU_LINE) {
    return cpu::shuffle(cpu::Op::shuffle, mask, v, source, width, line);
}
template <class T> T __shfl_up_sync(unsigned mask, T v, unsigned delta, int width = 32, CPU_LINE) {
    return cpu::shuffle(cpu::Op::shuffle_up, mask, v, int(delta), width, line);
}
template <class T> T __shfl_down_sync(unsigned mask, T v, unsigned delta, int width = 32, CPU_LINE) {
    return cpu::shuffle(cpu::Op::shuffle_down, mask, v, int(delta), width, line);
}
template <class T> T __shfl_xor_sync(unsigned mask, T v, int lanes, int width = 32, CPU_LINE) {
    return cpu::shuffle(cpu::Op::shuffle_xor, mask, v, lanes, width, line);
}

inline unsigned __ballot_sync(unsigned mask, int p, CPU_LINE) {
    return unsigned(cpu::warp(cpu::Op::ballot, mask, p != 0, 0, 32, line));
}
inline int __any_sync(unsigned mask, int p, CPU_LINE) { return __ballot_sync(mask, p, line) != 0; }
inline int __all_sync(unsigned mask, int p, CPU_LINE) { return __ballot_sync(mask, !p, line) == 0; }
// Which lanes run together is the hardware's choice; the lane alone is always a right answer.
inline unsigned __activemask() { return 1u << cpu::lane(); }

template <class T> unsigned __match_any_sync(unsigned mask, T v, CPU_LINE) {
    return unsigned(cpu::warp(cpu::Op::match_any, mask, cpu::bits_of(v), 0, 32, line));
}
template <class T> unsigned __match_all_sync(unsigned mask, T v, int *same, CPU_LINE) {
    unsigned lanes = unsigned(cpu::warp(cpu::Op::match_all, mask, cpu::bits_of(v), 0, 32, line));
    *same = lanes != 0;
    return lanes;
}

template <class T> T __reduce_add_sync(unsigned mask, T v, CPU_LINE) {
    return T(cpu::warp(cpu::Op::add, mask, uint64_t(v), 0, 32, line));
}
template <class T> T __reduce_min_sync(unsigned mask, T v, CPU_LINE) {
    auto op = std::is_signed_v<T> ? cpu::Op::min_signed : cpu::Op::min_unsigned;
    return T(cpu::warp(op, mask, uint64_t(v), 0, 32, line));
}
template <class T> T __reduce_max_sync(unsigned mask, T v, CPU_LINE) {
    auto op = std::is_signed_v<T> ? cpu::Op::max_signed : cpu::Op::max_unsigned;
    return T(cpu::warp(op, mask, uint64_t(v), 0, 32, line));
}
inline unsigned __reduce_and_sync(unsigned mask, unsigned v, CPU_LINE) {
    return unsigned(cpu::warp(cpu::Op::bit_and, mask, v, 0, 32, line));
}
inline unsigned __reduce_or_sync(unsigned mask, unsigned v, CPU_LINE) {
    return unsigned(cpu::warp(cpu::Op::bit_or, mask, v, 0, 32, line));
}
inline unsigned __reduce_xor_sync(unsigned mask, unsigned v, CPU_LINE) {
    return unsigned(cpu::warp(cpu::Op::bit_xor, mask, v, 0, 32, line));
}

// Threads take turns only at meeting points, so every thread sees every write in order.
inline void __threadfence() { cpu::yield(); }
inline void __threadfence_block() { cpu::yield(); }
inline void __threadfence_system() { cpu::yield(); }
inline void __nanosleep(unsigned) { cpu::yield(); }
[[noreturn]] inline void __trap() { cpu::fail("__trap was reached"); }
