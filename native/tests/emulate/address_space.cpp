#include "emulate/address_space.h"

#include "emulate/random_fill.h"
#include "tests/check.h"
#include "tests/emulate/test_machine.h"

using namespace warpwatt::test;

namespace {

unsigned char* host_of(TestMachine& test, Space space, std::uint64_t address, int lane = 0) {
    const Region region = region_of(test.machine, test.warp(), test.operation, space, address);
    return host_address(test.machine, test.warp(), test.operation, space, region, lane, address);
}

void generic_addresses_lie_in_the_space_of_their_window() {
    CHECK(actual_space(Space::kGeneric, kBuffer) == Space::kGlobal);
    CHECK(actual_space(Space::kGeneric, kSharedWindow + 4) == Space::kShared);
    CHECK(actual_space(Space::kGeneric, kLocalWindow) == Space::kLocal);
    CHECK(actual_space(Space::kGlobal, std::uint64_t{kParameterSlot} << kSlotShift) == Space::kConstant);
    CHECK(actual_space(Space::kShared, kBuffer) == Space::kShared);
}

void bounds_and_alignment_are_checked() {
    TestMachine test;
    test.set_operation(Space::kGlobal, 4);
    CHECK(host_of(test, Space::kGlobal, kBuffer + 8) == test.buffer.data() + 8);
    CHECK(host_of(test, Space::kGlobal, kBuffer + TestMachine::kBufferBytes - 4) != nullptr);
    CHECK(test.machine.fault.reason == FaultReason::kNone);
    CHECK(host_of(test, Space::kGlobal, kBuffer + TestMachine::kBufferBytes, 3) == nullptr);
    CHECK(test.machine.fault.reason == FaultReason::kOutOfBounds);
    CHECK(test.machine.fault.thread == 3);
    CHECK(test.machine.fault.address == kBuffer + TestMachine::kBufferBytes);
}

void the_reason_of_a_fault_is_the_first_one() {
    TestMachine test;
    test.set_operation(Space::kGlobal, 4);
    host_of(test, Space::kGlobal, kBuffer + 2);
    CHECK(test.machine.fault.reason == FaultReason::kMisaligned);
    host_of(test, Space::kGlobal, std::uint64_t{5} << kSlotShift);
    CHECK(test.machine.fault.reason == FaultReason::kMisaligned);
}

void there_is_no_memory_at_other_addresses() {
    const std::uint64_t behind = std::uint64_t{kSlots} << kSlotShift;
    for (const std::uint64_t address : {std::uint64_t{5} << kSlotShift, behind, ~std::uint64_t{15}}) {
        TestMachine test;
        test.kinds.fill(1 << 20);  // what lies behind the sizes of slots
        test.set_operation(Space::kGlobal, 4);
        CHECK(host_of(test, Space::kGlobal, address) == nullptr);
        CHECK(test.machine.fault.reason == FaultReason::kNoMemory);
    }
}

void a_fault_outside_global_memory_names_the_window() {
    TestMachine test;
    test.set_operation(Space::kShared, 4);
    host_of(test, Space::kShared, 8192);
    CHECK(test.machine.fault.address == kSharedWindow + 8192);
}

void each_lane_has_its_own_local_memory() {
    TestMachine test;
    test.set_operation(Space::kLocal, 4);
    CHECK(host_of(test, Space::kLocal, 8, 3) - host_of(test, Space::kLocal, 8, 2) ==
          TestMachine::kLocalBytes);
    CHECK(interleaved(0, 1) == 4);
    CHECK(interleaved(4, 0) == 128);
    CHECK(interleaved(kLocalWindow + 6, 2) == 128 + 8 + 2);
}

void pages_are_made_before_the_first_access() {
    TestMachine test;
    test.set_operation(Space::kGlobal, 4);
    std::array<unsigned char, 16> made{};
    test.flags[kBufferSlot] = made.data();
    test.kinds[kBufferSlot] = 1 << 8 | static_cast<int>(ElementType::kI32);
    host_of(test, Space::kGlobal, kBuffer + 2 * kPageBytes);
    CHECK(made[2] == 1);
    CHECK(made[1] == 0);
    CHECK(test.read<std::uint32_t>(test.buffer.data() + 2 * kPageBytes) ==
          split_mix(0, 2 * kPageBytes / 4) >> 57);
    touch_pages(test.machine, kBufferSlot, kPageBytes - 4, 8);
    CHECK(made[0] == 1 && made[1] == 1 && made[3] == 0);
}

std::int64_t asked_for;  // address that Python is asked for the page of

void pages_of_unknown_kinds_are_made_in_python() {
    TestMachine test;
    std::array<unsigned char, 16> made{};
    test.flags[kBufferSlot] = made.data();
    test.kinds[kBufferSlot] = 9 << 8 | static_cast<int>(ElementType::kI32);
    test.machine.global.make_pages = [](std::int64_t address, std::int64_t bytes) {
        asked_for = address;
        return bytes;
    };
    touch_pages(test.machine, kBufferSlot, kPageBytes + 4, 4);
    CHECK(asked_for == static_cast<std::int64_t>(kBuffer));
    touch_pages(test.machine, kBufferSlot, kMadeInPython + kPageBytes + 4, 4);
    CHECK(asked_for == static_cast<std::int64_t>(kBuffer) + kMadeInPython);
    CHECK(made[1] == 0);
}

}  // namespace

int main() {
    generic_addresses_lie_in_the_space_of_their_window();
    bounds_and_alignment_are_checked();
    the_reason_of_a_fault_is_the_first_one();
    there_is_no_memory_at_other_addresses();
    a_fault_outside_global_memory_names_the_window();
    each_lane_has_its_own_local_memory();
    pages_are_made_before_the_first_access();
    pages_of_unknown_kinds_are_made_in_python();
    return warpwatt::test::failures();
}
