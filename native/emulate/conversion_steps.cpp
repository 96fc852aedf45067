// Steps that convert: between widths, masks and numbers, integers and floating point.

#include <cmath>
#include <limits>

#include "emulate/step_table.h"

namespace warpwatt::emulate {

namespace {

template <typename From, typename To>
WARPWATT_WIDE_VECTORS void convert(const Frame& frame, const Step& step) {
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

// Rows.

template <typename From>
void add_resized(StepTable& table, const std::string& from) {
    table.add_typed(Integers{}, "resize " + from, []<typename To>() { return convert<From, To>; });
}

template <typename From>
void add_to_integer(StepTable& table, const std::string& from) {
    table.add_typed(Types<I8, I16, I32, I64>{}, "fptosi " + from,
                    []<typename To>() { return to_integer<From, To>; });
    table.add_typed(Integers{}, "fptoui " + from, []<typename To>() { return to_integer<From, To>; });
}

}  // namespace

void add_conversion_steps(StepTable& table) {
    add_resized<U8>(table, "i8");
    add_resized<U16>(table, "i16");
    add_resized<U32>(table, "i32");
    add_resized<U64>(table, "i64");
    add_resized<I8>(table, "signed i8");
    add_resized<I16>(table, "signed i16");
    add_resized<I32>(table, "signed i32");
    table.add_wide("spread", []<typename T>() { return spread<T>; });
    table.add_wide("lowest bits", []<typename T>() { return lowest_bits<T>; });
    table.add<convert<float, double>>("fpext f32 f64");
    table.add<rounded<convert<double, float>>>("fptrunc f64 f32");
    table.add_typed(Floats{}, "sitofp i64", []<typename To>() { return rounded<convert<I64, To>>; });
    table.add_typed(Floats{}, "uitofp i64", []<typename To>() { return convert<U64, To>; });
    add_to_integer<float>(table, "f32");
    add_to_integer<double>(table, "f64");
}

}  // namespace warpwatt::emulate
