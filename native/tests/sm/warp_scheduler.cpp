#include "sm/warp_scheduler.h"

#include <map>
#include <vector>

#include "tests/check.h"

using namespace warpwatt::sm;

namespace {

// Three warps at instructions 10, 11, 12: two of block slot 0, one of slot 1; the second has waited longest.
WarpScheduler three_warps(IssueOrder order) {
    WarpScheduler scheduler(order, 3);
    scheduler.queue.add({5, 10, 0, 0}, 0);
    scheduler.queue.add({3, 11, 1, 0}, 0);
    scheduler.queue.add({4, 12, 2, 1}, 0);
    return scheduler;
}

// Chooses where the units of some instructions fall free late; notes who was blocked.
struct Units {
    std::map<std::int32_t, Cycle> free;
    std::vector<int> blocked;

    Choice choose(const WarpScheduler& scheduler, Cycle now) {
        blocked.clear();
        return scheduler.choose(
            now, [&](std::int32_t pc) { return UnitsFree{free[pc], false}; },
            [&](int warp, const UnitsFree&) { blocked.push_back(warp); });
    }
};

void the_order_decides_among_ready_warps() {
    Units units;
    CHECK(units.choose(three_warps(IssueOrder::oldest), 9).warp == 0);
    CHECK(units.choose(three_warps(IssueOrder::youngest), 9).warp == 2);
    CHECK(units.choose(three_warps(IssueOrder::longest_waiting), 9).warp == 1);
    CHECK(units.choose(three_warps(IssueOrder::oldest_block), 9).warp == 1);
}

void an_older_block_goes_first_however_long_others_have_waited() {
    WarpScheduler scheduler = three_warps(IssueOrder::oldest_block);
    scheduler.queue.update(1, kNever, 3, 11);  // at a barrier
    CHECK(Units{}.choose(scheduler, 9).warp == 0);
    scheduler.queue.update(0, 20, 5, 10);
    CHECK(Units{}.choose(scheduler, 9).warp == 2);
}

void the_last_warp_goes_on_while_it_can() {
    WarpScheduler scheduler = three_warps(IssueOrder::oldest_block);
    scheduler.issued(2);
    Units units;
    CHECK(units.choose(scheduler, 9).warp == 2);
    units.free[12] = 10;
    CHECK(units.choose(scheduler, 9).warp == 1);
    CHECK(units.blocked == std::vector<int>{2});
    scheduler.remove(2);
    CHECK(Units{}.choose(scheduler, 9).warp == 1);
}

void it_looks_again_when_the_first_can_issue() {
    WarpScheduler scheduler = three_warps(IssueOrder::oldest_block);
    scheduler.queue.update(2, 40, 4, 12);
    Units units{{{10, 30}, {11, 25}}, {}};
    const Choice choice = units.choose(scheduler, 9);
    CHECK(choice.warp == kNoWarp && choice.look_again == 25);
    CHECK((units.blocked == std::vector<int>{0, 1}));
    scheduler.queue.update(2, 20, 4, 12);
    CHECK(units.choose(scheduler, 9).look_again == 20);
}

void the_oldest_block_can_become_the_youngest() {
    WarpScheduler scheduler = three_warps(IssueOrder::oldest);
    scheduler.queue.rotate_oldest_block();
    CHECK(scheduler.queue[0].warp == 2 && scheduler.queue[1].warp == 0 && scheduler.queue[2].warp == 1);
    scheduler.queue.update(2, kNever, 4, 12);  // found at its new place
    CHECK(Units{}.choose(scheduler, 9).warp == 0);
}

void warps_behind_one_that_leaves_are_found() {
    WarpScheduler scheduler = three_warps(IssueOrder::oldest);
    scheduler.remove(0);
    scheduler.queue.update(1, 50, 3, 11);
    CHECK(scheduler.queue.size() == 2);
    CHECK(Units{}.choose(scheduler, 9).warp == 2);
    CHECK(scheduler.queue.next_ready(9) == 50);
}

}  // namespace

int main() {
    the_order_decides_among_ready_warps();
    an_older_block_goes_first_however_long_others_have_waited();
    the_last_warp_goes_on_while_it_can();
    it_looks_again_when_the_first_can_issue();
    the_oldest_block_can_become_the_youngest();
    warps_behind_one_that_leaves_are_found();
    return warpwatt::test::failures();
}
