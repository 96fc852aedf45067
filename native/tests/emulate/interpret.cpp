// The ends of basic blocks; the trace says which ran, and with which lanes.

#include "emulate/steps.h"
#include "tests/check.h"
#include "tests/emulate/test_machine.h"

using namespace warpwatt::test;

namespace {

constexpr int kBlocks = 4;

// Four blocks without steps: 0 ends as a test says, 1 goes to 2, 2 to 3, 3 ends the threads.
class Program : public TestMachine {
public:
    explicit Program(StepEnd end, std::array<NextBlock, 2> targets = {1, 1}) {
        current_ = this;
        for (StepBlock& block : blocks) block = {nullptr, 0, 10, StepEnd::kJump, {}, -1, -1, 7, 0, 0, 0, 0};
        blocks[0].end = end;
        blocks[0].targets = targets;
        blocks[1].targets[0] = 2;
        blocks[2].targets[0] = 3;
        blocks[3].end = StepEnd::kExit;
        machine.code.steps = blocks.data();
        machine.code.frame = frame_.data();
        machine.code.patience = &patience;
        machine.code.compile = [](std::int64_t, std::int64_t) -> std::int64_t {
            return ++current_->compiled;
        };
        machine.code.dispatch = [](Machine*, Warp*) { ++current_->dispatched; };
        machine.code.converge_targets = converge_targets.data();
        machine.code.converge_leavers = converge_leavers.data();
        machine.totals.executions = executions.data();
        machine.totals.lanes = lanes.data();
        warp().turn = 1000;
    }

    void set_condition(LaneMask holds) {
        std::memcpy(frame_.data(), &holds, sizeof holds);
        blocks[0].condition = 0;
    }

    void run() { interpret(&machine, &warp()); }

    // Whether exactly these blocks have run, each with these lanes.
    bool ran(const std::vector<std::pair<int, LaneMask>>& expected) {
        if (machine.trace.step_count != static_cast<std::int64_t>(expected.size())) return false;
        for (std::size_t i = 0; i < expected.size(); ++i)
            if (steps[i].block != expected[i].first || steps[i].active != expected[i].second) return false;
        return true;
    }

