// What random kernels and their twins on the processor are made of: operations that are defined for all
// operands (after csmith's safe wrappers), checksums of a thread's whole state, and what warps do together,
// once as the device does it and once over an array of the warp's values.
#pragma once

#include <cuda_fp16.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

#define BOTH __host__ __device__
#define INLINE BOTH static __forceinline__

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using i32 = std::int32_t;
using i64 = std::int64_t;
using f32 = float;
using f64 = double;

template <typename To, typename From>
INLINE To bit_cast(From from) {
    static_assert(sizeof(To) == sizeof(From));
    To to;
    memcpy(&to, &from, sizeof to);
    return to;
}

// A half as its bits, so that both sides hold the same type.
struct f16 {
    u16 bits;
};

// The bits of numbers; all NaN are one.
INLINE u32 bits(f32 x) { return x != x ? 0x7fffffffu : bit_cast<u32>(x); }
INLINE u64 bits(f64 x) { return x != x ? 0x7fffffffffffffffull : bit_cast<u64>(x); }
INLINE u32 bits(f16 x) { return (x.bits & 0x7fffu) > 0x7c00u ? 0x7fffu : x.bits; }

INLINE f32 widen(f16 x) { return __half2float(bit_cast<__half>(x.bits)); }
INLINE f16 narrow(f32 x) { return {bit_cast<u16>(__float2half_rn(x))}; }
#ifdef __CUDA_ARCH__
#define HALF(name, device, host)                                                              \
    INLINE f16 name(f16 a, f16 b) {                                                           \
        return {bit_cast<u16>(device(bit_cast<__half>(a.bits), bit_cast<__half>(b.bits)))};   \
    }
#else
#define HALF(name, device, host) \
    INLINE f16 name(f16 a, f16 b) { return narrow(widen(a) host widen(b)); }
#endif
HALF(add, __hadd_rn, +)
HALF(sub, __hsub_rn, -)
HALF(mul, __hmul_rn, *)

INLINE u32 divide(u32 a, u32 b) { return b ? a / b : a; }
INLINE u64 divide(u64 a, u64 b) { return b ? a / b : a; }
INLINE u32 rest(u32 a, u32 b) { return b ? a % b : a; }
INLINE u64 rest(u64 a, u64 b) { return b ? a % b : a; }
INLINE i32 divide(i32 a, i32 b) { return b == 0 || (a == INT32_MIN && b == -1) ? a : a / b; }
INLINE i64 divide(i64 a, i64 b) { return b == 0 || (a == INT64_MIN && b == -1) ? a : a / b; }
INLINE i32 rest(i32 a, i32 b) { return b == 0 || (a == INT32_MIN && b == -1) ? a : a % b; }
INLINE i64 rest(i64 a, i64 b) { return b == 0 || (a == INT64_MIN && b == -1) ? a : a % b; }
INLINE i32 add(i32 a, i32 b) { return (i32)((u32)a + (u32)b); }
INLINE i64 add(i64 a, i64 b) { return (i64)((u64)a + (u64)b); }
INLINE i32 sub(i32 a, i32 b) { return (i32)((u32)a - (u32)b); }
INLINE i64 sub(i64 a, i64 b) { return (i64)((u64)a - (u64)b); }
INLINE i32 mul(i32 a, i32 b) { return (i32)((u32)a * (u32)b); }
INLINE i64 mul(i64 a, i64 b) { return (i64)((u64)a * (u64)b); }
INLINE u32 shl(u32 a, u32 n) { return a << (n & 31); }
INLINE u64 shl(u64 a, u32 n) { return a << (n & 63); }
INLINE u32 shr(u32 a, u32 n) { return a >> (n & 31); }
INLINE u64 shr(u64 a, u32 n) { return a >> (n & 63); }
INLINE i32 shr(i32 a, u32 n) { return a >> (n & 31); }
INLINE i64 shr(i64 a, u32 n) { return a >> (n & 63); }
template <typename T>
INLINE T least(T a, T b) { return b < a ? b : a; }
template <typename T>
INLINE T most(T a, T b) { return a < b ? b : a; }
template <typename T>
INLINE T pick(bool which, T a, T b) { return which ? a : b; }

