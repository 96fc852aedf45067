#include "caches/access_order.h"

#include "tests/check.h"

using namespace warpwatt::caches;

namespace {

void without_barriers_an_access_comes_at_its_place() {
    AccessOrder order(2);
    for (int place = 0; place < 3; ++place) order.count(0, 0);
    order.count(1, 0);
    order.finish();
    CHECK(order.time(0, 0, 2) == 2);
    CHECK(order.time(1, 0, 0) == 0);
}

void a_barrier_waits_for_the_warp_with_the_most_accesses() {
    AccessOrder order(2);
    for (int place = 0; place < 3; ++place) order.count(0, 0);
    order.count(0, 1);
    order.count(1, 0);
    order.count(1, 1);
    order.count(1, 2);
    order.finish();
    CHECK(order.time(0, 1, 3) == 3);
    CHECK(order.time(1, 1, 1) == 3);
    CHECK(order.time(1, 2, 2) == 4);
}

void a_block_knows_nothing_of_the_one_before() {
    AccessOrder order(1);
    order.count(0, 2);
    order.finish();
    order.clear();
    order.count(0, 0);
    order.finish();
    CHECK(order.time(0, 0, 0) == 0);
}

}  // namespace

int main() {
    without_barriers_an_access_comes_at_its_place();
    a_barrier_waits_for_the_warp_with_the_most_accesses();
    a_block_knows_nothing_of_the_one_before();
    return warpwatt::test::failures();
}