    std::array<StepBlock, kBlocks> blocks{};
    std::array<NextBlock, kBlocks> converge_targets{3, 3, 3, 3};
    std::array<std::int32_t, kBlocks> converge_leavers{};
    std::array<std::int64_t, kBlocks> executions{}, lanes{};
    std::int64_t patience = 1000;
    int compiled = 0, dispatched = 0;

private:
    inline static Program* current_ = nullptr;
    alignas(64) std::array<unsigned char, 512> frame_{};
};

void all_lanes_go_the_same_way() {
    for (const LaneMask holds : {kAllLanes, LaneMask{0}}) {
        Program test(StepEnd::kBranch, {1, 2});
        test.set_condition(holds);
        test.run();
        CHECK(holds ? test.ran({{0, kAllLanes}, {1, kAllLanes}, {2, kAllLanes}, {3, kAllLanes}})
                    : test.ran({{0, kAllLanes}, {2, kAllLanes}, {3, kAllLanes}}));
        CHECK(test.warp().live == 0 && test.executions[2] == 1 && test.lanes[2] == 32);
    }
}

void lanes_that_part_meet_at_the_lowest_block() {
    Program test(StepEnd::kBranch, {1, 2});
    test.set_condition(0xFF);
    test.run();
    CHECK(test.ran({{0, kAllLanes}, {1, 0xFF}, {2, kAllLanes}, {3, kAllLanes}}));
    CHECK(test.lanes[1] == 8 && test.warp().turn == 1000 - 40);
    CHECK(test.patience == 1000 - 4);
}

void threads_end_where_a_condition_holds() {
    for (const LaneMask holds : {kAllLanes, LaneMask{0xFF}, LaneMask{0}}) {
        Program test(StepEnd::kExit, {2, -1});
        test.set_condition(holds);
        test.run();
        CHECK(holds == kAllLanes ? test.ran({{0, kAllLanes}})
                                 : test.ran({{0, kAllLanes}, {2, ~holds}, {3, ~holds}}));
        CHECK(test.warp().live == 0 && test.block().live == 0);
    }
}

void a_warp_waits_at_a_barrier_for_others() {
    Program test(StepEnd::kBarrier);
    test.blocks[0].expected = 1;
    test.machine.addresses.fill(5);
    test.machine.values[0].fill(64);
    test.run();
    CHECK(test.ran({{0, kAllLanes}}) && test.warp().next[31] == kAtBarrier + 1);
    CHECK(test.block().barriers[5].arrived == 32);
}

void a_barrier_of_one_warp_opens_at_once() {
    Program test(StepEnd::kBarrier, {2, -1});
    test.set_condition(0xFFF);
    test.machine.addresses.fill(5);
    test.run();
    CHECK(test.ran({{0, kAllLanes}, {2, kAllLanes}, {3, kAllLanes}}));
    CHECK(test.block().barriers[5].result_holding == 12);
}

void lanes_wait_to_converge() {
    Program test(StepEnd::kBranch, {1, 2});
    test.set_condition(0xFF);
    for (const int block : {1, 2}) {
        test.blocks[block].end = StepEnd::kConverge;
        test.blocks[block].targets[0] = 3;
        test.blocks[block].value = 256;
    }
    std::fill_n(reinterpret_cast<LaneMask*>(test.machine.code.frame + 256), kLanes, 0xFF);
    test.run();  // all wait for lanes 0 to 7: these for each other, the others until they end
    CHECK(test.ran({{0, kAllLanes}, {1, 0xFF}, {2, ~0xFFU}, {3, 0xFF}, {3, ~0xFFU}}));
}

void lanes_that_are_together_converge_at_once() {
    Program test(StepEnd::kConverge, {2, -1});
    test.run();
    CHECK(test.ran({{0, kAllLanes}, {2, kAllLanes}, {3, kAllLanes}}) && test.warp().waits_for[0] == 0);
}

void a_turn_ends_between_blocks() {
    Program test(StepEnd::kJump);
    test.warp().turn = 15;
    test.run();
    CHECK(test.ran({{0, kAllLanes}, {1, kAllLanes}}) && test.warp().next[31] == 2);
    CHECK(test.warp().turn == -5 && test.dispatched == 0);
}

void machine_code_goes_on_when_patience_is_over() {
    Program test(StepEnd::kJump);
    test.patience = 1;
    test.run();
    CHECK(test.ran({{0, kAllLanes}, {1, kAllLanes}}) && test.warp().next[0] == 2);
    CHECK(test.compiled == 1 && test.dispatched == 1);
}

void nothing_runs_behind_a_fault() {
    Program test(StepEnd::kTrap);
    test.set_condition(0b100);
    test.run();
    CHECK(test.ran({{0, kAllLanes}}) && test.machine.fault.reason == FaultReason::kTrap);
    CHECK(test.machine.fault.thread == 2 && test.machine.fault.instruction == 7);
    Program late(StepEnd::kJump);
    late.blocks[0].may_fail = 1;
    late.machine.fault.reason = FaultReason::kOutOfBounds;
    late.run();
    CHECK(late.ran({{0, kAllLanes}}));
}

void lanes_branch_to_addresses() {
    Program test(StepEnd::kIndirect, {-1, -1});
    const std::array<std::int64_t, 4> table{0x100, 1, 0x200, 3};
    test.machine.code.branch_targets = table.data();
    test.machine.code.branch_target_count = 2;
    for (int lane = 0; lane < kLanes; ++lane) test.machine.addresses[lane] = lane < 8 ? 0x100 : 0x200;
    test.run();
    CHECK(test.ran({{0, kAllLanes}, {1, 0xFF}, {2, 0xFF}, {3, kAllLanes}}));
}

void lanes_await_a_phase() {
    Program test(StepEnd::kAwait);
    test.machine.addresses.fill(16);
    for (int lane = 0; lane < kLanes; ++lane) test.machine.values[0][lane] = lane < 8;  // phase 0 runs
    test.run();
    CHECK(test.ran({{0, kAllLanes}, {1, 0xFF}, {2, 0xFF}, {3, 0xFF}}));
    CHECK(test.warp().next[8] == kAwaiting + 1);
}

}  // namespace

int main() {
    all_lanes_go_the_same_way();
    lanes_that_part_meet_at_the_lowest_block();
    threads_end_where_a_condition_holds();
    a_warp_waits_at_a_barrier_for_others();
    a_barrier_of_one_warp_opens_at_once();
    lanes_wait_to_converge();
    lanes_that_are_together_converge_at_once();
    a_turn_ends_between_blocks();
    machine_code_goes_on_when_patience_is_over();
    nothing_runs_behind_a_fault();
    lanes_branch_to_addresses();
    lanes_await_a_phase();
    return warpwatt::test::failures();
}
