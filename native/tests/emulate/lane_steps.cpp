#include "tests/emulate/test_frame.h"

using namespace warpwatt::test;

namespace {

void each_lane_selects() {
    for_each_width([]<typename T>() {
        TestFrame test;
        test.randomise<T>(integer_edges<T>());
        const LaneMask yes = test.random_mask();
        Lanes<T>& taken = test.value<T>(1);
        const Lanes<T> other = test.value<T>(2);
        test.mask(0) = yes;
        test.run("select " + bits_of<T>());
        for (int lane = 0; lane < kLanes; ++lane)
            CHECK(test.result<T>()[lane] == (has_lane(yes, lane) ? taken[lane] : other[lane]));
    });
    TestFrame test;
    test.mask(0) = 0b1100, test.mask(1) = 0b1010, test.mask(2) = 0b0110;
    test.run("select 1");
    CHECK(test.mask(kResult) == 0b1010);
}

void lanes_read_others_by_the_low_five_bits() {
    for_each_width([]<typename T>() {
        TestFrame test;
        test.randomise<T>(integer_edges<T>());
        auto& lanes = test.value<std::uint32_t>(1);
        for (std::uint32_t lane = 0; lane < kLanes; ++lane) lanes[lane] = 7 * lane + 64;
        test.run("shuffle " + bits_of<T>());
        for (int lane = 0; lane < kLanes; ++lane)
            CHECK(test.result<T>()[lane] == test.value<T>(0)[7 * lane % 32]);
    });
    TestFrame test;
    test.mask(0) = 0b10;
    test.value<std::uint32_t>(1).fill(33);
    test.run("shuffle 1");
    CHECK(test.mask(kResult) == kAllLanes);
}

void votes_are_of_active_lanes() {
    TestFrame test;
    test.active = 0xFF00;
    test.mask(0) = 0x0FF0;
    test.run("active");
    CHECK(test.result<LaneMask>()[0] == 0xFF00 && test.result<LaneMask>()[31] == 0xFF00);
    test.run("ballot");
    CHECK(test.result<LaneMask>()[0] == 0x0F00 && test.result<LaneMask>()[31] == 0x0F00);
}

void equal_values_match() {
    TestFrame test;
    test.active = 0xFF;
    test.set_addresses(0, 1);
    test.machine.addresses[6] = 2;
    test.run("match");
    CHECK(test.result<LaneMask>()[2] == 0b1000100 && test.result<LaneMask>()[3] == 0b1000);
}

void lanes_whose_guard_is_off_are_counted() {
    TestFrame test;
    std::array<std::int64_t, 2> guarded{5, 5};
    test.machine.totals.guarded = guarded.data();
    test.active = 0xFF;
    test.mask(0) = 0xFFFFFF07;
    test.run("count", 1);
    CHECK(guarded[0] == 5 && guarded[1] == 10);
}

}  // namespace

int main() {
    each_lane_selects();
    lanes_read_others_by_the_low_five_bits();
    votes_are_of_active_lanes();
    equal_values_match();
    lanes_whose_guard_is_off_are_counted();
    return warpwatt::test::failures();
}