// Numbers to integers: what does not fit becomes what does.
INLINE i32 to_i32(f32 x) { return x > -2e9f && x < 2e9f ? (i32)x : 7; }
INLINE u32 to_u32(f32 x) { return x > -0.5f && x < 4e9f ? (u32)x : 9; }
INLINE i64 to_i64(f64 x) { return x > -9e18 && x < 9e18 ? (i64)x : 11; }
INLINE u64 to_u64(f64 x) { return x > -0.5 && x < 1.8e19 ? (u64)x : 13; }

#ifdef __CUDA_ARCH__
INLINE u32 high(u32 a, u32 b) { return __umulhi(a, b); }
INLINE i32 high(i32 a, i32 b) { return __mulhi(a, b); }
INLINE u64 high(u64 a, u64 b) { return __umul64hi(a, b); }
INLINE u32 ones(u32 a) { return __popc(a); }
INLINE u32 ones(u64 a) { return __popcll(a); }
INLINE u32 zeros(u32 a) { return __clz(a); }
INLINE u32 zeros(u64 a) { return __clzll(a); }
INLINE u32 first(u32 a) { return __ffs(a); }
INLINE u32 reversed(u32 a) { return __brev(a); }
INLINE u32 permuted(u32 a, u32 b, u32 how) { return __byte_perm(a, b, how); }
INLINE u32 funnel(u32 low, u32 high, u32 n) { return __funnelshift_l(low, high, n); }
INLINE u32 distance(i32 a, i32 b, u32 c) { return __sad(a, b, c); }
INLINE i32 products(i32 a, i32 b, i32 c) { return __dp4a(a, b, c); }
INLINE u32 products(u32 a, u32 b, u32 c) { return __dp4a(a, b, c); }
INLINE u32 by_bytes(u32 a, u32 b) { return __vadd4(a, b); }
#else
INLINE u32 high(u32 a, u32 b) { return (u32)((u64)a * b >> 32); }
INLINE i32 high(i32 a, i32 b) { return (i32)((i64)a * b >> 32); }
INLINE u64 high(u64 a, u64 b) { return (u64)((unsigned __int128)a * b >> 64); }
INLINE u32 ones(u32 a) { return (u32)__builtin_popcount(a); }
INLINE u32 ones(u64 a) { return (u32)__builtin_popcountll(a); }
INLINE u32 zeros(u32 a) { return a ? (u32)__builtin_clz(a) : 32; }
INLINE u32 zeros(u64 a) { return a ? (u32)__builtin_clzll(a) : 64; }
INLINE u32 first(u32 a) { return (u32)__builtin_ffs((int)a); }
INLINE u32 reversed(u32 a) {
    u32 found = 0;
    for (int k = 0; k < 32; ++k) found |= (a >> k & 1) << (31 - k);
    return found;
}
INLINE u32 permuted(u32 a, u32 b, u32 how) {
    u64 both = (u64)b << 32 | a;
    u32 found = 0;
    for (int k = 0; k < 4; ++k) found |= (u32)(both >> 8 * (how >> 4 * k & 7) & 255) << 8 * k;
    return found;
}
INLINE u32 funnel(u32 low, u32 high, u32 n) { return (u32)(((u64)high << 32 | low) << (n & 31) >> 32); }
INLINE u32 distance(i32 a, i32 b, u32 c) { return (u32)(a < b ? (i64)b - a : (i64)a - b) + c; }
INLINE i32 products(i32 a, i32 b, i32 c) {
    for (int k = 0; k < 4; ++k) c = add(c, (i32)(std::int8_t)(a >> 8 * k) * (std::int8_t)(b >> 8 * k));
    return c;
}
INLINE u32 products(u32 a, u32 b, u32 c) {
    for (int k = 0; k < 4; ++k) c += (a >> 8 * k & 255) * (b >> 8 * k & 255);
    return c;
}
INLINE u32 by_bytes(u32 a, u32 b) {
    u32 found = 0;
    for (int k = 0; k < 4; ++k) found |= ((a >> 8 * k) + (b >> 8 * k) & 255) << 8 * k;
    return found;
}
#endif

