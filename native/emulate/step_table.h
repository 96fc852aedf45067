// What the units of steps share: the values of a frame, loops over lanes, and the table that they fill.
//
// Loops are `static`: each unit has its own of what is compiled for several processors.
#pragma once

#include <algorithm>
#include <cfenv>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "emulate/steps.h"
#include "vectors.h"

namespace warpwatt::emulate {

using StepFunction = void (*)(const Frame&, const Step&);

using U8 = std::uint8_t;
using U16 = std::uint16_t;
using U32 = std::uint32_t;
using U64 = std::uint64_t;
using I8 = std::int8_t;
using I16 = std::int16_t;
using I32 = std::int32_t;
using I64 = std::int64_t;

template <typename T>
constexpr int kBits = 8 * sizeof(T);

// Values.

template <typename T>
T* lanes_at(const Frame& frame, std::int32_t place) {
    return reinterpret_cast<T*>(frame.values + place);
}

inline LaneMask& mask_at(const Frame& frame, std::int32_t place) { return *lanes_at<LaneMask>(frame, place); }

// Active lanes where a mask holds.
inline LaneMask chosen(const Frame& frame, std::int32_t mask) {
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

// Loops: the same in all lanes. `Do` and `Holds` are function objects.

template <typename T, typename Do>
WARPWATT_WIDE_VECTORS static void binary(const Frame& frame, const Step& step) {
    const T *a = lanes_at<T>(frame, step.a), *b = lanes_at<T>(frame, step.b);
    T* __restrict result = lanes_at<T>(frame, step.result);
    for (int lane = 0; lane < kLanes; ++lane) result[lane] = static_cast<T>(Do{}(a[lane], b[lane]));
}

template <typename T, typename Do>
WARPWATT_WIDE_VECTORS static void unary(const Frame& frame, const Step& step) {
    const T* a = lanes_at<T>(frame, step.a);
    T* __restrict result = lanes_at<T>(frame, step.result);
    for (int lane = 0; lane < kLanes; ++lane) result[lane] = static_cast<T>(Do{}(a[lane]));
}

template <typename T, typename Holds>
WARPWATT_WIDE_VECTORS static void compare(const Frame& frame, const Step& step) {
    const T *a = lanes_at<T>(frame, step.a), *b = lanes_at<T>(frame, step.b);
    LaneMask made = 0;
    for (int lane = 0; lane < kLanes; ++lane) made |= LaneMask{Holds{}(a[lane], b[lane])} << lane;
    mask_at(frame, step.result) = made;
}

// While the processor rounds as the step says: what lies in memory cannot be read or written across a call.
template <StepFunction execute>
void rounded(const Frame& frame, const Step& step) {
    if (step.number == 0) return execute(frame, step);
    std::fesetround(static_cast<int>(step.number));
    execute(frame, step);
    std::fesetround(FE_TONEAREST);
}

// The table.

template <typename... T>
struct Types {};
using Integers = Types<U8, U16, U32, U64>;
using Floats = Types<float, double>;

template <typename T>
std::string type_name() {
    return std::string(std::is_floating_point_v<T> ? "f" : "i") + std::to_string(kBits<T>);
}

// Steps by name: the operation, and the type or the width that it works on.
class StepTable {
public:
    struct Row {
        std::string name;
        StepFunction execute;
    };

    // The address is read from data, where the loader writes that of what the processor executes; code
    // would have that of a jump there, which every step then took.
    template <StepFunction execute>
    void add(std::string name) {
        static const volatile StepFunction address = execute;
        rows_.push_back({std::move(name), address});
    }

    // A row for each type; `FunctionOf` returns the function for it.
    template <typename... T, typename FunctionOf>
    void add_typed(Types<T...>, const std::string& name, FunctionOf) {
        (add<FunctionOf{}.template operator()<T>()>(name + " " + type_name<T>()), ...);
    }

    // A row for each width in bits; the function sees unsigned integers.
    template <typename FunctionOf>
    void add_wide(const std::string& name, FunctionOf) {
        for_each_width(Integers{}, [&]<typename T>() {
            add<FunctionOf{}.template operator()<T>()>(name + " " + std::to_string(kBits<T>));
        });
    }

    const std::vector<Row>& rows() const { return rows_; }

private:
    template <typename... T, typename Visit>
    static void for_each_width(Types<T...>, Visit visit) {
        (visit.template operator()<T>(), ...);
    }

    std::vector<Row> rows_;
};

// What each unit adds.
void add_integer_steps(StepTable& table);
void add_float_steps(StepTable& table);
void add_conversion_steps(StepTable& table);
void add_lane_steps(StepTable& table);
void add_register_steps(StepTable& table);
void add_memory_steps(StepTable& table);

}  // namespace warpwatt::emulate
