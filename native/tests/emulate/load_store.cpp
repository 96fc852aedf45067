#include "emulate/random_fill.h"
#include "emulate/run_time.h"
#include "tests/check.h"
#include "tests/emulate/test_machine.h"

using namespace warpwatt::test;

namespace {

std::uint32_t value(TestMachine& test, int element, int lane) {
    return test.read<std::uint32_t>(test.machine.value_bytes() + (element * kLanes + lane) * 4);
}

void number_words(TestMachine& test) {
    for (std::uint32_t i = 0; i < TestMachine::kBufferBytes / 4; ++i)
        std::memcpy(test.buffer.data() + 4 * i, &i, 4);
}

void contiguous_elements_are_dealt_out_to_vectors() {
    for (const int count : {1, 2, 4}) {
        TestMachine test;
        number_words(test);
        test.set_operation(Space::kGlobal, 4, count);
        test.set_addresses(kBuffer, 4 * count);
        load_lanes(&test.machine, &test.warp(), 0, kAllLanes);
        for (int element = 0; element < count; ++element)
            for (int lane = 0; lane < kLanes; ++lane)
                CHECK(value(test, element, lane) == static_cast<std::uint32_t>(lane * count + element));
        CHECK(test.counted(Space::kGlobal).sectors == 4 * count);
    }
}

void lanes_that_are_off_load_zero() {
    TestMachine test;
    number_words(test);
    test.set_operation(Space::kGlobal, 4);
    test.set_addresses(kBuffer + 400, 8);
    test.machine.values[0].fill(~std::uint64_t{0});
    load_lanes(&test.machine, &test.warp(), 0, 0b10);
    CHECK(value(test, 0, 0) == 0);
    CHECK(value(test, 0, 1) == 102);
}

void the_last_lane_prevails_where_several_store() {
    TestMachine test;
    test.set_operation(Space::kShared, 2);
    test.set_addresses(0, 0);
    for (int lane = 0; lane < kLanes; ++lane)
        std::memcpy(test.machine.value_bytes() + 2 * lane,
                    std::array{static_cast<std::uint16_t>(lane)}.data(), 2);
    store_lanes(&test.machine, &test.warp(), 0, 0xFF);
    CHECK(test.read<std::uint16_t>(test.block().shared) == 7);
}

void what_is_stored_contiguously_is_loaded_lane_by_lane() {
    for (const int bytes : {1, 2, 4, 8}) {
        TestMachine test;
        test.set_operation(Space::kGlobal, bytes, 2);
        test.set_addresses(kBuffer, 2 * bytes);
        for (int i = 0; i < 2 * kLanes * bytes; ++i)
            test.machine.value_bytes()[i] = static_cast<unsigned char>(i * 7);
        std::vector<unsigned char> stored(test.machine.value_bytes(),
                                          test.machine.value_bytes() + 64 * bytes);
        store_lanes(&test.machine, &test.warp(), 0, kAllLanes);
        load_lanes(&test.machine, &test.warp(), 0, kAllLanes >> 1);
        for (int element = 0; element < 2; ++element)
            CHECK(std::memcmp(test.machine.value_bytes() + element * kLanes * bytes,
                              stored.data() + element * kLanes * bytes, 31 * bytes) == 0);
    }
}

// The last lane reads elsewhere in the one machine, and is off in the other.
void lanes_with_one_address_load_what_they_do_one_by_one() {
    for (const Space space : {Space::kGlobal, Space::kShared, Space::kLocal, Space::kConstant}) {
        TestMachine together, apart;
        for (TestMachine* test : {&together, &apart}) {
            number_words(*test);
            test->set_operation(space, 4, 4);
            test->set_addresses(space == Space::kGlobal ? kBuffer + 48 : 48, 0);
        }
        apart.machine.addresses[31] += 1 << 4;
        load_lanes(&together.machine, &together.warp(), 0, kAllLanes >> 1);
        load_lanes(&apart.machine, &apart.warp(), 0, kAllLanes);
        for (int element = 0; element < 4; ++element) {
            for (int lane = 0; lane < 31; ++lane)
                CHECK(value(together, element, lane) == value(apart, element, lane));
            CHECK(value(together, element, 31) == 0);
        }
        CHECK(together.counted(space).uniform == 1);
        CHECK(apart.counted(space).uniform == 0);
        CHECK(together.machine.trace.requests[0].wavefronts == (space == Space::kShared ? 2 : 0));
    }
}

void one_address_is_loaded_once() {
    TestMachine test;
    number_words(test);
    test.set_operation(Space::kGlobal, 4);
    load_uniform(&test.machine, &test.warp(), 0, kAllLanes, kBuffer + 40);
    CHECK(value(test, 0, 0) == 10);
    CHECK(test.counted(Space::kGlobal).sectors == 1);
    load_uniform(&test.machine, &test.warp(), 0, 0, kBuffer + 40);
    CHECK(value(test, 0, 0) == 0);
    CHECK(test.counted(Space::kGlobal).requests == 1);
}

void a_probe_moves_nothing_but_is_checked_and_counted() {
    TestMachine test;
    test.set_operation(Space::kGlobal, 4);
    test.operation.probe = 1;
    test.set_addresses(kBuffer, 4);
    test.machine.values[0].fill(5);
    store_lanes(&test.machine, &test.warp(), 0, kAllLanes);
    CHECK(test.buffer[0] == 0);
    CHECK(test.counted(Space::kGlobal).requests == 1);
    test.set_addresses(kBuffer + TestMachine::kBufferBytes - 8, 4);
    store_lanes(&test.machine, &test.warp(), 0, kAllLanes);
    CHECK(test.machine.fault.reason == FaultReason::kOutOfBounds && test.machine.fault.thread == 2);
}

FaultReason reason_of_load(std::uint64_t first, std::uint64_t stride) {
    TestMachine test;
    test.set_operation(Space::kGlobal, 4);
    test.set_addresses(first, stride);
    load_lanes(&test.machine, &test.warp(), 0, kAllLanes);
    CHECK(test.counted(Space::kGlobal).requests == (test.machine.fault.reason == FaultReason::kNone));
    return test.machine.fault.reason;
}

void misaligned_lanes_are_at_fault_side_by_side_or_not() {
    CHECK(reason_of_load(kBuffer, 4) == FaultReason::kNone);
    CHECK(reason_of_load(kBuffer, 8) == FaultReason::kNone);
    CHECK(reason_of_load(kBuffer + 2, 4) == FaultReason::kMisaligned);
    CHECK(reason_of_load(kBuffer, 6) == FaultReason::kMisaligned);
}

void each_lane_has_its_own_local_memory() {
    TestMachine test;
    test.set_operation(Space::kLocal, 4);
    test.set_addresses(8, 0);
    for (std::uint32_t lane = 0; lane < kLanes; ++lane)
        std::memcpy(test.machine.value_bytes() + 4 * lane, &lane, 4);
    store_lanes(&test.machine, &test.warp(), 0, kAllLanes);
    for (int lane = 0; lane < kLanes; ++lane)
        CHECK(test.read<int>(test.warp().local + lane * TestMachine::kLocalBytes + 8) == lane);
}

void lanes_may_reach_two_buffers() {
    TestMachine test;
    number_words(test);
    std::vector<unsigned char> other(64, 1);
    test.bases[3] = other.data();
    test.sizes[3] = 64;
    test.set_operation(Space::kGlobal, 4);
    test.set_addresses(kBuffer + 4, 4);
    test.machine.addresses[5] = (std::uint64_t{3} << kSlotShift) + 8;
    load_lanes(&test.machine, &test.warp(), 0, kAllLanes);
    CHECK(value(test, 0, 4) == 5);
    CHECK(value(test, 0, 5) == 0x01010101);
}

void after_a_fault_nothing_happens() {
    TestMachine test;
    test.set_operation(Space::kGlobal, 4);
    test.machine.fault.reason = FaultReason::kTrap;
    test.set_addresses(kBuffer, 4);
    test.machine.values[0].fill(5);
    store_lanes(&test.machine, &test.warp(), 0, kAllLanes);
    CHECK(test.buffer[0] == 0);
    CHECK(test.counted(Space::kGlobal).requests == 0);
}

// A buffer of random numbers, of which each lane reads one of a page of its own.
struct RandomGather : TestMachine {
    std::array<unsigned char, kBufferBytes / kPageBytes> pages{};