// What a thread holds.
struct State {
    u32 a, b, c;
    i32 i, j;
    u64 p, q;
    i64 m;
    f32 x, y;
    f64 z;
    f16 h, g;
    u32 tid, block;
};

INLINE u64 mixed(u64 sum, u64 more) {
    sum = (sum ^ more) * 0x9e3779b97f4a7c15ull;
    return sum ^ sum >> 29;
}

INLINE u64 checksum(const State& s) {
    u64 sum = mixed(mixed(s.a, s.b), s.c);
    sum = mixed(mixed(sum, (u32)s.i), (u32)s.j);
    sum = mixed(mixed(mixed(sum, s.p), s.q), (u64)s.m);
    sum = mixed(mixed(mixed(sum, bits(s.x)), bits(s.y)), bits(s.z));
    return mixed(mixed(sum, bits(s.h)), bits(s.g));
}

constexpr u32 kInputs = 64, kOwn = 4, kTotals = 16;

// What a kernel gets: `zero` is 0, which no compiler knows; `own` has kOwn words a thread.
struct Given {
    const u32* input;
    u64* sums;
    u32* own;
    u32* totals;
    u64* wide;
    u32 zero;
};

INLINE State begun(const Given& g, u32 tid, u32 block) {
    u32 n = tid + 131 * block;
    u32 k = g.input[n % kInputs], l = g.input[(n * 7 + 5) % kInputs];
    State s{};
    s.a = k, s.b = l ^ n, s.c = n, s.i = (i32)(k * 3), s.j = (i32)l >> 7, s.p = (u64)k << 32 | l;
    s.q = (u64)l * k, s.m = -(i64)(k >> 3), s.x = (f32)(i32)k * 0.001f, s.y = (f32)n - 20.5f;
    s.z = (f64)(i32)l / 3.0, s.h = narrow((f32)(k & 255) * 0.25f), s.g = narrow((f32)n * -0.5f);
    s.tid = tid, s.block = block;
    return s;
}

struct Program {
    const char* name;
    u32 blocks, threads;
    void (*device)(u32 blocks, u32 threads, Given g);
    void (*host)(u32 blocks, u32 threads, Given g);
};

template <typename T>
int different(const Program& program, const char* what, const std::vector<T>& got, const std::vector<T>& want) {
    for (std::size_t k = 0; k < got.size(); ++k)
        if (got[k] != want[k]) {
            std::printf("%s MISMATCH %s[%zu]: %llx, not %llx\n", program.name, what, k, (unsigned long long)got[k],
                        (unsigned long long)want[k]);
            return 1;
        }
    return 0;
}

template <typename T>
T* copied(const std::vector<T>& from) {
    T* to = nullptr;
    cudaMalloc(&to, from.size() * sizeof(T));
    cudaMemcpy(to, from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice);
    return to;
}

template <typename T>
std::vector<T> back(T* from, std::size_t count) {
    std::vector<T> to(count);
    if (cudaError_t error = cudaMemcpy(to.data(), from, count * sizeof(T), cudaMemcpyDeviceToHost))
        std::printf("FAILED %s\n", cudaGetErrorString(error));
    cudaFree(from);
    return to;
}

inline int compared(const Program& program) {
    std::vector<u32> input(kInputs);
    u32 number = 12345;
    for (u32& one : input) one = number = number * 1664525u + 1013904223u;
    input[3] = 0, input[9] = ~0u, input[20] = 1;
    std::size_t threads = program.blocks * program.threads;
    std::vector<u64> sums(threads), wide(kTotals);
    std::vector<u32> own(threads * kOwn), totals(kTotals, 1);
    Given there{copied(input), copied(sums), copied(own), copied(totals), copied(wide), 0};
    program.device(program.blocks, program.threads, there);
    program.host(program.blocks, program.threads, {input.data(), sums.data(), own.data(), totals.data(), wide.data(), 0});
    bool wrong = different(program, "sums", back(there.sums, threads), sums) |
                 different(program, "own", back(there.own, threads * kOwn), own) |
                 different(program, "totals", back(there.totals, kTotals), totals) |
                 different(program, "wide", back(there.wide, kTotals), wide);
    if (!wrong) std::printf("%s same\n", program.name);
    return wrong;
}
