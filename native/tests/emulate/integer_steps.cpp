// Against arithmetic in 128 bits, which holds every result exactly.

#include <bit>

#include "tests/emulate/test_frame.h"

using namespace warpwatt::test;

namespace {

using Wide = __int128;

constexpr int kRounds = 8;

template <typename T>
Wide with_sign(T x) {
    return static_cast<std::make_signed_t<T>>(x);
}

template <typename T, typename Expected>
void check_binary(const std::string& operation, Expected expected) {
    TestFrame test;
    const std::string name = operation + " i" + bits_of<T>();
    for (int round = 0; round < kRounds; ++round) {
        test.randomise<T>(integer_edges<T>());
        test.run(name);
        for (int lane = 0; lane < kLanes; ++lane) {
            const T a = test.value<T>(0)[lane], b = test.value<T>(1)[lane];
            check(test.result<T>()[lane] == static_cast<T>(expected(a, b)), name.c_str(), __FILE__, __LINE__);
        }
    }
}

template <typename T, typename Expected>
void check_compare(const std::string& operation, Expected expected) {
    TestFrame test;
    const std::string name = operation + " i" + bits_of<T>();
    for (int round = 0; round < kRounds; ++round) {
        test.randomise<T>(integer_edges<T>());
        test.value<T>(1)[round] = test.value<T>(0)[round];
        test.run(name);
        for (int lane = 0; lane < kLanes; ++lane) {
            const T a = test.value<T>(0)[lane], b = test.value<T>(1)[lane];
            check(has_lane(test.mask(kResult), lane) == expected(a, b), name.c_str(), __FILE__, __LINE__);
        }
    }
}

void arithmetic_wraps_at_its_width() {
    for_each_width([]<typename T>() {
        check_binary<T>("add", [](T a, T b) { return Wide{a} + b; });
        check_binary<T>("sub", [](T a, T b) { return Wide{a} - b; });
        check_binary<T>("mul", [](T a, T b) { return static_cast<unsigned __int128>(a) * b; });
        check_binary<T>("and", [](T a, T b) { return a & b; });
        check_binary<T>("or", [](T a, T b) { return a | b; });
        check_binary<T>("xor", [](T a, T b) { return a ^ b; });
    });
}

void shifts_beyond_the_width_leave_the_sign() {
    for_each_width([]<typename T>() {
        constexpr T width = 8 * sizeof(T);
        check_binary<T>("shl", [](T a, T b) { return b < width ? Wide{a} << b : 0; });
        check_binary<T>("lshr", [](T a, T b) { return b < width ? Wide{a} >> b : 0; });
        check_binary<T>("ashr", [](T a, T b) { return with_sign(a) >> (b < width ? b : width); });
    });
}

void division_by_zero_gives_ones_and_the_dividend() {
    for_each_width([]<typename T>() {
        check_binary<T>("udiv", [](T a, T b) { return b ? Wide{a} / b : -1; });
        check_binary<T>("urem", [](T a, T b) { return b ? Wide{a} % b : Wide{a}; });
        check_binary<T>("sdiv", [](T a, T b) { return b ? with_sign(a) / with_sign(b) : -1; });
        check_binary<T>("srem", [](T a, T b) { return b ? with_sign(a) % with_sign(b) : Wide{a}; });
    });
}

void the_least_integer_divided_by_minus_one_is_itself() {
    for_each_width([]<typename T>() {
        TestFrame test;
        const T least = static_cast<T>(T{1} << (8 * sizeof(T) - 1));
        test.value<T>(0).fill(least);
        test.value<T>(1).fill(static_cast<T>(-1));
        test.run("sdiv i" + bits_of<T>());
        CHECK(test.result<T>()[31] == least);
        test.run("srem i" + bits_of<T>());
        CHECK(test.result<T>()[31] == 0);
    });
}

void minima_and_comparisons_mind_the_sign() {
    for_each_width([]<typename T>() {
        check_binary<T>("umin", [](T a, T b) { return a < b ? a : b; });
        check_binary<T>("umax", [](T a, T b) { return a < b ? b : a; });
        check_binary<T>("smin", [](T a, T b) { return with_sign(a) < with_sign(b) ? a : b; });
        check_binary<T>("smax", [](T a, T b) { return with_sign(a) < with_sign(b) ? b : a; });
        check_compare<T>("eq", [](T a, T b) { return a == b; });
        check_compare<T>("ne", [](T a, T b) { return a != b; });
        check_compare<T>("ult", [](T a, T b) { return a < b; });
        check_compare<T>("ule", [](T a, T b) { return a <= b; });
        check_compare<T>("slt", [](T a, T b) { return with_sign(a) < with_sign(b); });
        check_compare<T>("sle", [](T a, T b) { return with_sign(a) <= with_sign(b); });
    });
}

template <typename T>
T reversed(T x) {
    T made = 0;
    for (unsigned bit = 0; bit < 8 * sizeof(T); ++bit)
        if (x >> bit & 1) made = static_cast<T>(made | T{1} << (8 * sizeof(T) - 1 - bit));
    return made;
}

void bits_are_counted_and_reversed() {
    for_each_width([]<typename T>() {
        check_binary<T>("popc", [](T a, T) { return std::popcount(a); });
        check_binary<T>("clz", [](T a, T) { return std::countl_zero(a); });
        check_binary<T>("brev", [](T a, T) { return reversed(a); });
    });
}

void masks_are_combined_lane_by_lane() {
    TestFrame test;
    test.mask(0) = 0b1100;
    test.mask(1) = 0b1010;
    for (const auto& [name, expected] :
         {std::pair{"and i1", 0b1000U}, std::pair{"or i1", 0b1110U}, std::pair{"xor i1", 0b0110U}}) {
        test.run(name);
        check(test.mask(kResult) == expected, name, __FILE__, __LINE__);
    }
}

template <typename T, typename Do>
void check_reduce(const std::string& operation, T neutral, Do combine) {
    TestFrame test;
    const std::string name = "reduce " + operation + " i" + bits_of<T>();
    for (const LaneMask chosen : {kAllLanes, LaneMask{0}, LaneMask{1} << 31, test.random_mask()}) {
        test.active = test.random_mask() | 1;
        test.randomise<T>(integer_edges<T>());
        test.mask(2) = chosen;
        for (const int where : {2, kNoMask}) {
            test.run(name, static_cast<std::int64_t>(neutral), where);
            T expected = neutral;
            for (int lane = 0; lane < kLanes; ++lane)
                if (has_lane(test.active & (where == kNoMask ? kAllLanes : chosen), lane))
                    expected = static_cast<T>(combine(expected, test.value<T>(0)[lane]));
            for (const T lane : test.result<T>()) check(lane == expected, name.c_str(), __FILE__, __LINE__);
        }
    }
}

template <typename T>
void check_reductions() {
    constexpr T ones = std::numeric_limits<T>::max();
    check_reduce<T>("add", 0, [](T a, T b) { return a + b; });
    check_reduce<T>("and", ones, [](T a, T b) { return a & b; });
    check_reduce<T>("or", 0, [](T a, T b) { return a | b; });
    check_reduce<T>("xor", 0, [](T a, T b) { return a ^ b; });
    check_reduce<T>("umin", ones, [](T a, T b) { return a < b ? a : b; });
    check_reduce<T>("umax", 0, [](T a, T b) { return a < b ? b : a; });
    check_reduce<T>("smin", ones / 2, [](T a, T b) { return with_sign(a) < with_sign(b) ? a : b; });
    check_reduce<T>("smax", ones / 2 + 1, [](T a, T b) { return with_sign(a) < with_sign(b) ? b : a; });
}

}  // namespace

int main() {
    arithmetic_wraps_at_its_width();
    shifts_beyond_the_width_leave_the_sign();
    division_by_zero_gives_ones_and_the_dividend();
    the_least_integer_divided_by_minus_one_is_itself();
    minima_and_comparisons_mind_the_sign();
    bits_are_counted_and_reversed();
    masks_are_combined_lane_by_lane();
    check_reductions<std::uint32_t>();
    check_reductions<std::uint64_t>();
    return warpwatt::test::failures();
}
