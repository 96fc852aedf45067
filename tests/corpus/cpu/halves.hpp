// half and bfloat16 as 16 bits each; every operation is done in float (fma in double) and rounded once.
#pragma once

namespace cpu {

struct Half {
    static float decode(uint16_t h) {
        unsigned exponent = h >> 10 & 31, fraction = h & 0x3ff;
        float magnitude = exponent == 0    ? ldexpf(float(fraction), -24)
                          : exponent == 31 ? (fraction ? NAN : INFINITY)
                                           : ldexpf(float(fraction | 0x400), int(exponent) - 25);
        return h & 0x8000 ? -magnitude : magnitude;
    }
    static uint16_t encode(float x) {
        uint16_t sign = signbit(x) ? 0x8000 : 0;
        float magnitude = fabsf(x);
        if (magnitude != magnitude) return 0x7fff;
        if (magnitude >= 65520.0f) return sign | 0x7c00;
        if (magnitude < 0x1p-14f) return sign | uint16_t(rintf(magnitude * 0x1p24f));  // may round up to a normal
        int exponent;
        float fraction = frexpf(magnitude, &exponent);  // in [0.5, 1)
        return sign | uint16_t(((exponent + 13) << 10) + int(rintf(fraction * 2048.0f)));  // a carry is right
    }
};

struct BFloat {
    static float decode(uint16_t b) { return as<float>(uint32_t(b) << 16); }
    static uint16_t encode(float x) {
        if (x != x) return 0x7fff;
        uint32_t bits = as<uint32_t>(x);
        return uint16_t((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
    }
};

template <class F> struct Small {
    uint16_t bits;
    Small() = default;
    template <class A, class = std::enable_if_t<std::is_arithmetic_v<A>>> Small(A a) : bits(F::encode(float(a))) {}
    operator float() const { return F::decode(bits); }
    Small operator-() const { return Small(-float(*this)); }
    Small &operator+=(Small b) { return *this = Small(float(*this) + float(b)); }
    Small &operator-=(Small b) { return *this = Small(float(*this) - float(b)); }
    Small &operator*=(Small b) { return *this = Small(float(*this) * float(b)); }
    Small &operator/=(Small b) { return *this = Small(float(*this) / float(b)); }
    friend Small operator+(Small a, Small b) { return Small(float(a) + float(b)); }
    friend Small operator-(Small a, Small b) { return Small(float(a) - float(b)); }
    friend Small operator*(Small a, Small b) { return Small(float(a) * float(b)); }
    friend Small operator/(Small a, Small b) { return Small(float(a) / float(b)); }
    friend bool operator<(Small a, Small b) { return float(a) < float(b); }
    friend bool operator>(Small a, Small b) { return float(a) > float(b); }
    friend bool operator<=(Small a, Small b) { return float(a) <= float(b); }
    friend bool operator>=(Small a, Small b) { return float(a) >= float(b); }
    friend bool operator==(Small a, Small b) { return float(a) == float(b); }
    friend bool operator!=(Small a, Small b) { return float(a) != float(b); }
};

template <class F> struct alignas(4) Small2 {
    Small<F> x, y;
    Small2() = default;
    Small2(Small<F> x, Small<F> y) : x(x), y(y) {}
    friend Small2 operator+(Small2 a, Small2 b) { return {a.x + b.x, a.y + b.y}; }
    friend Small2 operator-(Small2 a, Small2 b) { return {a.x - b.x, a.y - b.y}; }
    friend Small2 operator*(Small2 a, Small2 b) { return {a.x * b.x, a.y * b.y}; }
    friend Small2 operator/(Small2 a, Small2 b) { return {a.x / b.x, a.y / b.y}; }
    Small2 &operator+=(Small2 b) { return *this = *this + b; }
    Small2 &operator*=(Small2 b) { return *this = *this * b; }
};

}  // namespace cpu

using __half = cpu::Small<cpu::Half>;
using half = __half;
using __half2 = cpu::Small2<cpu::Half>;
using half2 = __half2;
using __nv_bfloat16 = cpu::Small<cpu::BFloat>;
using nv_bfloat16 = __nv_bfloat16;
using __nv_bfloat162 = cpu::Small2<cpu::BFloat>;
using nv_bfloat162 = __nv_bfloat162;

#define CPU_OP1(name, ...)                                                                              \
    template <class F> cpu::Small<F> name(cpu::Small<F> a) { return cpu::Small<F>(__VA_ARGS__); }
#define CPU_OP2(name, ...)                                                                              \
    template <class F> cpu::Small<F> name(cpu::Small<F> a, cpu::Small<F> b) {                           \
        return cpu::Small<F>(__VA_ARGS__);                                                              \
    }                                                                                                   \
    template <class F> cpu::Small2<F> name##2(cpu::Small2<F> a, cpu::Small2<F> b) {                     \
        return {name(a.x, b.x), name(a.y, b.y)};                                                        \
    }
#define CPU_TEST2(name, ...)                                                                            \
    template <class F> bool name(cpu::Small<F> a, cpu::Small<F> b) { return __VA_ARGS__; }
CPU_OP2(__hadd, float(a) + float(b))
CPU_OP2(__hsub, float(a) - float(b))
CPU_OP2(__hmul, float(a) * float(b))
CPU_OP2(__hmax, fmaxf(a, b))
CPU_OP2(__hmin, fminf(a, b))
template <class F> cpu::Small<F> __hdiv(cpu::Small<F> a, cpu::Small<F> b) { return a / b; }
template <class F> cpu::Small2<F> __h2div(cpu::Small2<F> a, cpu::Small2<F> b) { return a / b; }
template <class F> cpu::Small<F> __hfma(cpu::Small<F> a, cpu::Small<F> b, cpu::Small<F> c) {
    return cpu::Small<F>(float(double(float(a)) * float(b) + float(c)));
}
template <class F> cpu::Small2<F> __hfma2(cpu::Small2<F> a, cpu::Small2<F> b, cpu::Small2<F> c) {
    return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)};
}
CPU_OP1(__hneg, -float(a))
CPU_OP1(__habs, fabsf(a))
CPU_OP1(hexp, expf(a))
CPU_OP1(hexp2, exp2f(a))
CPU_OP1(hlog, logf(a))
CPU_OP1(hsqrt, sqrtf(a))
CPU_OP1(hrsqrt, rsqrtf(a))
CPU_OP1(hrcp, 1.0f / float(a))
CPU_OP1(htanh, tanhf(a))
CPU_TEST2(__hlt, a < b)
CPU_TEST2(__hle, a <= b)
CPU_TEST2(__hgt, a > b)
CPU_TEST2(__hge, a >= b)
CPU_TEST2(__heq, a == b)
CPU_TEST2(__hne, a != b)
#undef CPU_OP1
#undef CPU_OP2
#undef CPU_TEST2
template <class F> cpu::Small2<F> h2exp(cpu::Small2<F> a) { return {hexp(a.x), hexp(a.y)}; }
template <class F> cpu::Small2<F> __hneg2(cpu::Small2<F> a) { return {-a.x, -a.y}; }
template <class F> float __low2float(cpu::Small2<F> a) { return a.x; }
template <class F> float __high2float(cpu::Small2<F> a) { return a.y; }

