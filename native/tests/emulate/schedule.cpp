#include "emulate/schedule.h"

#include <array>
#include <vector>

#include "emulate/run_time.h"
#include "tests/check.h"
#include "tests/emulate/test_machine.h"

using namespace warpwatt::test;

namespace {

std::vector<std::int64_t> turns;  // warps in the order they ran, by index in the run

Stop run(TestMachine& test, void (*dispatch)(Machine*, Warp*), std::int64_t budget = 1000000) {
    turns.clear();
    test.machine.code.dispatch = dispatch;
    test.machine.budget = budget;
    return static_cast<Stop>(run_blocks(&test.machine));
}

// A warp that executes ten instructions and ends.
void end(Machine* machine, Warp* warp) {
    turns.push_back(warp->index_in_run);
    warp->turn -= 10;
    exit_lanes(machine, warp, warp->live);
}

// A warp that uses up its turn and never ends.
void spin(Machine*, Warp* warp) {
    turns.push_back(warp->index_in_run);
    warp->turn = 0;
}

void warps_run_in_order_and_blocks_one_after_the_other() {
    TestMachine test(96, 2);
    test.machine.launch.resident_blocks = 1;
    CHECK(run(test, end) == Stop::kDone);
    CHECK(turns == (std::vector<std::int64_t>{0, 1, 2, 3, 4, 5}));
    CHECK(test.machine.clock == 60 && test.machine.budget == 1000000 - 60);
}

// Each has the whole budget and its own room for events, whatever the block before did.
void blocks_run_one_by_one_do_not_see_each_other_end() {
    TestMachine test(32, 3);
    turns.clear();
    test.machine.code.dispatch = spin;
    test.machine.launch.resident_blocks = test.machine.launch.places = 1;
    std::array<std::int64_t, 3> stops{}, spent{};
    run_each_block(&test.machine, 5000, 3 * sizeof(TraceStep), 1 << 20, stops.data(), spent.data());
    for (const std::int64_t stop : stops) CHECK(static_cast<Stop>(stop) == Stop::kInstructions);
    CHECK(spent == (std::array<std::int64_t, 3>{5000, 5000, 5000}));
    CHECK(turns == (std::vector<std::int64_t>{0, 0, 1, 1, 2, 2}));
    CHECK(test.machine.budget == 0 && test.machine.trace.step_room <= 1);
    turns.clear();
    run_each_block(&test.machine, 5000, 0, 10000, stops.data(), spent.data());
    CHECK(turns == (std::vector<std::int64_t>{0, 0, 1, 1}));
}

// The second block begins although the first has taken all but what the fewest may; the third does not.
void blocks_in_turn_end_with_the_budget() {
    TestMachine test(64, 3);
    turns.clear();
    test.machine.code.dispatch = end;
    test.machine.launch.resident_blocks = test.machine.launch.places = 1;
    std::array<BlockEnd, 3> ends{};
    std::array<std::int64_t, 3> executions{}, lanes{};
    const Budget budget{1000, 0, 2, 1000, 0};
    CHECK(run_in_turn(&test.machine, &budget, 1, ends.data(), executions.data(), lanes.data(), nullptr) == 2);
    CHECK(turns == (std::vector<std::int64_t>{0, 1, 2, 3}));
    CHECK(ends[1].stop == Stop::kDone && ends[1].request_sums == 0);
    CHECK(test.machine.budget == 1000 - 20 && test.machine.clock == 20);
}

void a_block_that_does_not_end_is_the_last_in_turn() {
    TestMachine test(32, 3);
    test.machine.code.dispatch = spin;
    test.machine.launch.resident_blocks = test.machine.launch.places = 1;
    std::array<BlockEnd, 3> ends{};
    std::array<std::int64_t, 3> executions{}, lanes{};
    const Budget budget{1000, 0, 3, 0, 0};
    CHECK(run_in_turn(&test.machine, &budget, 1, ends.data(), executions.data(), lanes.data(), nullptr) == 1);
    CHECK(ends[0].stop == Stop::kInstructions);
}

void warps_take_turns() {
    TestMachine test(64);
    CHECK(run(test, spin, 3 * 4096) == Stop::kInstructions);
    CHECK(turns == (std::vector<std::int64_t>{0, 1, 0}));
    CHECK(test.machine.budget == 0);
}

void a_last_turn_is_as_long_as_the_budget() {
    TestMachine test;
    CHECK(run(test, spin, 100) == Stop::kInstructions);
    CHECK(test.machine.clock == 100);
}

void a_warp_that_waits_for_ever_is_a_deadlock() {
    TestMachine test;
    const auto wait = [](Machine*, Warp* warp) { warp->next.fill(kAtBarrier); };
    CHECK(run(test, wait) == Stop::kDeadlock);
}

void a_warp_that_was_not_ready_as_the_round_began_waits_for_the_next() {
    TestMachine test(96);
    // Warps 0 and 2 wait at a barrier until warp 1 arrives: then the next round begins with warp 0.
    const auto meet = [](Machine* machine, Warp* warp) {
        turns.push_back(warp->index_in_run);
        warp->turn -= 1;
        if (warp->next[0] == 1) return exit_lanes(machine, warp, warp->live);
        if (warp->index_in_block == 1 && turns.size() < 4) return;  // runs once more before it arrives
        warp->active = kAllLanes;
        arrive_at_barrier(machine, warp, 0, -1, 0, 0, 1);
    };
    CHECK(run(test, meet) == Stop::kDone);
    CHECK(turns == (std::vector<std::int64_t>{0, 1, 2, 1, 0, 1, 2}));
}

void a_fault_ends_the_run() {
    TestMachine test(64);
    const auto trap = [](Machine* machine, Warp* warp) {
        turns.push_back(warp->index_in_run);
        trap_lanes(machine, warp, 1, 0);
    };
    CHECK(run(test, trap) == Stop::kFault);
    CHECK(turns.size() == 1);
}

}  // namespace

int main() {
    warps_run_in_order_and_blocks_one_after_the_other();
    blocks_run_one_by_one_do_not_see_each_other_end();
    blocks_in_turn_end_with_the_budget();
    a_block_that_does_not_end_is_the_last_in_turn();
    warps_take_turns();
    a_last_turn_is_as_long_as_the_budget();
    a_warp_that_waits_for_ever_is_a_deadlock();
    a_warp_that_was_not_ready_as_the_round_began_waits_for_the_next();
    a_fault_ends_the_run();
    return warpwatt::test::failures();
}
