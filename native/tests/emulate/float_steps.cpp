#include <bit>
#include <cfenv>
#include <cmath>

#include "tests/emulate/test_frame.h"

using namespace warpwatt::test;

namespace {

constexpr int kModes[] = {FE_TONEAREST, FE_DOWNWARD, FE_UPWARD, FE_TOWARDZERO};

template <typename T>
using Limits = std::numeric_limits<T>;

template <typename T>
std::string type() {
    return " f" + bits_of<T>();
}

template <typename T>
std::vector<T> edges() {
    const T tiny = Limits<T>::denorm_min(), infinite = Limits<T>::infinity();
    return {T(0),
            T(-0.0),
            T(1),
            T(-1),
            T(0.5),
            T(-0.5),
            T(1.5),
            T(2.5),
            T(-2.5),
            T(1) / 3,
            T(1e20),
            T(-1e-20),
            Limits<T>::max(),
            Limits<T>::min(),
            tiny,
            -tiny,
            infinite,
            -infinite,
            Limits<T>::quiet_NaN()};
}

template <typename T>
bool are_same(T a, T b) {
    return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
}

// Results of all modes; `expected` computes in the mode that the processor has.
template <typename T, typename Expected>
void check_rounded(const std::string& operation, Expected expected) {
    const std::string name = operation + type<T>();
    TestFrame test;
    for (const int mode : kModes)
        for (int round = 0; round < 8; ++round) {
            test.randomise<T>(edges<T>());
            test.run(name, mode);
            check(std::fegetround() == FE_TONEAREST, "rounds to nearest again", __FILE__, __LINE__);
            std::fesetround(mode);
            for (int lane = 0; lane < kLanes; ++lane) {
                const volatile T a = test.value<T>(0)[lane], b = test.value<T>(1)[lane],
                                 c = test.value<T>(2)[lane];
                const volatile T found = expected(a, b, c);
                check(are_same<T>(test.result<T>()[lane], found), name.c_str(), __FILE__, __LINE__);
            }
            std::fesetround(FE_TONEAREST);
        }
}

template <typename T>
void arithmetic_rounds_as_the_step_says() {
    using V = const volatile T&;
    check_rounded<T>("fadd", [](V a, V b, V) { return a + b; });
    check_rounded<T>("fsub", [](V a, V b, V) { return a - b; });
    check_rounded<T>("fmul", [](V a, V b, V) { return a * b; });
    check_rounded<T>("fdiv", [](V a, V b, V) { return a / b; });
    check_rounded<T>("fma", [](V a, V b, V c) { return std::fma(T(a), T(b), T(c)); });
    check_rounded<T>("fsqrt", [](V a, V, V) { return std::sqrt(T(a)); });
    check_rounded<T>("frint", [](V a, V, V) { return std::nearbyint(T(a)); });
}

template <typename T>
T quotient(int mode) {
    TestFrame test;
    test.value<T>(0).fill(1);
    test.value<T>(1).fill(3);
    test.run("fdiv" + type<T>(), mode);
    return test.result<T>()[7];
}

template <typename T>
void a_third_lies_between_its_neighbours() {
    CHECK(std::nextafter(quotient<T>(FE_DOWNWARD), T(1)) == quotient<T>(FE_UPWARD));
    CHECK(quotient<T>(FE_TOWARDZERO) == quotient<T>(FE_DOWNWARD));
    CHECK(quotient<T>(FE_TONEAREST) == T(1) / 3);
}

template <typename T>
T extreme(const std::string& operation, T a, T b) {
    TestFrame test;
    test.value<T>(0).fill(a);
    test.value<T>(1).fill(b);
    test.run(operation + type<T>());
    return test.result<T>()[31];
}

template <typename T>
void extremes_leave_nan_out_and_order_zeros() {
    const T nan = Limits<T>::quiet_NaN(), infinite = Limits<T>::infinity();
    for (const char* operation : {"fmin", "fmax"}) {
        CHECK(extreme<T>(operation, nan, 2) == 2 && extreme<T>(operation, 2, nan) == 2);
        CHECK(std::isnan(extreme<T>(operation, nan, nan)));
    }
    CHECK(std::signbit(extreme<T>("fmin", 0, T(-0.0))) && std::signbit(extreme<T>("fmin", T(-0.0), 0)));
    CHECK(!std::signbit(extreme<T>("fmax", 0, T(-0.0))) && !std::signbit(extreme<T>("fmax", T(-0.0), 0)));
    CHECK(extreme<T>("fmin", -infinite, 1) == -infinite && extreme<T>("fmax", -infinite, 1) == 1);
    CHECK(extreme<T>("fmin", 3, -4) == -4 && extreme<T>("fmax", 3, -4) == 3);
}

template <typename T, typename Expected>
void check_compare(const std::string& operation, Expected expected) {
    TestFrame test;
    for (int round = 0; round < 8; ++round) {
        test.randomise<T>(edges<T>());
        test.value<T>(1)[round] = test.value<T>(0)[round];
        test.run(operation + type<T>());
        for (int lane = 0; lane < kLanes; ++lane)
            check(has_lane(test.mask(kResult), lane) ==
                      expected(test.value<T>(0)[lane], test.value<T>(1)[lane]),
                  operation.c_str(), __FILE__, __LINE__);
    }
}

template <typename T>
void nothing_compares_with_nan() {
    check_compare<T>("feq", [](T a, T b) { return a == b; });
    check_compare<T>("flt", [](T a, T b) { return a < b; });
    check_compare<T>("fle", [](T a, T b) { return a <= b; });
    check_compare<T>("funo", [](T a, T b) { return a != a || b != b; });
}

template <typename Bits>
void signs_change_and_nothing_else() {
    TestFrame test;
    const auto sign = static_cast<Bits>(Bits{1} << (8 * sizeof(Bits) - 1));
    test.randomise<Bits>({0, sign, std::numeric_limits<Bits>::max()});
    test.run("fneg f" + bits_of<Bits>());
    for (int lane = 0; lane < kLanes; ++lane)
        CHECK((test.result<Bits>()[lane] ^ test.value<Bits>(0)[lane]) == sign);
    test.run("fabs f" + bits_of<Bits>());
    for (int lane = 0; lane < kLanes; ++lane)
        CHECK(test.result<Bits>()[lane] == static_cast<Bits>(test.value<Bits>(0)[lane] & ~sign));
}

template <typename T>
void functions_are_those_of_double_precision() {
    TestFrame test;
    const auto expect = [&](const char* name, double (*function)(double)) {
        test.randomise<T>(edges<T>());
        test.run(name + type<T>());
        for (int lane = 0; lane < kLanes; ++lane)
            check(are_same(test.result<T>()[lane], static_cast<T>(function(test.value<T>(0)[lane]))), name,
                  __FILE__, __LINE__);
    };
    expect("ffloor", [](double x) { return std::floor(x); });
    expect("fceil", [](double x) { return std::ceil(x); });
    expect("ftrunc", [](double x) { return std::trunc(x); });
    expect("rcp", [](double x) { return 1 / x; });
    expect("sqrt", [](double x) { return std::sqrt(x); });
    expect("rsqrt", [](double x) { return 1 / std::sqrt(x); });
    expect("ex2", [](double x) { return std::exp2(x); });
    expect("lg2", [](double x) { return std::log2(x); });
    expect("sin", [](double x) { return std::sin(x); });
    expect("cos", [](double x) { return std::cos(x); });
    expect("tanh", [](double x) { return std::tanh(x); });
}

template <typename T>
void check_all() {
    arithmetic_rounds_as_the_step_says<T>();
    a_third_lies_between_its_neighbours<T>();
    extremes_leave_nan_out_and_order_zeros<T>();
    nothing_compares_with_nan<T>();
    functions_are_those_of_double_precision<T>();
}

}  // namespace

int main() {
    check_all<float>();
    check_all<double>();
    signs_change_and_nothing_else<std::uint16_t>();
    signs_change_and_nothing_else<std::uint32_t>();
    signs_change_and_nothing_else<std::uint64_t>();
    return warpwatt::test::failures();
}
