#include "sm/barrier.h"

#include "tests/check.h"

using namespace warpwatt::sm;

namespace {

void the_last_warp_of_the_block_completes_it() {
    BlockBarriers barriers;
    barriers.arrive(0);
    CHECK(!barriers.complete(0, 2, 0));
    barriers.arrive(0);
    CHECK(barriers.complete(0, 2, 0));
    CHECK(!barriers.complete(0, 2, 0));  // empty for the next round
}

void it_may_want_fewer_warps() {
    BlockBarriers barriers;
    barriers.arrive(5);
    barriers.arrive(5);
    CHECK(!barriers.complete(5, 8, 3));
    CHECK(!barriers.complete(4, 8, 2));
    CHECK(barriers.complete(5, 8, 2));
    barriers.arrive(6);
    CHECK(barriers.complete(6, 8, 1));
}

void warps_that_have_left_are_not_waited_for() {
    BlockBarriers barriers;
    CHECK(!barriers.complete(1, 0, 0));
    barriers.arrive(1);
    CHECK(barriers.complete(1, 1, 4));
}

void a_new_block_finds_them_empty() {
    BlockBarriers barriers;
    barriers.arrive(0);
    barriers = {};
    CHECK(!barriers.complete(0, 1, 0));
}

}  // namespace

int main() {
    the_last_warp_of_the_block_completes_it();
    it_may_want_fewer_warps();
    warps_that_have_left_are_not_waited_for();
    a_new_block_finds_them_empty();
    return warpwatt::test::failures();
}
