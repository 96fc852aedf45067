// Steps of floating-point arithmetic in single and double precision.

#include <bit>
#include <cmath>
#include <functional>
#include <type_traits>

#include "emulate/step_table.h"

namespace warpwatt::emulate {

namespace {

template <typename T>
using BitsOf = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

struct Add {
    template <typename T>
    T operator()(T a, T b) const {
        return a + b;
    }
};
struct Subtract {
    template <typename T>
    T operator()(T a, T b) const {
        return a - b;
    }
};
struct Multiply {
    template <typename T>
    T operator()(T a, T b) const {
        return a * b;
    }
};
struct Divide {
    template <typename T>
    T operator()(T a, T b) const {
        return a / b;
    }
};
// IEEE 754-2019 minimumNumber: the number where the other is NaN; -0 below +0.
struct Minimum {
    template <typename T>
    T operator()(T a, T b) const {
        using Bits = BitsOf<T>;
        if (a == b) return std::bit_cast<T>(std::bit_cast<Bits>(a) | std::bit_cast<Bits>(b));
        return a < b || std::isnan(b) ? a : b;
    }
};
struct Maximum {
    template <typename T>
    T operator()(T a, T b) const {
        using Bits = BitsOf<T>;
        if (a == b) return std::bit_cast<T>(std::bit_cast<Bits>(a) & std::bit_cast<Bits>(b));
        return a > b || std::isnan(b) ? a : b;
    }
};
struct Unordered {
    template <typename T>
    bool operator()(T a, T b) const {
        return std::isnan(a) || std::isnan(b);
    }
};

// Of the bits, so that NaN keeps its own.
struct Negate {
    template <typename T>
    T operator()(T a) const {
        return static_cast<T>(a ^ T{1} << (kBits<T> - 1));
    }
};
struct Absolute {
    template <typename T>
    T operator()(T a) const {
        return static_cast<T>(a & ~(T{1} << (kBits<T> - 1)));
    }
};

struct SquareRoot {
    template <typename T>
    T operator()(T a) const {
        return std::sqrt(a);
    }
};
struct Floor {
    template <typename T>
    T operator()(T a) const {
        return std::floor(a);
    }
};
struct Ceiling {
    template <typename T>
    T operator()(T a) const {
        return std::ceil(a);
    }
};
struct Truncate {
    template <typename T>
    T operator()(T a) const {
        return std::trunc(a);
    }
};
struct Nearest {
    template <typename T>
    T operator()(T a) const {
        return std::nearbyint(a);
    }
};

// MATH is computed in double precision.
template <double (*function)(double)>
struct Function {
    template <typename T>
    T operator()(T a) const {
        return static_cast<T>(function(a));
    }
};
double reciprocal(double x) { return 1.0 / x; }
double square_root(double x) { return std::sqrt(x); }
double reciprocal_square_root(double x) { return 1.0 / std::sqrt(x); }
double power_of_two(double x) { return std::exp2(x); }
double binary_logarithm(double x) { return std::log2(x); }
double sine(double x) { return std::sin(x); }
double cosine(double x) { return std::cos(x); }
double hyperbolic_tangent(double x) { return std::tanh(x); }

template <typename T>
WARPWATT_WIDE_VECTORS void fused_multiply_add(const Frame& frame, const Step& step) {
    const T *a = lanes_at<T>(frame, step.a), *b = lanes_at<T>(frame, step.b), *c = lanes_at<T>(frame, step.c);
    T* __restrict result = lanes_at<T>(frame, step.result);
    for (int lane = 0; lane < kLanes; ++lane) result[lane] = std::fma(a[lane], b[lane], c[lane]);
}

// Rows.

template <typename Do>
void add_binary(StepTable& table, const char* name) {
    table.add_typed(Floats{}, name, []<typename T>() { return rounded<binary<T, Do>>; });
}

template <typename Do>
void add_unary(StepTable& table, const char* name) {
    table.add_typed(Floats{}, name, []<typename T>() { return rounded<unary<T, Do>>; });
}

template <typename Do>
void add_on_bits(StepTable& table, const std::string& name) {
    table.add<unary<U16, Do>>(name + " f16");
    table.add<unary<U32, Do>>(name + " f32");
    table.add<unary<U64, Do>>(name + " f64");
}

template <typename Holds>
void add_compare(StepTable& table, const char* name) {
    table.add_typed(Floats{}, name, []<typename T>() { return compare<T, Holds>; });
}

}  // namespace

void add_float_steps(StepTable& table) {
    add_binary<Add>(table, "fadd");
    add_binary<Subtract>(table, "fsub");
    add_binary<Multiply>(table, "fmul");
    add_binary<Divide>(table, "fdiv");
    table.add_typed(Floats{}, "fma", []<typename T>() { return rounded<fused_multiply_add<T>>; });
    add_unary<SquareRoot>(table, "fsqrt");
    add_on_bits<Negate>(table, "fneg");
    add_on_bits<Absolute>(table, "fabs");
    add_binary<Minimum>(table, "fmin");
    add_binary<Maximum>(table, "fmax");
    add_unary<Floor>(table, "ffloor");
    add_unary<Ceiling>(table, "fceil");
    add_unary<Truncate>(table, "ftrunc");
    add_unary<Nearest>(table, "frint");
    add_compare<std::equal_to<>>(table, "feq");
    add_compare<std::less<>>(table, "flt");
    add_compare<std::less_equal<>>(table, "fle");
    add_compare<Unordered>(table, "funo");
    add_unary<Function<reciprocal>>(table, "rcp");
    add_unary<Function<square_root>>(table, "sqrt");
    add_unary<Function<reciprocal_square_root>>(table, "rsqrt");
    add_unary<Function<power_of_two>>(table, "ex2");
    add_unary<Function<binary_logarithm>>(table, "lg2");
    add_unary<Function<sine>>(table, "sin");
    add_unary<Function<cosine>>(table, "cos");
    add_unary<Function<hyperbolic_tangent>>(table, "tanh");
}

}  // namespace warpwatt::emulate