    RandomGather() {
        set_operation(Space::kGlobal, 4);
        flags[kBufferSlot] = pages.data();
        kinds[kBufferSlot] = static_cast<int>(FillKind::kRandom) << 8 | static_cast<int>(ElementType::kI32);
        set_addresses(kBuffer + 8, 2 * kPageBytes);
    }

    std::uint64_t begins_as(int lane) const { return split_mix(0, 2 + lane * 2 * kPageBytes / 4) >> 57; }
};

void pages_that_are_seldom_read_are_not_made() {
    RandomGather test;
    load_lanes(&test.machine, &test.warp(), 0, kAllLanes);
    for (int lane = 0; lane < kLanes; ++lane) {
        CHECK(value(test, 0, lane) == test.begins_as(lane));
        CHECK(test.pages[2 * lane] != kMade);
    }
    CHECK(test.read<std::uint32_t>(test.buffer.data() + 8) == 0);
}

void pages_that_are_often_read_are_made() {
    RandomGather test;
    for (int times = 0; times <= kReadOften; ++times) {
        load_lanes(&test.machine, &test.warp(), 0, kAllLanes);
        for (int lane = 0; lane < kLanes; ++lane) CHECK(value(test, 0, lane) == test.begins_as(lane));
    }
    CHECK(test.pages[0] == kMade && test.pages[62] == kMade && test.pages[1] == 0);
}

void pages_that_are_written_are_made() {
    RandomGather test;
    load_lanes(&test.machine, &test.warp(), 0, kAllLanes);
    std::memset(test.machine.value_bytes(), 0xFF, 4 * kLanes);
    store_lanes(&test.machine, &test.warp(), 0, 0b1);
    CHECK(test.pages[0] == kMade && test.pages[2] != kMade);
    load_lanes(&test.machine, &test.warp(), 0, kAllLanes);
    CHECK(value(test, 0, 0) == 0xFFFFFFFF);
    CHECK(value(test, 0, 1) == test.begins_as(1));
    CHECK(test.read<std::uint32_t>(test.buffer.data() + 12) == split_mix(0, 3) >> 57);
}

}  // namespace

int main() {
    contiguous_elements_are_dealt_out_to_vectors();
    lanes_that_are_off_load_zero();
    the_last_lane_prevails_where_several_store();
    what_is_stored_contiguously_is_loaded_lane_by_lane();
    lanes_with_one_address_load_what_they_do_one_by_one();
    one_address_is_loaded_once();
    a_probe_moves_nothing_but_is_checked_and_counted();
    misaligned_lanes_are_at_fault_side_by_side_or_not();
    each_lane_has_its_own_local_memory();
    lanes_may_reach_two_buffers();
    after_a_fault_nothing_happens();
    pages_that_are_seldom_read_are_not_made();
    pages_that_are_often_read_are_made();
    pages_that_are_written_are_made();
    return warpwatt::test::failures();
}
