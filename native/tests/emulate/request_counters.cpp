#include "emulate/request_counters.h"

#include "emulate/address_pattern.h"
#include "tests/check.h"

using namespace warpwatt::emulate;

namespace {

RequestCounters after(std::initializer_list<std::int64_t> strides) {
    RequestCounters sums{};
    for (const std::int64_t stride : strides) sums.add_request(kAllLanes, stride, 2);
    return sums;
}

void a_stride_is_regular_while_it_stays_the_same() {
    CHECK(after({}).stride_state == StrideState::kUnknown);
    CHECK(after({4, 4, kNoNeighbours}).stride_state == StrideState::kRegular);
    CHECK(after({kNoNeighbours, 4}).stride == 4);
    CHECK(after({4, 8}).stride_state == StrideState::kIrregular);
    CHECK(after({4, 8, 4}).stride_state == StrideState::kIrregular);
    CHECK(after({kVaries}).stride_state == StrideState::kIrregular);
}

void a_slot_stays_while_all_requests_reach_it() {
    RequestCounters sums{};
    sums.add_request(1, 0, 3);
    CHECK(sums.slot == 3);
    sums.add_request(1, 0, 3);
    CHECK(sums.slot == 3 && sums.requests == 2 && sums.lanes == 2);
    sums.add_request(1, 0, 4);
    sums.add_request(1, 0, 3);
    CHECK(sums.slot == kSeveralSlots);
}

void sums_of_two_operations_are_added() {
    RequestCounters one = after({4, 4}), other = after({4});
    one.sectors = 8;
    other.sectors = 4;
    one.add(other);
    CHECK(one.requests == 3 && one.sectors == 12 && one.lanes == 96);
    CHECK(one.stride_state == StrideState::kRegular && one.stride == 4 && one.slot == 2);
}

void strides_of_two_operations_must_agree() {
    RequestCounters one = after({4});
    one.add(after({8}));
    CHECK(one.stride_state == StrideState::kIrregular);
    RequestCounters fresh = after({});
    fresh.add(after({8}));
    CHECK(fresh.stride_state == StrideState::kRegular && fresh.stride == 8);
    RequestCounters varied = after({4});
    varied.add(after({kVaries}));
    CHECK(varied.stride_state == StrideState::kIrregular);
}

}  // namespace

int main() {
    a_stride_is_regular_while_it_stays_the_same();
    a_slot_stays_while_all_requests_reach_it();
    sums_of_two_operations_are_added();
    strides_of_two_operations_must_agree();
    return warpwatt::test::failures();
}
