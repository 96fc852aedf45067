#include "emulate/convergence.h"

#include <cstddef>

#include "emulate/run_time.h"
#include "tests/check.h"
#include "tests/emulate/test_machine.h"

using namespace warpwatt::test;

namespace {

constexpr NextBlock kBehind = 6;
constexpr int kHere = 2;  // the basic block at whose end lanes wait
constexpr int kBefore = 1;

struct Convergence : TestMachine {
    Convergence() {
        machine.code.converge_targets = targets.data();
        machine.code.converge_leavers = leavers.data();
    }

    void wait(LaneMask lanes, LaneMask partners, int place = kHere) {
        for_each_lane(lanes, [&](int lane) {
            warp().next[lane] = kConverging + place;
            warp().waits_for[lane] = partners;
        });
        converge_lanes(&machine, &warp(), place);
    }

    LaneMask gone_on() {
        LaneMask lanes = 0;
        for (int lane = 0; lane < kLanes; ++lane) lanes |= LaneMask{warp().next[lane] == kBehind} << lane;
        return lanes;
    }

    std::array<NextBlock, 3> targets{0, kBehind, kBehind};
    std::array<std::int32_t, 3> leavers{};
};

void lanes_go_on_together() {
    Convergence test;
    test.wait(0xFFFF, kAllLanes);
    CHECK(test.gone_on() == 0);
    test.wait(0xFFFF0000, kAllLanes);
    CHECK(test.gone_on() == kAllLanes);
}

void each_lane_waits_for_its_own_partners() {
    Convergence test;
    test.wait(0b0011, 0b0011);
    test.wait(0b0100, 0b1100);
    CHECK(test.gone_on() == 0b0011);
}

void lanes_that_end_are_not_waited_for() {
    Convergence test;
    test.wait(0x7FFFFFFF, kAllLanes);
    CHECK(test.gone_on() == 0);
    exit_lanes(&test.machine, &test.warp(), 1U << 31);
    CHECK(test.gone_on() == 0x7FFFFFFF);
    CHECK(test.warp().next[31] == kExited && test.warp().live == 0x7FFFFFFF);
}

void lanes_that_broke_away_are_not_waited_for() {
    Convergence test;
    test.leavers[kHere] = offsetof(Warp, ready);  // any word of the warp will do as a register
    test.wait(0xFFFF, kAllLanes);
    test.warp().ready = static_cast<std::int32_t>(0xFFFF0000);
    converge_waiting_lanes(&test.machine, &test.warp());
    CHECK(test.gone_on() == 0xFFFF);
}

void lanes_that_wait_further_on_have_left() {
    Convergence test;
    test.leavers[kBefore] = offsetof(Warp, ready);
    test.warp().ready = 0;
    test.wait(0b0011, 0b0111, kBefore);
    CHECK(test.gone_on() == 0);
    test.wait(0b0100, 0b0111, kHere);
    CHECK(test.gone_on() == 0b0011);
}

void an_indirect_branch_goes_where_each_lane_says() {
    Convergence test;
    const std::array<std::int64_t, 4> table{0x100, 3, 0x200, 4};
    test.machine.code.branch_targets = table.data();
    test.machine.code.branch_target_count = 2;
    test.machine.addresses[0] = 0x200;
    test.machine.addresses[1] = 0x100;
    test.machine.addresses[2] = 0x300;
    branch_indirect(&test.machine, &test.warp(), 0b11, 9);
    CHECK(test.warp().next[0] == 4 && test.warp().next[1] == 3);
    CHECK(test.machine.fault.reason == FaultReason::kNone);
    branch_indirect(&test.machine, &test.warp(), 0b100, 9);
    CHECK(test.machine.fault.reason == FaultReason::kNoInstruction);
    CHECK(test.machine.fault.address == 0x300 && test.machine.fault.thread == 2 &&
          test.machine.fault.instruction == 9);
}

void a_trap_names_the_first_lane() {
    Convergence test;
    trap_lanes(&test.machine, &test.warp(), 0, 4);
    CHECK(test.machine.fault.reason == FaultReason::kNone);
    trap_lanes(&test.machine, &test.warp(), 0b1100, 4);
    CHECK(test.machine.fault.reason == FaultReason::kTrap && test.machine.fault.thread == 2);
}

void lanes_match_active_lanes_of_the_same_value() {
    Convergence test;
    for (int lane = 0; lane < kLanes; ++lane) test.machine.addresses[lane] = lane % 2;
    match_lanes(&test.machine, 0xFF);
    CHECK(test.read<LaneMask>(test.machine.value_bytes()) == 0x55);
    CHECK(test.read<LaneMask>(test.machine.value_bytes() + 4 * 31) == 0xAA);
}

}  // namespace

int main() {
    lanes_go_on_together();
    each_lane_waits_for_its_own_partners();
    lanes_that_end_are_not_waited_for();
    lanes_that_broke_away_are_not_waited_for();
    lanes_that_wait_further_on_have_left();
    an_indirect_branch_goes_where_each_lane_says();
    a_trap_names_the_first_lane();
    lanes_match_active_lanes_of_the_same_value();
    return warpwatt::test::failures();
}
