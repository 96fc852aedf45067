#include <cfenv>
#include <cmath>
#include <type_traits>

#include "tests/emulate/test_frame.h"

using namespace warpwatt::test;

namespace {

template <typename From, typename To>
void check_resize(const std::string& from) {
    TestFrame test;
    test.randomise<From>({0, 1, std::numeric_limits<From>::max(), std::numeric_limits<From>::min()});
    const std::string name = "resize " + from + bits_of<From>() + " i" + bits_of<To>();
    test.run(name);
    for (int lane = 0; lane < kLanes; ++lane)
        check(test.result<To>()[lane] == static_cast<To>(test.value<From>(0)[lane]), name.c_str(), __FILE__,
              __LINE__);
}

void integers_are_extended_and_cut() {
    for_each_width([]<typename From>() {
        for_each_width([]<typename To>() {
            check_resize<From, To>("i");
            if constexpr (sizeof(From) < 8) check_resize<std::make_signed_t<From>, To>("signed i");
        });
    });
}

void masks_become_numbers_and_back() {
    for_each_width([]<typename T>() {
        for (const int one : {1, -1}) {
            TestFrame test;
            const LaneMask mask = test.mask(0) = test.random_mask();
            test.run("spread " + bits_of<T>(), one);
            for (int lane = 0; lane < kLanes; ++lane)
                CHECK(test.result<T>()[lane] == static_cast<T>(has_lane(mask, lane) ? one : 0));
            test.value<T>(0) = test.result<T>();
            test.value<T>(0)[3] = 2;  // only the lowest bit counts
            test.run("lowest bits " + bits_of<T>());
            CHECK(test.mask(kResult) == (mask & ~LaneMask{0b1000}));
        }
    });
}

template <typename From, typename To>
void check_saturation() {
    using Limits = std::numeric_limits<To>;
    const From infinite = std::numeric_limits<From>::infinity(), end = std::ldexp(From{1}, Limits::digits);
    TestFrame test;
    auto& a = test.value<From>(0);
    a = {0,           From(-0.9),
         From(1.9),   From(100.5),
         -end,        std::nextafter(end, From{0}),
         end,         infinite,
         -infinite,   std::numeric_limits<From>::quiet_NaN(),
         From(-1e30), From(1e30),
         From(-7.9)};
    test.run((std::is_signed_v<To> ? "fptosi f" : "fptoui f") + bits_of<From>() + " i" + bits_of<To>());
    for (int lane = 0; lane < kLanes; ++lane) {
        const long double whole = std::trunc(static_cast<long double>(a[lane]));
        const To expected = std::isnan(a[lane])           ? To{0}
                            : whole <= Limits::min()      ? Limits::min()
                            : whole >= (long double){end} ? Limits::max()
                                                          : static_cast<To>(whole);
        CHECK(test.result<To>()[lane] == expected);
    }
}

void floats_to_integers_saturate() {
    for_each_width([]<typename To>() {
        check_saturation<float, To>();
        check_saturation<double, To>();
        check_saturation<float, std::make_signed_t<To>>();
        check_saturation<double, std::make_signed_t<To>>();
    });
}

template <typename From, typename To>
To converted(const std::string& name, From x, int mode = FE_TONEAREST) {
    TestFrame test;
    test.value<From>(0).fill(x);
    test.run(name, mode);
    return test.result<To>()[31];
}

void what_does_not_fit_is_rounded_as_the_step_says() {
    constexpr std::int64_t odd = (1 << 24) + 1;
    constexpr float below = 1 << 24, above = below + 2;
    const auto single = [](std::int64_t x, int mode) {
        return converted<std::int64_t, float>("sitofp i64 f32", x, mode);
    };
    CHECK(single(odd, FE_TONEAREST) == below && single(odd, FE_DOWNWARD) == below);
    CHECK(single(odd, FE_UPWARD) == above && single(-odd, FE_UPWARD) == -below);
    CHECK(single(-odd, FE_TOWARDZERO) == -below && single(-odd, FE_DOWNWARD) == -above);
    const auto narrowed = [](double x, int mode) {
        return converted<double, float>("fptrunc f64 f32", x, mode);
    };
    CHECK(narrowed(odd, FE_TONEAREST) == below && narrowed(odd, FE_UPWARD) == above);
    CHECK(narrowed(1e300, FE_TONEAREST) == std::numeric_limits<float>::infinity());
    CHECK(narrowed(1e300, FE_DOWNWARD) == std::numeric_limits<float>::max());
    const auto widened = converted<float, double>("fpext f32 f64", 0.1F);
    CHECK(widened == double{0.1F});
}

void the_highest_bit_is_no_sign_where_there_is_none() {
    constexpr std::uint64_t half = std::uint64_t{1} << 63;
    const auto without = converted<std::uint64_t, double>("uitofp i64 f64", half);
    const auto with = converted<std::uint64_t, double>("sitofp i64 f64", half);
    const auto single = converted<std::uint64_t, float>("uitofp i64 f32", ~std::uint64_t{0});
    CHECK(without == std::ldexp(1.0, 63) && with == -without);
    CHECK(single == std::ldexp(1.0F, 64));
}

}  // namespace

int main() {
    integers_are_extended_and_cut();
    masks_become_numbers_and_back();
    floats_to_integers_saturate();
    what_does_not_fit_is_rounded_as_the_step_says();
    the_highest_bit_is_no_sign_where_there_is_none();
    return warpwatt::test::failures();
}
