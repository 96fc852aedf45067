#include "emulate/address_pattern.h"

#include "tests/check.h"

using namespace warpwatt::emulate;

namespace {

std::array<std::uint64_t, kLanes> strided(std::int64_t stride) {
    std::array<std::uint64_t, kLanes> addresses;
    for (int lane = 0; lane < kLanes; ++lane) addresses[lane] = 1000000 + lane * stride;
    return addresses;
}

void a_common_stride_is_found_whatever_its_sign() {
    for (const std::int64_t stride : {-8, 0, 4, 128}) {
        const AddressPattern found = pattern_of(strided(stride), kAllLanes);
        CHECK(found.stride == stride);
        CHECK(found.uniform() == (stride == 0));
        CHECK(found.sorted == (stride >= 0));
    }
}

void one_step_that_differs_makes_the_stride_vary() {
    auto addresses = strided(4);
    addresses[31] += 4;
    CHECK(pattern_of(addresses, kAllLanes).stride == kVaries);
    CHECK(pattern_of(addresses, kAllLanes >> 1).stride == 4);
}

void steps_over_lanes_that_are_off_do_not_count() {
    const AddressPattern found = pattern_of(strided(4), 0b1011);
    CHECK(found.stride == 4);
    CHECK(pattern_of(strided(4), 0b10101).stride == kNoNeighbours);
    CHECK(pattern_of(strided(4), 0b10101).sorted);
}

int distinct(const std::array<std::uint64_t, kLanes>& addresses, LaneMask lanes) {
    return distinct_addresses(addresses, lanes, pattern_of(addresses, lanes));
}

int most_on_one(const std::array<std::uint64_t, kLanes>& addresses, LaneMask lanes) {
    return most_on_one_address(addresses, lanes, pattern_of(addresses, lanes));
}

void addresses_of_lanes_that_are_on_come_in_order() {
    auto addresses = strided(-4);
    addresses[3] = addresses[7];
    const auto all = ascending_addresses(addresses, kAllLanes);
    for (int lane = 1; lane < kLanes; ++lane) CHECK(all[lane - 1] <= all[lane]);
    const auto some = ascending_addresses(addresses, 0b10010100);
    CHECK(some[0] == addresses[7]);
    CHECK(some[1] == addresses[4]);
    CHECK(some[2] == addresses[2]);
}

void different_addresses_are_counted_once() {
    auto addresses = strided(4);
    CHECK(distinct(addresses, kAllLanes) == 32);
    CHECK(distinct(addresses, 0xF0) == 4);
    CHECK(distinct(addresses, 0) == 0);
    CHECK(distinct(strided(-4), kAllLanes) == 32);
    for (int lane = 0; lane < kLanes; ++lane) addresses[lane] = lane % 3;
    CHECK(distinct(addresses, kAllLanes) == 3);
    for (int lane = 0; lane < kLanes; ++lane) addresses[lane] = lane / 5;
    CHECK(distinct(addresses, kAllLanes) == 7);
}

void the_most_lanes_on_one_address_are_counted() {
    auto addresses = strided(4);
    CHECK(most_on_one(addresses, kAllLanes) == 1);
    for (int lane = 20; lane < 25; ++lane) addresses[lane] = 7;
    CHECK(most_on_one(addresses, kAllLanes) == 5);
    CHECK(most_on_one(addresses, ~lane_bit(22)) == 4);
    CHECK(matching_lanes(addresses, kAllLanes, 20) == 0b11111U << 20);
}

}  // namespace

int main() {
    a_common_stride_is_found_whatever_its_sign();
    one_step_that_differs_makes_the_stride_vary();
    steps_over_lanes_that_are_off_do_not_count();
    addresses_of_lanes_that_are_on_come_in_order();
    different_addresses_are_counted_once();
    the_most_lanes_on_one_address_are_counted();
    return warpwatt::test::failures();
}