// The conversions are named after each type.
#define CPU_NAMES(F, one, two, pair, from, to)                                                          \
    inline one __float2##from(float x) { return one(x); }                                               \
    inline one __float2##from##_rn(float x) { return one(x); }                                          \
    inline one __double2##from(double x) { return one(x); }                                             \
    inline float __##from##2float(one x) { return x; }                                                  \
    inline two __float2##to##_rn(float x) { return {one(x), one(x)}; }                                  \
    inline two __floats2##to##_rn(float x, float y) { return {one(x), one(y)}; }                        \
    inline two __float22##to##_rn(float2 v) { return {one(v.x), one(v.y)}; }                            \
    inline two __##from##2##to(one x) { return {x, x}; }                                                \
    inline two make_##pair(one x, one y) { return {x, y}; }                                             \
    inline one __int2##from##_rn(int x) { return one(x); }                                              \
    inline int __##from##2int_rn(one x) { return __float2int_rn(x); }                                   \
    inline int __##from##2int_rz(one x) { return __float2int_rz(x); }                                   \
    inline one __ushort_as_##from(unsigned short x) { one h; h.bits = x; return h; }                    \
    inline unsigned short __##from##_as_ushort(one x) { return x.bits; }
CPU_NAMES(cpu::Half, __half, __half2, half2, half, half2)
CPU_NAMES(cpu::BFloat, __nv_bfloat16, __nv_bfloat162, bfloat162, bfloat16, bfloat162)
#undef CPU_NAMES
inline float2 __half22float2(__half2 v) { return {v.x, v.y}; }
inline float2 __bfloat1622float2(__nv_bfloat162 v) { return {v.x, v.y}; }
template <class F> cpu::Small2<F> __halves2half2(cpu::Small<F> x, cpu::Small<F> y) { return {x, y}; }
inline __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) { return {x, y}; }
template <class F> cpu::Small<F> __low2half(cpu::Small2<F> a) { return a.x; }
template <class F> cpu::Small<F> __high2half(cpu::Small2<F> a) { return a.y; }
inline __nv_bfloat16 __low2bfloat16(__nv_bfloat162 a) { return a.x; }
inline __nv_bfloat16 __high2bfloat16(__nv_bfloat162 a) { return a.y; }
