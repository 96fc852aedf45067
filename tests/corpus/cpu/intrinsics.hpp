// Mathematical and bit functions that CUDA adds to those of <math.h>. Fast variants are as exact as plain ones.
#pragma once

#include <type_traits>

// Minimum and maximum of mixed arguments, NaN losing as in fminf.
template <class A, class B> constexpr std::common_type_t<A, B> min(A a, B b) {
    using T = std::common_type_t<A, B>;
    if constexpr (std::is_floating_point_v<T>) return T(a) < T(b) || T(b) != T(b) ? T(a) : T(b);
    else return T(b) < T(a) ? T(b) : T(a);
}
template <class A, class B> constexpr std::common_type_t<A, B> max(A a, B b) {
    using T = std::common_type_t<A, B>;
    if constexpr (std::is_floating_point_v<T>) return T(a) > T(b) || T(b) != T(b) ? T(a) : T(b);
    else return T(a) < T(b) ? T(b) : T(a);
}

inline float rsqrtf(float x) { return float(1.0 / sqrt(double(x))); }
inline double rsqrt(double x) { return 1.0 / sqrt(x); }
inline double rcbrt(double x) { return 1.0 / cbrt(x); }
inline float rcbrtf(float x) { return float(1.0 / cbrt(double(x))); }
inline double sinpi(double x) { return sin(M_PI * fmod(x, 2.0)); }
inline double cospi(double x) { return cos(M_PI * fmod(x, 2.0)); }
inline float sinpif(float x) { return float(sinpi(x)); }
inline float cospif(float x) { return float(cospi(x)); }
inline void sincospif(float x, float *s, float *c) { *s = sinpif(x), *c = cospif(x); }
inline void sincospi(double x, double *s, double *c) { *s = sinpi(x), *c = cospi(x); }
inline double normcdf(double x) { return 0.5 * erfc(-x * M_SQRT1_2); }
inline float normcdff(float x) { return float(normcdf(x)); }
inline float fdividef(float x, float y) { return x / y; }
inline float norm3df(float x, float y, float z) { return float(sqrt(double(x) * x + double(y) * y + double(z) * z)); }
inline float rnorm3df(float x, float y, float z) { return 1.0f / norm3df(x, y, z); }
inline double norm3d(double x, double y, double z) { return sqrt(x * x + y * y + z * z); }
inline float rhypotf(float x, float y) { return 1.0f / hypotf(x, y); }

inline float __expf(float x) { return expf(x); }
inline float __exp10f(float x) { return float(pow(10.0, double(x))); }
inline float __logf(float x) { return logf(x); }
inline float __log2f(float x) { return log2f(x); }
inline float __log10f(float x) { return log10f(x); }
inline float __sinf(float x) { return sinf(x); }
inline float __cosf(float x) { return cosf(x); }
inline float __tanf(float x) { return tanf(x); }
inline float __tanhf(float x) { return tanhf(x); }
inline void __sincosf(float x, float *s, float *c) { *s = sinf(x), *c = cosf(x); }
inline float __powf(float x, float y) { return powf(x, y); }
inline float __fdividef(float x, float y) { return x / y; }
inline float __saturatef(float x) { return x > 0 ? (x < 1 ? x : 1.0f) : 0.0f; }

#define CPU_ROUNDED(T, prefix)                                                                          \
    inline T __##prefix##add_rn(T a, T b) { return a + b; }                                             \
    inline T __##prefix##sub_rn(T a, T b) { return a - b; }                                             \
    inline T __##prefix##mul_rn(T a, T b) { return a * b; }                                             \
    inline T __##prefix##div_rn(T a, T b) { return a / b; }                                             \
    inline T __##prefix##rcp_rn(T a) { return T(1) / a; }                                               \
    inline T __##prefix##sqrt_rn(T a) { return sqrt(a); }
CPU_ROUNDED(float, f)
CPU_ROUNDED(double, d)
#undef CPU_ROUNDED
inline float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
inline double __fma_rn(double a, double b, double c) { return fma(a, b, c); }
inline float __frsqrt_rn(float a) { return rsqrtf(a); }

