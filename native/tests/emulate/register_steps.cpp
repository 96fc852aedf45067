#include <cstddef>

#include "tests/emulate/test_frame.h"

using namespace warpwatt::test;

namespace {

constexpr std::int64_t kRegister = offsetof(Warp, awaited);  // any words of the warp will do

template <typename T>
Lanes<T> held(TestFrame& test) {
    return test.read<Lanes<T>>(reinterpret_cast<unsigned char*>(&test.warp()) + kRegister);
}

void chosen_active_lanes_are_set() {
    for_each_width([]<typename T>() {
        for (const LaneMask active : {kAllLanes, LaneMask{0x00FFFF00}})
            for (const int where : {kNoMask, 2}) {
                TestFrame test;
                test.randomise<T>(integer_edges<T>());
                test.active = active;
                const LaneMask on = active & (where == kNoMask ? kAllLanes : test.mask(2));
                test.run("set " + bits_of<T>(), kRegister, where);
                for (int lane = 0; lane < kLanes; ++lane)
                    CHECK(held<T>(test)[lane] == (has_lane(on, lane) ? test.value<T>(0)[lane] : T{0}));
                test.run("get " + bits_of<T>(), kRegister);
                CHECK(test.result<T>() == held<T>(test));
            }
    });
}

void uniform_registers_get_the_first_active_lane() {
    for_each_width([]<typename T>() {
        TestFrame test;
        test.value<T>(0)[4] = 77;
        test.active = 0xF0;
        test.mask(2) = 0x0F;
        test.run("set uniform " + bits_of<T>(), kRegister);
        CHECK(held<T>(test)[0] == 0);
        test.mask(2) = 0x80;
        test.run("set uniform " + bits_of<T>(), kRegister);
        test.run("get uniform " + bits_of<T>(), kRegister);
        CHECK(held<T>(test)[0] == 77 && test.result<T>()[0] == 77 && test.result<T>()[31] == 77);
    });
}

void masks_are_registers_too() {
    TestFrame test;
    test.active = 0xFF;
    test.mask(0) = 0xAAAA;
    test.mask(2) = 0x0F;
    test.run("set 1", kRegister);
    CHECK(held<LaneMask>(test)[0] == 0x0A);
    test.run("set 1", kRegister, kNoMask);
    test.run("get 1", kRegister);
    CHECK(test.mask(kResult) == 0xAA);
    test.run("set uniform 1", kRegister);  // lane 0 does not hold
    test.run("get uniform 1", kRegister);
    CHECK(test.mask(kResult) == 0);
    test.mask(0) = 1;
    test.run("set uniform 1", kRegister);
    test.run("get uniform 1", kRegister);
    CHECK(test.mask(kResult) == kAllLanes);
}

void special_values_are_the_warps() {
    TestFrame test(32, 3);
    test.run("tid", 0);
    CHECK(test.result<int>()[31] == 31);
    test.run("tid", 1);
    CHECK(test.result<int>()[31] == 0);
    test.warp().special.smid = 9;
    test.run("special", offsetof(SpecialRegisters, smid));
    CHECK(test.result<int>()[0] == 9 && test.result<int>()[31] == 9);
}

void clocks_stand_at_the_start_of_the_block() {
    TestFrame test;
    test.machine.clock = 5000;
    test.warp().clock = 1000;
    test.warp().turn = 90;
    test.run("clock", 10);
    CHECK(test.result<std::int64_t>()[31] == 900);
    test.run("clock of all", 10);
    CHECK(test.result<std::int64_t>()[31] == 4900);
}

}  // namespace

int main() {
    chosen_active_lanes_are_set();
    uniform_registers_get_the_first_active_lane();
    masks_are_registers_too();
    special_values_are_the_warps();
    clocks_stand_at_the_start_of_the_block();
    return warpwatt::test::failures();
}
