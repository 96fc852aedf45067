#include "emulate/steps.h"

#include <algorithm>
#include <bit>
#include <cfenv>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <type_traits>

#include "emulate/run_time.h"
#include "record_layout.h"
#include "vectors.h"

namespace warpwatt::emulate {

namespace {

template <typename T>
T* lanes_at(const Frame& frame, std::int32_t place) {
    return reinterpret_cast<T*>(frame.values + place);
}

LaneMask& mask_at(const Frame& frame, std::int32_t place) { return *lanes_at<LaneMask>(frame, place); }

// Active lanes where a mask holds.
LaneMask chosen(const Frame& frame, std::int32_t mask) {
    return mask < 0 ? frame.active : frame.active & mask_at(frame, mask);
}

// A value that is the same in all active lanes.
template <typename T>
T first_of(const Frame& frame, std::int32_t place) {
    return lanes_at<T>(frame, place)[first_lane(frame.active)];
}

template <typename T>
void fill(const Frame& frame, std::int32_t place, T value) {
    std::fill_n(lanes_at<T>(frame, place), kLanes, value);
}

template <typename T>
using Signed = std::make_signed_t<T>;
template <typename T>
constexpr int kBits = 8 * sizeof(T);

// Arithmetic of one lane. Integers are unsigned here.

struct Add {
    template <typename T>
    static T of(T a, T b) {
        return static_cast<T>(a + b);
    }
};
struct Subtract {
    template <typename T>
    static T of(T a, T b) {
        return static_cast<T>(a - b);
    }
};
struct Multiply {
    template <typename T>
    static T of(T a, T b) {
        if constexpr (std::is_integral_v<T>)
            return static_cast<T>(std::uint64_t{a} * b);
        else
            return a * b;
    }
};
struct Divide {
    template <typename T>
    static T of(T a, T b) {
        return a / b;
    }
};
struct And {
    template <typename T>
    static T of(T a, T b) {
        return a & b;
    }
};
struct Or {
    template <typename T>
    static T of(T a, T b) {
        return a | b;
    }
};
struct Xor {
    template <typename T>
    static T of(T a, T b) {
        return a ^ b;
    }
};
struct ShiftLeft {
    template <typename T>
    static T of(T a, T b) {
        return b < kBits<T> ? static_cast<T>(std::uint64_t{a} << b) : T{0};
    }
};
struct ShiftRight {
    template <typename T>
    static T of(T a, T b) {
        return b < kBits<T> ? static_cast<T>(a >> b) : T{0};
    }
};
struct ShiftSigned {
    template <typename T>
    static T of(T a, T b) {
        return static_cast<T>(static_cast<Signed<T>>(a) >> std::min<T>(b, kBits<T> - 1));
    }
};
struct DivideUnsigned {
    template <typename T>
    static T of(T a, T b) {
        return b == 0 ? static_cast<T>(-1) : static_cast<T>(a / b);
    }
};
struct RemainderUnsigned {
    template <typename T>
    static T of(T a, T b) {
        return b == 0 ? a : static_cast<T>(a % b);
    }
};
struct DivideSigned {
    template <typename T>
    static T of(T a, T b) {
        if (b == 0) return static_cast<T>(-1);
        if (b == static_cast<T>(-1)) return static_cast<T>(0 - a);
        return static_cast<T>(static_cast<Signed<T>>(a) / static_cast<Signed<T>>(b));
    }
};
struct RemainderSigned {
    template <typename T>
    static T of(T a, T b) {
        if (b == 0) return a;
        if (b == static_cast<T>(-1)) return T{0};
        return static_cast<T>(static_cast<Signed<T>>(a) % static_cast<Signed<T>>(b));
    }
};
struct LeastUnsigned {
    template <typename T>
    static T of(T a, T b) {
        return std::min(a, b);
    }
};
struct GreatestUnsigned {
    template <typename T>
    static T of(T a, T b) {
        return std::max(a, b);
    }
};
struct LeastSigned {
    template <typename T>
    static T of(T a, T b) {
        return static_cast<Signed<T>>(a) < static_cast<Signed<T>>(b) ? a : b;
    }
};
struct GreatestSigned {
    template <typename T>
    static T of(T a, T b) {
        return static_cast<Signed<T>>(a) > static_cast<Signed<T>>(b) ? a : b;
    }
};
// The number where the other is NaN; -0 below +0.
template <typename T>
using BitsOf = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
struct Least {
    template <typename T>
    static T of(T a, T b) {
        using Bits = BitsOf<T>;
        if (a == b) return std::bit_cast<T>(std::bit_cast<Bits>(a) | std::bit_cast<Bits>(b));
        return a < b || std::isnan(b) ? a : b;
    }
};
struct Greatest {
    template <typename T>
    static T of(T a, T b) {
        using Bits = BitsOf<T>;
        if (a == b) return std::bit_cast<T>(std::bit_cast<Bits>(a) & std::bit_cast<Bits>(b));
        return a > b || std::isnan(b) ? a : b;
    }
};

struct Count {
    template <typename T>
    static T of(T a) {
        return static_cast<T>(std::popcount(a));
    }
};
struct LeadingZeros {
    template <typename T>
    static T of(T a) {
        return static_cast<T>(std::countl_zero(a));
    }
};
struct Reverse {
    template <typename T>
    static T of(T a) {
        T made = 0;
        for (int bit = 0; bit < kBits<T>; ++bit, a = static_cast<T>(a >> 1))
            made = static_cast<T>(made << 1 | (a & 1));
        return made;
    }
};
struct Negative {
    template <typename T>
    static T of(T a) {
        return static_cast<T>(a ^ T{1} << (kBits<T> - 1));
    }
};
struct Absolute {
    template <typename T>
    static T of(T a) {
        return static_cast<T>(a & ~(T{1} << (kBits<T> - 1)));
    }
};
struct Root {
    template <typename T>
    static T of(T a) {
        return std::sqrt(a);
    }
};
struct Floor {
    template <typename T>
    static T of(T a) {
        return std::floor(a);
    }
};
struct Ceiling {
    template <typename T>
    static T of(T a) {
        return std::ceil(a);
    }
};
struct Truncate {
    template <typename T>
    static T of(T a) {
        return std::trunc(a);
    }
};
struct Nearest {
    template <typename T>
    static T of(T a) {
        return std::nearbyint(a);
    }
};
// MATH is computed in double precision.
template <double (*function)(double)>
struct Function {
    template <typename T>
    static T of(T a) {
        return static_cast<T>(function(a));
    }
};
double reciprocal(double x) { return 1.0 / x; }
double root(double x) { return std::sqrt(x); }
double reciprocal_root(double x) { return 1.0 / std::sqrt(x); }
double power_of_two(double x) { return std::exp2(x); }
double binary_logarithm(double x) { return std::log2(x); }
double sine(double x) { return std::sin(x); }
double cosine(double x) { return std::cos(x); }
double hyperbolic_tangent(double x) { return std::tanh(x); }

struct Equal {
    template <typename T>
    static bool of(T a, T b) {
        return a == b;
    }
};
struct Unequal {
    template <typename T>
    static bool of(T a, T b) {
        return a != b;
    }
};
struct Less {
    template <typename T>
    static bool of(T a, T b) {
        return a < b;
    }
};
struct AtMost {
    template <typename T>
    static bool of(T a, T b) {
        return a <= b;
    }
};
struct LessSigned {
    template <typename T>
    static bool of(T a, T b) {
        return static_cast<Signed<T>>(a) < static_cast<Signed<T>>(b);
    }
};
struct AtMostSigned {
    template <typename T>
    static bool of(T a, T b) {
        return static_cast<Signed<T>>(a) <= static_cast<Signed<T>>(b);
    }
};
struct Unordered {
    template <typename T>
    static bool of(T a, T b) {
        return std::isnan(a) || std::isnan(b);
    }
};

// Steps: the same in all lanes.

template <typename T, typename Do>
WARPWATT_WIDE_VECTORS void binary(const Frame& frame, const Step& step) {
    const T *a = lanes_at<T>(frame, step.a), *b = lanes_at<T>(frame, step.b);
    T* __restrict result = lanes_at<T>(frame, step.result);
    for (int lane = 0; lane < kLanes; ++lane) result[lane] = Do::of(a[lane], b[lane]);
}

template <typename T, typename Do>
WARPWATT_WIDE_VECTORS void unary(const Frame& frame, const Step& step) {
    const T* a = lanes_at<T>(frame, step.a);
    T* __restrict result = lanes_at<T>(frame, step.result);
    for (int lane = 0; lane < kLanes; ++lane) result[lane] = Do::of(a[lane]);
}

template <typename T>
WARPWATT_WIDE_VECTORS void fused(const Frame& frame, const Step& step) {
    const T *a = lanes_at<T>(frame, step.a), *b = lanes_at<T>(frame, step.b), *c = lanes_at<T>(frame, step.c);
    T* __restrict result = lanes_at<T>(frame, step.result);
    for (int lane = 0; lane < kLanes; ++lane) result[lane] = std::fma(a[lane], b[lane], c[lane]);
}

// While the processor rounds as the step says: what lies in memory cannot be read or written across a call.
template <void (*execute)(const Frame&, const Step&)>
void rounded(const Frame& frame, const Step& step) {
    if (step.number == 0) return execute(frame, step);
    std::fesetround(static_cast<int>(step.number));
    execute(frame, step);
    std::fesetround(FE_TONEAREST);
}

template <typename T, typename Holds>
WARPWATT_WIDE_VECTORS void compare(const Frame& frame, const Step& step) {
    const T *a = lanes_at<T>(frame, step.a), *b = lanes_at<T>(frame, step.b);
    LaneMask made = 0;
    for (int lane = 0; lane < kLanes; ++lane) made |= LaneMask{Holds::of(a[lane], b[lane])} << lane;
    mask_at(frame, step.result) = made;
}

template <typename Do>
void binary_mask(const Frame& frame, const Step& step) {
    mask_at(frame, step.result) = Do::of(mask_at(frame, step.a), mask_at(frame, step.b));
}

template <typename T>
WARPWATT_WIDE_VECTORS void choose(const Frame& frame, const Step& step) {
    const LaneMask yes = mask_at(frame, step.a);
    const T *b = lanes_at<T>(frame, step.b), *c = lanes_at<T>(frame, step.c);
    T* __restrict result = lanes_at<T>(frame, step.result);
    for (int lane = 0; lane < kLanes; ++lane) result[lane] = yes >> lane & 1 ? b[lane] : c[lane];
}

void choose_mask(const Frame& frame, const Step& step) {
    const LaneMask yes = mask_at(frame, step.a);
    mask_at(frame, step.result) = (yes & mask_at(frame, step.b)) | (~yes & mask_at(frame, step.c));
}

// Conversions.

template <typename From, typename To>
WARPWATT_WIDE_VECTORS void resize(const Frame& frame, const Step& step) {
    const From* a = lanes_at<From>(frame, step.a);
    To* __restrict result = lanes_at<To>(frame, step.result);
    for (int lane = 0; lane < kLanes; ++lane) result[lane] = static_cast<To>(a[lane]);
}

// Masks to numbers: `number` is what true is.
template <typename T>
WARPWATT_WIDE_VECTORS void spread(const Frame& frame, const Step& step) {
    const LaneMask mask = mask_at(frame, step.a);
    const auto one = static_cast<T>(step.number);
    T* __restrict result = lanes_at<T>(frame, step.result);
    for (int lane = 0; lane < kLanes; ++lane) result[lane] = mask >> lane & 1 ? one : T{0};
}

template <typename T>
WARPWATT_WIDE_VECTORS void lowest_bits(const Frame& frame, const Step& step) {
    const T* a = lanes_at<T>(frame, step.a);
    LaneMask made = 0;
    for (int lane = 0; lane < kLanes; ++lane) made |= static_cast<LaneMask>(a[lane] & 1) << lane;
    mask_at(frame, step.result) = made;
}

// Towards zero, saturating; NaN gives 0.
template <typename From, typename To>
WARPWATT_WIDE_VECTORS void to_integer(const Frame& frame, const Step& step) {
    using Limits = std::numeric_limits<To>;
    const From low = static_cast<From>(Limits::min());
    const From beyond = std::ldexp(From{1}, Limits::digits);
    const From* a = lanes_at<From>(frame, step.a);
    To* __restrict result = lanes_at<To>(frame, step.result);
    for (int lane = 0; lane < kLanes; ++lane) {
        const From x = a[lane];
        if (std::isnan(x))
            result[lane] = 0;
        else
            result[lane] = x <= low ? Limits::min() : x >= beyond ? Limits::max() : static_cast<To>(x);
    }
}

// Registers, which lie behind the warp's record at `number`.

template <typename T>
T* register_of(const Frame& frame, const Step& step) {
    return reinterpret_cast<T*>(reinterpret_cast<unsigned char*>(&frame.warp) + step.number);
}

template <typename T>
void get(const Frame& frame, const Step& step) {
    std::memcpy(lanes_at<T>(frame, step.result), register_of<T>(frame, step), kLanes * sizeof(T));
}

void get_mask(const Frame& frame, const Step& step) {
    mask_at(frame, step.result) = *register_of<LaneMask>(frame, step);
}

template <typename T>
WARPWATT_WIDE_VECTORS void get_uniform(const Frame& frame, const Step& step) {
    fill(frame, step.result, *register_of<T>(frame, step));
}

void get_uniform_mask(const Frame& frame, const Step& step) {
    mask_at(frame, step.result) = *register_of<std::uint8_t>(frame, step) & 1 ? kAllLanes : 0;
}

template <typename T>
WARPWATT_WIDE_VECTORS void set(const Frame& frame, const Step& step) {
    const LaneMask on = chosen(frame, step.c);
    const T* value = lanes_at<T>(frame, step.a);
    T* __restrict held = register_of<T>(frame, step);
    if (on == kAllLanes) {
        std::memcpy(held, value, kLanes * sizeof(T));
        return;
    }
    for (int lane = 0; lane < kLanes; ++lane) held[lane] = on >> lane & 1 ? value[lane] : held[lane];
}

void set_mask(const Frame& frame, const Step& step) {
    const LaneMask on = chosen(frame, step.c);
    LaneMask& held = *register_of<LaneMask>(frame, step);
    held ^= (held ^ mask_at(frame, step.a)) & on;
}

template <typename T>
void set_uniform(const Frame& frame, const Step& step) {
    if (chosen(frame, step.c)) *register_of<T>(frame, step) = first_of<T>(frame, step.a);
}

void set_uniform_mask(const Frame& frame, const Step& step) {
    if (chosen(frame, step.c))
        *register_of<std::uint8_t>(frame, step) = has_lane(mask_at(frame, step.a), first_lane(frame.active));
}

// Special values and lanes.

void thread_index(const Frame& frame, const Step& step) {
    std::memcpy(lanes_at<std::int32_t>(frame, step.result), frame.warp.tid[step.number].data(),
                sizeof frame.warp.tid[0]);
}

WARPWATT_WIDE_VECTORS void special(const Frame& frame, const Step& step) {
    std::int32_t value;
    std::memcpy(&value, reinterpret_cast<const unsigned char*>(&frame.warp.special) + step.number,
                sizeof value);
    fill(frame, step.result, value);
}

// Instructions before the basic block, whose length is `number`, of the warp or of all.
void clock(const Frame& frame, const Step& step) {
    fill(frame, step.result, frame.warp.clock - frame.warp.turn - step.number);
}

void clock_of_all(const Frame& frame, const Step& step) {
    fill(frame, step.result, frame.machine.clock - frame.warp.turn - step.number);
}

WARPWATT_WIDE_VECTORS void active(const Frame& frame, const Step& step) {
    fill(frame, step.result, frame.active);
}

WARPWATT_WIDE_VECTORS void ballot(const Frame& frame, const Step& step) {
    fill(frame, step.result, frame.active & mask_at(frame, step.a));
}

template <typename T>
WARPWATT_WIDE_VECTORS void shuffle(const Frame& frame, const Step& step) {
    const T* a = lanes_at<T>(frame, step.a);
    const auto* lanes = lanes_at<std::uint32_t>(frame, step.b);
    T* __restrict result = lanes_at<T>(frame, step.result);
    for (int lane = 0; lane < kLanes; ++lane) result[lane] = a[lanes[lane] & 31];
}

WARPWATT_WIDE_VECTORS void shuffle_mask(const Frame& frame, const Step& step) {
    const LaneMask a = mask_at(frame, step.a);
    const auto* lanes = lanes_at<std::uint32_t>(frame, step.b);
    LaneMask made = 0;
    for (int lane = 0; lane < kLanes; ++lane) made |= (a >> (lanes[lane] & 31) & 1) << lane;
    mask_at(frame, step.result) = made;
}

// Of the machine's addresses.
void match(const Frame& frame, const Step& step) {
    match_lanes(&frame.machine, frame.active);
    std::memcpy(lanes_at<LaneMask>(frame, step.result), frame.machine.value_bytes(),
                sizeof(LaneMask) * kLanes);
}

// Begins with `number`, which changes nothing.
template <typename T, typename Do>
WARPWATT_WIDE_VECTORS void reduce(const Frame& frame, const Step& step) {
    const T* a = lanes_at<T>(frame, step.a);
    auto made = static_cast<T>(step.number);
    for_each_lane(chosen(frame, step.c), [&](int lane) { made = Do::of(made, a[lane]); });
    fill(frame, step.result, made);
}

void count(const Frame& frame, const Step& step) {
    frame.machine.totals.guarded[step.number] += lane_count(frame.active & ~mask_at(frame, step.a));
}

// Memory and calls: arguments to the machine, a function of the run time, results from there.

template <typename T>
void write_wide(std::array<std::uint64_t, kLanes>& to, const Frame& frame, const Step& step) {
    const T* a = lanes_at<T>(frame, step.a);
    for (int lane = 0; lane < kLanes; ++lane) to[lane] = a[lane];
}

template <typename T>
WARPWATT_WIDE_VECTORS void address(const Frame& frame, const Step& step) {
    write_wide<T>(frame.machine.addresses, frame, step);
}

template <typename T>
WARPWATT_WIDE_VECTORS void argument(const Frame& frame, const Step& step) {
    write_wide<T>(frame.machine.values[step.number], frame, step);
}

WARPWATT_WIDE_VECTORS void argument_mask(const Frame& frame, const Step& step) {
    const LaneMask mask = mask_at(frame, step.a);
    auto& to = frame.machine.values[step.number];
    for (int lane = 0; lane < kLanes; ++lane) to[lane] = mask >> lane & 1;
}

template <typename T>
void read_narrow(const std::array<std::uint64_t, kLanes>& from, const Frame& frame, const Step& step) {
    T* __restrict result = lanes_at<T>(frame, step.result);
    for (int lane = 0; lane < kLanes; ++lane) result[lane] = static_cast<T>(from[lane]);
}

template <typename T>
WARPWATT_WIDE_VECTORS void result(const Frame& frame, const Step& step) {
    read_narrow<T>(frame.machine.values[step.number], frame, step);
}

WARPWATT_WIDE_VECTORS void result_mask(const Frame& frame, const Step& step) {
    const auto& from = frame.machine.values[step.number];
    LaneMask made = 0;
    for (int lane = 0; lane < kLanes; ++lane) made |= static_cast<LaneMask>(from[lane] & 1) << lane;
    mask_at(frame, step.result) = made;
}

template <typename T>
WARPWATT_WIDE_VECTORS void old_value(const Frame& frame, const Step& step) {
    read_narrow<T>(frame.machine.old_values, frame, step);
}

template <typename T>
void store_element(const Frame& frame, const Step& step) {
    std::memcpy(frame.machine.value_bytes() + step.number, lanes_at<T>(frame, step.a), kLanes * sizeof(T));
}

template <typename T>
void loaded(const Frame& frame, const Step& step) {
    std::memcpy(lanes_at<T>(frame, step.result), frame.machine.value_bytes() + step.number,
                kLanes * sizeof(T));
}

template <typename T>
WARPWATT_WIDE_VECTORS void loaded_for_all(const Frame& frame, const Step& step) {
    T value;
    std::memcpy(&value, frame.machine.value_bytes() + step.number, sizeof value);
    fill(frame, step.result, value);
}

// From a constant bank; `number` is the bank and, in the low half, the address.
template <typename T>
WARPWATT_WIDE_VECTORS void constant(const Frame& frame, const Step& step) {
    T value;
    std::memcpy(&value, frame.machine.constant.bases[step.number >> 32] + (step.number & 0xFFFFFFFF),
                sizeof value);
    fill(frame, step.result, value);
}

template <void (*function)(Machine*, Warp*, std::int32_t, LaneMask)>
void call_memory(const Frame& frame, const Step& step) {
    function(&frame.machine, &frame.warp, static_cast<std::int32_t>(step.number), chosen(frame, step.c));
}

template <typename T>
void call_uniform_load(const Frame& frame, const Step& step) {
    load_uniform(&frame.machine, &frame.warp, static_cast<std::int32_t>(step.number), chosen(frame, step.c),
                 first_of<T>(frame, step.a));
}

void call_python(const Frame& frame, const Step& step) {
    frame.machine.caller = &frame.warp;
    call_function(&frame.machine, static_cast<std::int32_t>(step.number), chosen(frame, step.c));
}

void barrier_results(const Frame& frame, const Step& step) {
    read_barrier_results(&frame.machine, &frame.warp, static_cast<std::int32_t>(step.number));
}

// Steps by name: the operation and its type, as warpwatt.emulate.ir has them.

using U8 = std::uint8_t;
using U16 = std::uint16_t;
using U32 = std::uint32_t;
using U64 = std::uint64_t;
using I64 = std::int64_t;

#define INTEGER_BINARY(name, Do)                                                                    \
    {name " i8", binary<U8, Do>}, {name " i16", binary<U16, Do>}, {name " i32", binary<U32, Do>}, { \
        name " i64", binary<U64, Do>                                                                \
    }
#define INTEGER_UNARY(name, Do)                                                                  \
    {name " i8", unary<U8, Do>}, {name " i16", unary<U16, Do>}, {name " i32", unary<U32, Do>}, { \
        name " i64", unary<U64, Do>                                                              \
    }
#define INTEGER_COMPARE(name, Holds)                                      \
    {name " i8", compare<U8, Holds>}, {name " i16", compare<U16, Holds>}, \
        {name " i32", compare<U32, Holds>}, {                             \
        name " i64", compare<U64, Holds>                                  \
    }
#define MASK_BINARY(name, Do) {name " i1", binary_mask<Do>}
#define FLOAT_BINARY(name, Do) \
    {name " f32", rounded<binary<float, Do>>}, { name " f64", rounded<binary<double, Do>> }
#define FLOAT_UNARY(name, Do) \
    {name " f32", rounded<unary<float, Do>>}, { name " f64", rounded<unary<double, Do>> }
#define FLOAT_COMPARE(name, Holds) \
    {name " f32", compare<float, Holds>}, { name " f64", compare<double, Holds> }
#define REDUCE(name, Do) \
    {"reduce " name " i32", reduce<U32, Do>}, { "reduce " name " i64", reduce<U64, Do> }
#define RESIZE(from, From)                                                                \
    {"resize " from " i8", resize<From, U8>}, {"resize " from " i16", resize<From, U16>}, \
        {"resize " from " i32", resize<From, U32>}, {                                     \
        "resize " from " i64", resize<From, U64>                                          \
    }
#define FROM_SIGNED(name, From) \
    {name " f32", rounded<resize<From, float>>}, { name " f64", rounded<resize<From, double>> }
#define TO_INTEGER(from, From)                                                                            \
    {"fptosi " from " i8", to_integer<From, std::int8_t>},                                                \
        {"fptosi " from " i16", to_integer<From, std::int16_t>},                                          \
        {"fptosi " from " i32", to_integer<From, std::int32_t>},                                          \
        {"fptosi " from " i64", to_integer<From, I64>}, {"fptoui " from " i8", to_integer<From, U8>},     \
        {"fptoui " from " i16", to_integer<From, U16>}, {"fptoui " from " i32", to_integer<From, U32>}, { \
        "fptoui " from " i64", to_integer<From, U64>                                                      \
    }
#define BY_WIDTH(name, step) \
    {name " 8", step<U8>}, {name " 16", step<U16>}, {name " 32", step<U32>}, { name " 64", step<U64> }

struct NamedStep {
    const char* name;
    void (*execute)(const Frame&, const Step&);
};
constexpr NamedStep kSteps[] = {
    INTEGER_BINARY("add", Add),
    INTEGER_BINARY("sub", Subtract),
    INTEGER_BINARY("mul", Multiply),
    INTEGER_BINARY("and", And),
    INTEGER_BINARY("or", Or),
    INTEGER_BINARY("xor", Xor),
    MASK_BINARY("and", And),
    MASK_BINARY("or", Or),
    MASK_BINARY("xor", Xor),
    INTEGER_BINARY("shl", ShiftLeft),
    INTEGER_BINARY("lshr", ShiftRight),
    INTEGER_BINARY("ashr", ShiftSigned),
    INTEGER_BINARY("udiv", DivideUnsigned),
    INTEGER_BINARY("sdiv", DivideSigned),
    INTEGER_BINARY("urem", RemainderUnsigned),
    INTEGER_BINARY("srem", RemainderSigned),
    INTEGER_BINARY("umin", LeastUnsigned),
    INTEGER_BINARY("umax", GreatestUnsigned),
    INTEGER_BINARY("smin", LeastSigned),
    INTEGER_BINARY("smax", GreatestSigned),
    INTEGER_UNARY("popc", Count),
    INTEGER_UNARY("clz", LeadingZeros),
    INTEGER_UNARY("brev", Reverse),
    INTEGER_COMPARE("eq", Equal),
    INTEGER_COMPARE("ne", Unequal),
    INTEGER_COMPARE("slt", LessSigned),
    INTEGER_COMPARE("sle", AtMostSigned),
    INTEGER_COMPARE("ult", Less),
    INTEGER_COMPARE("ule", AtMost),
    FLOAT_BINARY("fadd", Add),
    FLOAT_BINARY("fsub", Subtract),
    FLOAT_BINARY("fmul", Multiply),
    FLOAT_BINARY("fdiv", Divide),
    {"fma f32", rounded<fused<float>>},
    {"fma f64", rounded<fused<double>>},
    FLOAT_UNARY("fsqrt", Root),
    {"fneg f16", unary<U16, Negative>},
    {"fneg f32", unary<U32, Negative>},
    {"fneg f64", unary<U64, Negative>},
    {"fabs f16", unary<U16, Absolute>},
    {"fabs f32", unary<U32, Absolute>},
    {"fabs f64", unary<U64, Absolute>},
    FLOAT_BINARY("fmin", Least),
    FLOAT_BINARY("fmax", Greatest),
    FLOAT_UNARY("ffloor", Floor),
    FLOAT_UNARY("fceil", Ceiling),
    FLOAT_UNARY("ftrunc", Truncate),
    FLOAT_UNARY("frint", Nearest),
    FLOAT_COMPARE("feq", Equal),
    FLOAT_COMPARE("flt", Less),
    FLOAT_COMPARE("fle", AtMost),
    FLOAT_COMPARE("funo", Unordered),
    FLOAT_UNARY("rcp", Function<reciprocal>),
    FLOAT_UNARY("sqrt", Function<root>),
    FLOAT_UNARY("rsqrt", Function<reciprocal_root>),
    FLOAT_UNARY("ex2", Function<power_of_two>),
    FLOAT_UNARY("lg2", Function<binary_logarithm>),
    FLOAT_UNARY("sin", Function<sine>),
    FLOAT_UNARY("cos", Function<cosine>),
    FLOAT_UNARY("tanh", Function<hyperbolic_tangent>),
    RESIZE("i8", U8),
    RESIZE("i16", U16),
    RESIZE("i32", U32),
    RESIZE("i64", U64),
    RESIZE("signed i8", std::int8_t),
    RESIZE("signed i16", std::int16_t),
    RESIZE("signed i32", std::int32_t),
    BY_WIDTH("spread", spread),
    BY_WIDTH("lowest bits", lowest_bits),
    {"fpext f32 f64", resize<float, double>},
    {"fptrunc f64 f32", rounded<resize<double, float>>},
    FROM_SIGNED("sitofp i64", I64),
    {"uitofp i64 f32", resize<U64, float>},
    {"uitofp i64 f64", resize<U64, double>},
    TO_INTEGER("f32", float),
    TO_INTEGER("f64", double),
    BY_WIDTH("select", choose),
    {"select 1", choose_mask},
    BY_WIDTH("get", get),
    {"get 1", get_mask},
    BY_WIDTH("get uniform", get_uniform),
    {"get uniform 1", get_uniform_mask},
    BY_WIDTH("set", set),
    {"set 1", set_mask},
    BY_WIDTH("set uniform", set_uniform),
    {"set uniform 1", set_uniform_mask},
    {"tid", thread_index},
    {"special", special},
    {"clock", clock},
    {"clock of all", clock_of_all},
    {"active", active},
    {"ballot", ballot},
    BY_WIDTH("shuffle", shuffle),
    {"shuffle 1", shuffle_mask},
    {"match", match},
    REDUCE("add", Add),
    REDUCE("and", And),
    REDUCE("or", Or),
    REDUCE("xor", Xor),
    REDUCE("umin", LeastUnsigned),
    REDUCE("umax", GreatestUnsigned),
    REDUCE("smin", LeastSigned),
    REDUCE("smax", GreatestSigned),
    {"count", count},
    BY_WIDTH("address", address),
    BY_WIDTH("argument", argument),
    {"argument 1", argument_mask},
    BY_WIDTH("result", result),
    {"result 1", result_mask},
    BY_WIDTH("old value", old_value),
    BY_WIDTH("store element", store_element),
    BY_WIDTH("loaded", loaded),
    BY_WIDTH("loaded for all", loaded_for_all),
    BY_WIDTH("constant", constant),
    {"load", call_memory<load_lanes>},
    {"store", call_memory<store_lanes>},
    {"atomic", call_memory<atomic_lanes>},
    {"bulk", call_memory<bulk_copy>},
    BY_WIDTH("uniform load", call_uniform_load),
    {"call", call_python},
    {"barrier results", barrier_results},
};

}  // namespace

}  // namespace warpwatt::emulate

using namespace warpwatt;

const void* emulator_steps(std::int64_t* count) {
    static const auto codes = [] {
        std::array<NamedCode, std::size(emulate::kSteps)> made;
        std::transform(std::begin(emulate::kSteps), std::end(emulate::kSteps), made.begin(),
                       [](const auto& step) {
                           return code("step", step.name, reinterpret_cast<std::intptr_t>(step.execute));
                       });
        return made;
    }();
    *count = std::size(codes);
    return codes.data();
}