// Conversions: nearest, towards zero, down, up. Out of range they saturate and NaN becomes 0, as on the GPU.
namespace cpu {
template <class T, class S> T saturated(S x) {
    if (x != x) return 0;
    constexpr T low = std::is_signed_v<T> ? T(T(1) << (sizeof(T) * 8 - 1)) : T(0), high = T(~low);
    if (x <= S(low)) return low;
    return x >= S(high) ? high : T(x);
}
}  // namespace cpu
#define CPU_CONVERT(S, from, T, to)                                                                     \
    inline T __##from##2##to##_rn(S x) { return cpu::saturated<T>(rint(x)); }                           \
    inline T __##from##2##to##_rz(S x) { return cpu::saturated<T>(trunc(x)); }                          \
    inline T __##from##2##to##_rd(S x) { return cpu::saturated<T>(floor(x)); }                          \
    inline T __##from##2##to##_ru(S x) { return cpu::saturated<T>(ceil(x)); }                           \
    inline S __##to##2##from##_rn(T x) { return S(x); }
CPU_CONVERT(float, float, int, int)
CPU_CONVERT(float, float, unsigned, uint)
CPU_CONVERT(float, float, long long, ll)
CPU_CONVERT(float, float, unsigned long long, ull)
CPU_CONVERT(double, double, int, int)
CPU_CONVERT(double, double, unsigned, uint)
CPU_CONVERT(double, double, long long, ll)
CPU_CONVERT(double, double, unsigned long long, ull)
#undef CPU_CONVERT
inline float __double2float_rn(double x) { return float(x); }

namespace cpu {
template <class To, class From> To as(From from) {
    static_assert(sizeof(To) == sizeof(From));
    To to;
    memcpy(&to, &from, sizeof to);
    return to;
}
}  // namespace cpu
inline float __int_as_float(int x) { return cpu::as<float>(x); }
inline float __uint_as_float(unsigned x) { return cpu::as<float>(x); }
inline int __float_as_int(float x) { return cpu::as<int>(x); }
inline unsigned __float_as_uint(float x) { return cpu::as<unsigned>(x); }
inline double __longlong_as_double(long long x) { return cpu::as<double>(x); }
inline long long __double_as_longlong(double x) { return cpu::as<long long>(x); }
inline int __double2hiint(double x) { return int(__double_as_longlong(x) >> 32); }
inline int __double2loint(double x) { return int(__double_as_longlong(x)); }
inline double __hiloint2double(int high, int low) {
    return __longlong_as_double((long long)(uint64_t(uint32_t(high)) << 32 | uint32_t(low)));
}

inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __clz(int x) { return x ? __builtin_clz(unsigned(x)) : 32; }
inline int __clzll(long long x) { return x ? __builtin_clzll((unsigned long long)x) : 64; }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __ffsll(long long x) { return __builtin_ffsll(x); }
inline unsigned long long __brevll(unsigned long long x) {
    unsigned long long reversed = 0;
    for (int i = 0; i < 64; ++i) reversed |= (x >> i & 1) << (63 - i);
    return reversed;
}
inline unsigned __brev(unsigned x) { return unsigned(__brevll(x) >> 32); }
inline int __mulhi(int a, int b) { return int(int64_t(a) * b >> 32); }
inline unsigned __umulhi(unsigned a, unsigned b) { return unsigned(uint64_t(a) * b >> 32); }
inline long long __mul64hi(long long a, long long b) { return (long long)((__int128)a * b >> 64); }
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
    return (unsigned long long)((unsigned __int128)a * b >> 64);
}
inline int __mul24(int a, int b) { return (a << 8 >> 8) * (b << 8 >> 8); }
inline unsigned __umul24(unsigned a, unsigned b) { return (a & 0xffffff) * (b & 0xffffff); }
inline unsigned __sad(int a, int b, unsigned c) { return unsigned(llabs((long long)a - b)) + c; }
inline unsigned __usad(unsigned a, unsigned b, unsigned c) { return (a > b ? a - b : b - a) + c; }
inline int __hadd(int a, int b) { return int((int64_t(a) + b) >> 1); }
inline unsigned __uhadd(unsigned a, unsigned b) { return unsigned((uint64_t(a) + b) >> 1); }
inline unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
    uint64_t bytes = uint64_t(y) << 32 | x;
    unsigned result = 0;
    for (int i = 0; i < 4; ++i) {
        unsigned pick = selector >> (4 * i) & 0xf;
        unsigned byte = bytes >> (8 * (pick & 7)) & 0xff;
        result |= (pick & 8 ? (byte & 0x80 ? 0xffu : 0u) : byte) << (8 * i);  // bit 3 repeats the sign
    }
    return result;
}
inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned by) {
    return unsigned((uint64_t(high) << 32 | low) << (by & 31) >> 32);
}
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned by) {
    return unsigned((uint64_t(high) << 32 | low) >> (by & 31));
}
inline unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned by) {
    return by >= 32 ? low : __funnelshift_l(low, high, by);
}
inline unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned by) {
    return by >= 32 ? high : __funnelshift_r(low, high, by);
}

// Four 8-bit products added to c.
inline int __dp4a(int a, int b, int c) {
    for (int i = 0; i < 32; i += 8) c += int8_t(a >> i) * int8_t(b >> i);
    return c;
}
inline unsigned __dp4a(unsigned a, unsigned b, unsigned c) {
    for (int i = 0; i < 32; i += 8) c += unsigned(uint8_t(a >> i)) * uint8_t(b >> i);
    return c;
}

// Per-byte operations.
#define CPU_PER_BYTE(name, T, ...)                                                                      \
    inline unsigned name(unsigned x, unsigned y) {                                                      \
        unsigned result = 0;                                                                            \
        for (int i = 0; i < 32; i += 8) {                                                               \
            int a = T(x >> i), b = T(y >> i);                                                           \
            result |= unsigned(uint8_t(__VA_ARGS__)) << i;                                              \
        }                                                                                               \
        return result;                                                                                  \
    }
CPU_PER_BYTE(__vadd4, uint8_t, a + b)
CPU_PER_BYTE(__vsub4, uint8_t, a - b)
CPU_PER_BYTE(__vmaxu4, uint8_t, a > b ? a : b)
CPU_PER_BYTE(__vminu4, uint8_t, a < b ? a : b)
CPU_PER_BYTE(__vmaxs4, int8_t, a > b ? a : b)
CPU_PER_BYTE(__vmins4, int8_t, a < b ? a : b)
CPU_PER_BYTE(__vabsdiffu4, uint8_t, a > b ? a - b : b - a)
CPU_PER_BYTE(__vavgu4, uint8_t, (a + b + 1) >> 1)
CPU_PER_BYTE(__vaddus4, uint8_t, a + b > 255 ? 255 : a + b)
CPU_PER_BYTE(__vcmpeq4, uint8_t, a == b ? 255 : 0)
CPU_PER_BYTE(__vcmpgtu4, uint8_t, a > b ? 255 : 0)
CPU_PER_BYTE(__vcmpltu4, uint8_t, a < b ? 255 : 0)
#undef CPU_PER_BYTE

// Loads and stores with cache hints.
#define CPU_LOAD(name) template <class T> T name(const T *p) { return *p; }
#define CPU_STORE(name) template <class T> void name(T *p, T v) { *p = v; }
CPU_LOAD(__ldg) CPU_LOAD(__ldca) CPU_LOAD(__ldcg) CPU_LOAD(__ldcs) CPU_LOAD(__ldlu) CPU_LOAD(__ldcv)
CPU_STORE(__stwb) CPU_STORE(__stcg) CPU_STORE(__stcs) CPU_STORE(__stwt)
#undef CPU_LOAD
#undef CPU_STORE
