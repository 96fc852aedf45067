#include "emulate/shared_banks.h"

#include <numeric>

#include "tests/check.h"

using namespace warpwatt::emulate;

namespace {

using Addresses = std::array<std::uint64_t, kLanes>;

template <typename AddressOf>
int passes(std::int64_t bytes, AddressOf address_of, LaneMask lanes = kAllLanes) {
    Addresses addresses;
    for (int lane = 0; lane < kLanes; ++lane) addresses[lane] = address_of(lane);
    return wavefronts(addresses, lanes, bytes);
}

// A stride of w words puts gcd(w, 32) lanes on each bank.
void conflicts_of_a_stride_are_its_common_divisor_with_the_banks() {
    for (int words = 1; words <= 64; ++words)
        CHECK(passes(4, [&](int lane) { return lane * words * 4; }) == std::gcd(words, 32));
}

void lanes_with_one_word_share_it() {
    CHECK(passes(4, [](int) { return 64; }) == 1);
    CHECK(passes(1, [](int lane) { return lane; }) == 1);
    CHECK(passes(2, [](int lane) { return lane * 2; }) == 1);
    CHECK(passes(4, [](int lane) { return lane % 2 * 128; }) == 2);  // two words of one bank
}

void wide_accesses_are_served_by_half_and_quarter_warps() {
    CHECK(passes(8, [](int lane) { return lane * 8; }) == 2);
    CHECK(passes(16, [](int lane) { return lane * 16; }) == 4);
    CHECK(passes(16, [](int lane) { return lane * 16; }, 0xFF) == 1);
}

void neighbours_with_one_address_are_served_together() {
    CHECK(passes(16, [](int lane) { return lane / 2 * 16; }) == 2);                   // t and t ^ 1
    CHECK(passes(16, [](int lane) { return (lane / 4 * 2 + lane % 2) * 16; }) == 2);  // t and t ^ 2
    CHECK(passes(8, [](int lane) { return lane / 2 * 8; }) == 1);
    CHECK(passes(16, [](int) { return 0; }) == 2);
    CHECK(passes(8, [](int) { return 0; }) == 1);
}

void lanes_that_are_off_need_nothing() {
    CHECK(passes(4, [](int lane) { return lane * 128; }, 0) == 0);
    CHECK(passes(4, [](int lane) { return lane * 128; }, 0b10011) == 3);
    CHECK(passes(16, [](int lane) { return lane * 16; }, 0x00FF00FF) == 2);  // two quarters are empty
}

void lanes_with_one_address_need_no_look_at_the_banks() {
    for (const std::int64_t bytes : {1, 2, 4, 8, 12, 16, 32, 64, 256, 512})
        for (const LaneMask lanes : {0U, 1U, 0xF0U, 0x8001U, 0xFFFFU, 0x10000U, 0x18000U, kAllLanes})
            CHECK(wavefronts_of_one(lanes, bytes) == passes(bytes, [](int) { return 512; }, lanes));
}

}  // namespace

int main() {
    conflicts_of_a_stride_are_its_common_divisor_with_the_banks();
    lanes_with_one_word_share_it();
    wide_accesses_are_served_by_half_and_quarter_warps();
    neighbours_with_one_address_are_served_together();
    lanes_that_are_off_need_nothing();
    lanes_with_one_address_need_no_look_at_the_banks();
    return warpwatt::test::failures();
}
