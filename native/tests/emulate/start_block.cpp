#include "emulate/start_block.h"

#include "tests/check.h"
#include "tests/emulate/test_machine.h"

using namespace warpwatt::test;

namespace {

void threads_are_numbered_x_first() {
    TestMachine test(60);
    test.machine.launch.block = {5, 4, 3};
    start_block(test.machine, 0, 0, 0);
    for (int thread = 0; thread < 60; ++thread) {
        const Warp& warp = test.warp(thread / 32);
        const int lane = thread % 32;
        CHECK(warp.tid[0][lane] == thread % 5);
        CHECK(warp.tid[1][lane] == thread / 5 % 4);
        CHECK(warp.tid[2][lane] == thread / 20);
        CHECK(warp.next[lane] == 0);
    }
}

void lanes_beyond_the_block_never_live() {
    TestMachine test(40);
    CHECK(test.warp(0).live == kAllLanes);
    CHECK(test.warp(1).live == 0xFF);
    CHECK(test.warp(1).next[7] == 0 && test.warp(1).next[8] == kExited);
    CHECK(test.block().live == 40);
}

void a_block_knows_its_place_in_grid_and_cluster() {
    TestMachine test(32, 8);
    test.machine.launch.grid = {4, 2, 3};
    test.machine.launch.cluster = {2, 1, 3};
    test.machine.launch.sms = 5;
    start_block(test.machine, 2, 1, 4 * 2 * 2 + 4 + 3);  // block (3, 1, 2)
    const SpecialRegisters& special = test.warp(2).special;
    CHECK(special.ctaid.x == 3 && special.ctaid.y == 1 && special.ctaid.z == 2);
    CHECK(special.clusterid.x == 1 && special.clusterid.y == 1 && special.clusterid.z == 0);
    CHECK(special.cluster_ctaid.x == 1 && special.cluster_ctaid.y == 0 && special.cluster_ctaid.z == 2);
    CHECK(special.cluster_ctarank == 1 + 2 * (0 + 1 * 2));
    CHECK(special.smid == 23 % 5);
    CHECK(test.warp(2).index_in_run == 1 && test.warp(2).index_in_grid == 23);
}

void what_the_grid_shares_is_copied() {
    TestMachine test;
    test.special.ntid = {32, 1, 1};
    start_block(test.machine, 0, 0, 0);
    CHECK(test.warp().special.ntid.x == 32);
}

void memory_of_the_block_before_is_cleared() {
    TestMachine test(64, 2);
    test.block(1).shared[5] = 1;
    test.warp(3).local[7] = 1;
    test.block(1).barriers[2].arrived = 4;
    test.block(0).shared[5] = 1;
    start_block(test.machine, 1, 0, 0);
    CHECK(test.block(1).shared[5] == 0 && test.warp(3).local[7] == 0 &&
          test.block(1).barriers[2].arrived == 0);
    CHECK(test.block(0).shared[5] == 1);
    CHECK(test.block(1).shared - test.block(0).shared == TestMachine::kSharedBytes);
    CHECK(test.warp(3).local - test.warp(0).local == 3 * kLanes * TestMachine::kLocalBytes);
}

}  // namespace

int main() {
    threads_are_numbered_x_first();
    lanes_beyond_the_block_never_live();
    a_block_knows_its_place_in_grid_and_cluster();
    what_the_grid_shares_is_copied();
    memory_of_the_block_before_is_cleared();
    return warpwatt::test::failures();
}
