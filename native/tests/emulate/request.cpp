#include "emulate/request.h"

#include "tests/check.h"
#include "tests/emulate/test_machine.h"

using namespace warpwatt::test;

namespace {

LanesBySpace all_in(Space space, LaneMask lanes) {
    LanesBySpace found{};
    found[static_cast<int>(space)] = lanes;
    return found;
}

// The formula agrees with counting lane by lane.
void contiguous_requests_are_counted_as_any_others() {
    for (const int bytes : {1, 2, 4, 8, 16})
        for (const Space space : {Space::kGlobal, Space::kShared})
            for (int shift = 0; shift < 5; ++shift) {
                TestMachine formula, lanes;
                const std::uint64_t first = (space == Space::kGlobal ? kBuffer : 0) + shift * bytes;
                for (TestMachine* test : {&formula, &lanes}) {
                    test->set_operation(space, bytes);
                    test->set_addresses(first, bytes);
                }
                count_contiguous(Request(formula.machine, formula.warp(), 0), space, first);
                count_lanes(Request(lanes.machine, lanes.warp(), 0), kAllLanes, all_in(space, kAllLanes));
                const RequestCounters &one = formula.counted(space), &other = lanes.counted(space);
                CHECK(one.sectors == other.sectors);
                CHECK(one.lines == other.lines);
                CHECK(one.l1_passes == other.l1_passes);
                CHECK(one.wavefronts == other.wavefronts);
                CHECK(one.ideal == other.ideal);
                CHECK(one.stride == other.stride && one.stride == bytes);
                CHECK(one.slot == other.slot);
                CHECK(formula.machine.trace.line_count == lanes.machine.trace.line_count);
                for (int i = 0; i < formula.machine.trace.line_count; ++i)
                    CHECK(formula.lines[i] == lanes.lines[i]);
            }
}

void one_address_of_global_memory_is_one_sector() {
    TestMachine test;
    test.set_operation(Space::kGlobal, 4);
    test.set_addresses(kBuffer + 64, 0);
    count_uniform(Request(test.machine, test.warp(), 0), Space::kGlobal, 0b111, kBuffer + 64);
    const RequestCounters& sums = test.counted(Space::kGlobal);
    CHECK(sums.requests == 1 && sums.lanes == 3 && sums.uniform == 1);
    CHECK(sums.sectors == 1 && sums.lines == 1 && sums.l1_passes == 1 && sums.ideal == 1);
    CHECK(sums.stride_state == StrideState::kRegular && sums.stride == 0);
    CHECK(test.machine.trace.request_count == 1);
    CHECK(test.lines[0] == (kBuffer | 1 << 2));
}

void bank_conflicts_are_wavefronts_above_the_ideal() {
    TestMachine test;
    test.set_operation(Space::kShared, 4);
    test.set_addresses(0, 8);
    count_lanes(Request(test.machine, test.warp(), 0), kAllLanes, all_in(Space::kShared, kAllLanes));
    CHECK(test.counted(Space::kShared).wavefronts == 2);
    CHECK(test.counted(Space::kShared).ideal == 1);
    CHECK(test.counted(Space::kShared).sectors == 0);
    CHECK(test.requests[0].wavefronts == 2 && test.requests[0].lines == 0);
}

// Two addresses of 16 bytes: no request of that width takes fewer than two wavefronts.
void wide_requests_take_two_wavefronts_at_best() {
    TestMachine test;
    test.set_operation(Space::kShared, 4, 4);
    for (int lane = 0; lane < kLanes; ++lane) test.machine.addresses[lane] = lane % 2 * 16;
    count_lanes(Request(test.machine, test.warp(), 0), kAllLanes, all_in(Space::kShared, kAllLanes));
    CHECK(test.counted(Space::kShared).wavefronts == 2);
    CHECK(test.counted(Space::kShared).ideal == 2);
}

void atomics_count_lanes_that_collide() {
    TestMachine test;
    test.set_operation(Space::kGlobal, 4);
    test.operation.atomic = AtomicOperation::kAdd;
    test.set_addresses(kBuffer, 0);
    count_lanes(Request(test.machine, test.warp(), 0), kAllLanes, all_in(Space::kGlobal, kAllLanes));
    CHECK(test.counted(Space::kGlobal).collisions == 32);
    CHECK(test.counted(Space::kGlobal).uniform == 1);
}

// The same offset in all lanes' local memory is one line: words are interleaved.
void local_memory_is_interleaved() {
    TestMachine test;
    test.set_operation(Space::kLocal, 4, 2);
    test.set_addresses(8, 0);
    count_lanes(Request(test.machine, test.warp(), 0), kAllLanes, all_in(Space::kLocal, kAllLanes));
    CHECK(test.counted(Space::kLocal).lines == 2);
    CHECK(test.counted(Space::kLocal).sectors == 8);
    CHECK(test.counted(Space::kLocal).ideal == 8);
    CHECK(test.lines[0] == ((kLocalWindow + 2 * 128) | 15));
}

void constants_count_requests_and_addresses() {
    TestMachine test;
    test.set_operation(Space::kConstant, 4);
    test.set_addresses(0, 4);
    count_lanes(Request(test.machine, test.warp(), 0), kAllLanes, all_in(Space::kConstant, kAllLanes));
    const RequestCounters& sums = test.counted(Space::kConstant);
    CHECK(sums.requests == 1 && sums.lanes == 32);
    CHECK(sums.sectors == 0 && sums.wavefronts == 32 && sums.ideal == 0);
    CHECK(sums.slot == kParameterSlot);
}

// 64 KiB, which all leave the cache again: each of their lines misses each time.
void constants_that_do_not_fit_miss() {
    TestMachine test;
    test.set_operation(Space::kConstant, 4);
    for (std::uint64_t address = 0; address < 2 << 16; address += 16)
        count_uniform(Request(test.machine, test.warp(), 0), Space::kConstant, 1, address & 0xFFFF);
    const RequestCounters& sums = test.counted(Space::kConstant);
    CHECK(sums.wavefronts == sums.requests);
    CHECK(sums.constant_misses == 2 * (1 << 16 >> kConstantLineShift));
    const int first = 2 << 10 >> kFarConstantLineShift;  // which the L1.5 sees when they come again
    CHECK(sums.constant_far_misses == 2 * (1 << 16 >> kFarConstantLineShift) - first);
}

void a_request_in_several_spaces_is_one_event() {
    TestMachine test;
    test.set_operation(Space::kGeneric, 4);
    for (int lane = 0; lane < kLanes; ++lane)
        test.machine.addresses[lane] = lane < 16 ? kSharedWindow + lane * 128 : kBuffer;
    LanesBySpace by_space{};
    by_space[static_cast<int>(Space::kShared)] = 0xFFFF;
    by_space[static_cast<int>(Space::kGlobal)] = 0xFFFF0000;
    count_lanes(Request(test.machine, test.warp(), 0), kAllLanes, by_space);
    CHECK(test.counted(Space::kShared).requests == 1 && test.counted(Space::kShared).wavefronts == 16);
    CHECK(test.counted(Space::kGlobal).requests == 1 && test.counted(Space::kGlobal).uniform == 1);
    CHECK(test.machine.trace.request_count == 1);
    CHECK(test.requests[0].wavefronts == 16 && test.requests[0].lines == 1 &&
          test.requests[0].lanes == kAllLanes);
}

void wavefronts_are_those_of_shared_memory_whatever_follows() {
    TestMachine test;
    test.set_operation(Space::kGeneric, 4);
    for (int lane = 0; lane < kLanes; ++lane)
        test.machine.addresses[lane] = lane < 16 ? kSharedWindow + lane * 128 : kLocalWindow;
    LanesBySpace by_space{};
    by_space[static_cast<int>(Space::kShared)] = 0xFFFF;
    by_space[static_cast<int>(Space::kLocal)] = 0xFFFF0000;
    count_lanes(Request(test.machine, test.warp(), 0), kAllLanes, by_space);
    CHECK(test.requests[0].wavefronts == 16);
}

// Only shared memory takes wavefronts.
void lanes_elsewhere_with_one_address_take_no_wavefront() {
    TestMachine test;
    test.set_operation(Space::kGeneric, 4);
    for (int lane = 0; lane < kLanes; ++lane)
        test.machine.addresses[lane] = lane < 16 ? kLocalWindow : kBuffer;
    LanesBySpace by_space{};
    by_space[static_cast<int>(Space::kLocal)] = 0xFFFF;
    by_space[static_cast<int>(Space::kGlobal)] = 0xFFFF0000;
    count_lanes(Request(test.machine, test.warp(), 0), kAllLanes, by_space);
    CHECK(test.requests[0].wavefronts == 0 && test.requests[0].lines == 2);
}

void lanes_in_two_buffers_reach_several_slots() {
    TestMachine test;
    test.set_operation(Space::kGlobal, 4);
    test.set_addresses(kBuffer, std::uint64_t{1} << kSlotShift);
    count_lanes(Request(test.machine, test.warp(), 0), 0b11, all_in(Space::kGlobal, 0b11));
    CHECK(test.counted(Space::kGlobal).slot == kSeveralSlots);
}

}  // namespace

int main() {
    contiguous_requests_are_counted_as_any_others();
    one_address_of_global_memory_is_one_sector();
    bank_conflicts_are_wavefronts_above_the_ideal();
    wide_requests_take_two_wavefronts_at_best();
    atomics_count_lanes_that_collide();
    local_memory_is_interleaved();
    constants_count_requests_and_addresses();
    constants_that_do_not_fit_miss();
    a_request_in_several_spaces_is_one_event();
    wavefronts_are_those_of_shared_memory_whatever_follows();
    lanes_elsewhere_with_one_address_take_no_wavefront();
    lanes_in_two_buffers_reach_several_slots();
    return warpwatt::test::failures();
}
