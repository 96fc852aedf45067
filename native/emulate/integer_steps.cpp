// Steps of integer arithmetic: lane by lane, on masks of lanes, and over all lanes of a warp.

#include <bit>
#include <functional>
#include <type_traits>

#include "emulate/step_table.h"

namespace warpwatt::emulate {

namespace {

template <typename T>
using Signed = std::make_signed_t<T>;

// Arithmetic of one lane, as in PTX; all integers come unsigned.

// What `Do` makes of the same bits with a sign.
template <typename Do>
struct OfSigned {
    template <typename T>
    auto operator()(T a, T b) const {
        return Do{}(static_cast<Signed<T>>(a), static_cast<Signed<T>>(b));
    }
};
// In 64 bits: 16 would be multiplied as an int, which may overflow.
struct Multiply {
    template <typename T>
    T operator()(T a, T b) const {
        return static_cast<T>(std::uint64_t{a} * b);
    }
};
struct Minimum {
    template <typename T>
    T operator()(T a, T b) const {
        return std::min(a, b);
    }
};
struct Maximum {
    template <typename T>
    T operator()(T a, T b) const {
        return std::max(a, b);
    }
};
// Shifts by the width or more leave nothing but the sign.
struct ShiftLeft {
    template <typename T>
    T operator()(T a, T b) const {
        return b < kBits<T> ? static_cast<T>(std::uint64_t{a} << b) : T{0};
    }
};
struct ShiftRight {
    template <typename T>
    T operator()(T a, T b) const {
        return b < kBits<T> ? static_cast<T>(a >> b) : T{0};
    }
};
struct ShiftRightSigned {
    template <typename T>
    T operator()(T a, T b) const {
        return static_cast<T>(static_cast<Signed<T>>(a) >> std::min<T>(b, kBits<T> - 1));
    }
};
// Division by zero gives all ones, and the dividend as remainder.
struct Divide {
    template <typename T>
    T operator()(T a, T b) const {
        return b == 0 ? static_cast<T>(-1) : static_cast<T>(a / b);
    }
};
struct Remainder {
    template <typename T>
    T operator()(T a, T b) const {
        return b == 0 ? a : static_cast<T>(a % b);
    }
};
// The least integer divided by -1 is itself.
struct DivideSigned {
    template <typename T>
    T operator()(T a, T b) const {
        if (b == 0) return static_cast<T>(-1);
        if (b == static_cast<T>(-1)) return static_cast<T>(0 - a);
        return static_cast<T>(static_cast<Signed<T>>(a) / static_cast<Signed<T>>(b));
    }
};
struct RemainderSigned {
    template <typename T>
    T operator()(T a, T b) const {
        if (b == 0) return a;
        if (b == static_cast<T>(-1)) return T{0};
        return static_cast<T>(static_cast<Signed<T>>(a) % static_cast<Signed<T>>(b));
    }
};

struct PopulationCount {
    template <typename T>
    int operator()(T a) const {
        return std::popcount(a);
    }
};
struct LeadingZeros {
    template <typename T>
    int operator()(T a) const {
        return std::countl_zero(a);
    }
};
struct ReverseBits {
    template <typename T>
    T operator()(T a) const {
        T made = 0;
        for (int bit = 0; bit < kBits<T>; ++bit, a = static_cast<T>(a >> 1))
            made = static_cast<T>(made << 1 | (a & 1));
        return made;
    }
};

// Steps that are no loop over lanes of one type.

template <typename Do>
void binary_mask(const Frame& frame, const Step& step) {
    mask_at(frame, step.result) = Do{}(mask_at(frame, step.a), mask_at(frame, step.b));
}

// Begins with `number`, which changes nothing.
template <typename T, typename Do>
WARPWATT_WIDE_VECTORS void reduce(const Frame& frame, const Step& step) {
    const T* a = lanes_at<T>(frame, step.a);
    auto made = static_cast<T>(step.number);
    for_each_lane(chosen(frame, step.c), [&](int lane) { made = static_cast<T>(Do{}(made, a[lane])); });
    fill(frame, step.result, made);
}

// Rows.

template <typename Do>
void add_binary(StepTable& table, const char* name) {
    table.add_typed(Integers{}, name, []<typename T>() { return binary<T, Do>; });
}

template <typename Do>
void add_unary(StepTable& table, const char* name) {
    table.add_typed(Integers{}, name, []<typename T>() { return unary<T, Do>; });
}

template <typename Holds>
void add_compare(StepTable& table, const char* name) {
    table.add_typed(Integers{}, name, []<typename T>() { return compare<T, Holds>; });
}

template <typename Do>
void add_reduced(StepTable& table, const std::string& name) {
    add_binary<Do>(table, name.c_str());
    table.add_typed(Types<U32, U64>{}, "reduce " + name, []<typename T>() { return reduce<T, Do>; });
}

template <typename Do>
void add_bitwise(StepTable& table, const std::string& name) {
    add_reduced<Do>(table, name);
    table.add<binary_mask<Do>>(name + " i1");
}

}  // namespace

void add_integer_steps(StepTable& table) {
    add_reduced<std::plus<>>(table, "add");
    add_binary<std::minus<>>(table, "sub");
    add_binary<Multiply>(table, "mul");
    add_bitwise<std::bit_and<>>(table, "and");
    add_bitwise<std::bit_or<>>(table, "or");
    add_bitwise<std::bit_xor<>>(table, "xor");
    add_binary<ShiftLeft>(table, "shl");
    add_binary<ShiftRight>(table, "lshr");
    add_binary<ShiftRightSigned>(table, "ashr");
    add_binary<Divide>(table, "udiv");
    add_binary<DivideSigned>(table, "sdiv");
    add_binary<Remainder>(table, "urem");
    add_binary<RemainderSigned>(table, "srem");
    add_reduced<Minimum>(table, "umin");
    add_reduced<Maximum>(table, "umax");
    add_reduced<OfSigned<Minimum>>(table, "smin");
    add_reduced<OfSigned<Maximum>>(table, "smax");
    add_unary<PopulationCount>(table, "popc");
    add_unary<LeadingZeros>(table, "clz");
    add_unary<ReverseBits>(table, "brev");
    add_compare<std::equal_to<>>(table, "eq");
    add_compare<std::not_equal_to<>>(table, "ne");
    add_compare<std::less<>>(table, "ult");
    add_compare<std::less_equal<>>(table, "ule");
    add_compare<OfSigned<std::less<>>>(table, "slt");
    add_compare<OfSigned<std::less_equal<>>>(table, "sle");
}

}  // namespace warpwatt::emulate
