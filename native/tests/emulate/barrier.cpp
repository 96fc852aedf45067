#include "emulate/barrier.h"

#include "emulate/run_time.h"
#include "tests/check.h"
#include "tests/emulate/test_machine.h"

using namespace warpwatt::test;

namespace {

constexpr std::int64_t kAll = -1;

void arrive(TestMachine& test, int warp, LaneMask lanes, std::int64_t expected = kAll, LaneMask holding = 0,
            bool only = false) {
    test.warp(warp).active = lanes;
    arrive_at_barrier(&test.machine, &test.warp(warp), 3, expected, only, holding, 5);
}

bool waits(TestMachine& test, int warp) { return test.warp(warp).next[0] == kAtBarrier + 5; }

void a_barrier_opens_when_the_last_live_thread_arrives() {
    TestMachine test(64);
    arrive(test, 0, kAllLanes);
    CHECK(waits(test, 0));
    arrive(test, 1, kAllLanes >> 1);
    CHECK(waits(test, 0));
    arrive(test, 1, 1U << 31);
    for (int warp = 0; warp < 2; ++warp)
        for (int lane = 0; lane < kLanes; ++lane) CHECK(test.warp(warp).next[lane] == 5);
    CHECK(test.block().barriers[3].arrived == 0);
}

void threads_that_end_are_not_waited_for() {
    TestMachine test(64);
    arrive(test, 0, kAllLanes);
    exit_lanes(&test.machine, &test.warp(1), kAllLanes >> 1);
    CHECK(waits(test, 0));
    exit_lanes(&test.machine, &test.warp(1), 1U << 31);
    CHECK(!waits(test, 0));
    CHECK(test.block().live == 32);
}

void an_expected_count_opens_before_all_have_arrived() {
    TestMachine test(64);
    arrive(test, 0, kAllLanes, 33);
    CHECK(waits(test, 0));
    arrive(test, 1, 1, 33);
    CHECK(!waits(test, 0));
    CHECK(test.warp(1).next[1] == 0);
}

void threads_that_only_arrive_do_not_wait() {
    TestMachine test(64);
    arrive(test, 0, kAllLanes, 64, 0, true);
    CHECK(test.warp(0).next[0] == 5);
    arrive(test, 1, kAllLanes, 64);
    CHECK(!waits(test, 1));
}

void other_barriers_stay_closed() {
    TestMachine test(64);
    test.warp(1).active = 1;
    arrive_at_barrier(&test.machine, &test.warp(1), 4, 2, false, 0, 5);
    arrive(test, 0, 1, 1);
    CHECK(test.warp(0).next[0] == 5);
    CHECK(waits(test, 1));
}

void the_predicate_is_reduced_over_those_that_arrived() {
    TestMachine test(64);
    arrive(test, 0, kAllLanes, kAll, 0xF);
    arrive(test, 1, kAllLanes, kAll, 1);
    const auto read = [&](BarrierReduction how) {
        test.machine.values[0].fill(3);
        read_barrier_results(&test.machine, &test.warp(), static_cast<std::int32_t>(how));
        return test.machine.values[0][9];
    };
    CHECK(read(BarrierReduction::kCount) == 5);
    CHECK(read(BarrierReduction::kAnd) == 0);
    CHECK(read(BarrierReduction::kOr) == 1);
    arrive(test, 0, kAllLanes, kAll, kAllLanes);
    CHECK(read(BarrierReduction::kCount) == 5);  // of the last time it opened
    arrive(test, 1, kAllLanes, kAll, kAllLanes);
    CHECK(read(BarrierReduction::kAnd) == 1);
}

}  // namespace

int main() {
    a_barrier_opens_when_the_last_live_thread_arrives();
    threads_that_end_are_not_waited_for();
    an_expected_count_opens_before_all_have_arrived();
    threads_that_only_arrive_do_not_wait();
    other_barriers_stay_closed();
    the_predicate_is_reduced_over_those_that_arrived();
    return warpwatt::test::failures();
}
