#include "sm/warp_scheduler.h"

#include <map>
#include <vector>

#include "tests/check.h"

using namespace warpwatt::sm;

namespace {

// Three ready warps with needs 10, 11, 12: two of block slot 0, one of slot 1; the second has waited longest.
WarpScheduler three_warps(IssueOrder order) {
    WarpScheduler scheduler(order, 3, 2);
    scheduler.add({0, 5, 10, 0, 0});
    scheduler.add({0, 3, 11, 1, 0});
    scheduler.add({0, 4, 12, 2, 1});
    return scheduler;
}

// Chooses where the units of some needs fall free late; notes who was blocked.
struct Units {
    std::map<std::int32_t, Cycle> free;
    std::vector<int> blocked;

    // Returns the warp that issues, or -1.
    int choose(WarpScheduler& scheduler, Cycle now) {
        choice = ask(scheduler, now);
        return choice.position == kNoPosition ? -1 : scheduler.queue()[choice.position].warp;
    }
    int choose(WarpScheduler&& scheduler, Cycle now) { return choose(scheduler, now); }

    Choice choice;

private:
    Choice ask(WarpScheduler& scheduler, Cycle now) {
        blocked.clear();
        return scheduler.choose(
            now, [&](std::int32_t needs) { return UnitsFree{free[needs], false}; },
            [&](int warp, const UnitsFree&) { blocked.push_back(warp); });
    }
};

void the_order_decides_among_ready_warps() {
    Units units;
    CHECK(units.choose(three_warps(IssueOrder::oldest), 0) == 0);
    CHECK(units.choose(three_warps(IssueOrder::youngest), 0) == 2);
    CHECK(units.choose(three_warps(IssueOrder::longest_waiting), 0) == 1);
    CHECK(units.choose(three_warps(IssueOrder::oldest_block), 0) == 1);
}

void an_older_block_goes_first_however_long_others_have_waited() {
    WarpScheduler scheduler = three_warps(IssueOrder::oldest_block);
    CHECK(Units{}.choose(scheduler, 0) == 1);
    scheduler.update(1, kNever, 3, 11);  // at a barrier
    CHECK(Units{}.choose(scheduler, 1) == 0);
    scheduler.update(0, 20, 5, 10);
    CHECK(Units{}.choose(scheduler, 2) == 2);
}

void the_last_warp_goes_on_while_it_can() {
    WarpScheduler scheduler = three_warps(IssueOrder::oldest_block);
    scheduler.issued(2);
    Units units;
    CHECK(units.choose(scheduler, 0) == 2);
    units.free[12] = 10;
    CHECK(units.choose(scheduler, 1) == 1);
    CHECK(units.blocked == std::vector<int>{2});
    scheduler.remove(2);
    CHECK(Units{}.choose(scheduler, 2) == 1);
}

void it_looks_again_when_the_first_can_issue() {
    WarpScheduler scheduler = three_warps(IssueOrder::oldest_block);
    CHECK(Units{}.choose(scheduler, 0) == 1);
    scheduler.update(2, 40, 4, 12);
    Units units{{{10, 30}, {11, 25}}, {}, {}};
    CHECK(units.choose(scheduler, 9) == -1 && units.choice.look_again == 25);
    CHECK((units.blocked == std::vector<int>{0, 1}));
    scheduler.update(1, 20, 3, 11);
    CHECK(units.choose(scheduler, 10) == -1 && units.choice.look_again == 20);
}

void a_blocked_warp_is_told_when_its_units_fall_free_later() {
    WarpScheduler scheduler = three_warps(IssueOrder::oldest_block);
    Units units{{{10, 30}, {11, 30}, {12, 30}}, {}, {}};
    CHECK(units.choose(scheduler, 0) == -1);
    CHECK((units.blocked == std::vector<int>{0, 1, 2}));
    CHECK(units.choose(scheduler, 2) == -1 && units.blocked.empty());
    units.free = {{10, 2}, {11, 35}, {12, 35}};
    CHECK(units.choose(scheduler, 3) == 0);
    CHECK((units.blocked == std::vector<int>{1}));  // those of later blocks are not asked
    scheduler.issued(0);
    scheduler.update(0, 50, 4, 11);
    CHECK(units.choose(scheduler, 4) == -1);
    CHECK((units.blocked == std::vector<int>{2}));
    CHECK(units.choose(scheduler, 35) == 1);
}

void a_warp_joins_those_that_need_the_same() {
    WarpScheduler scheduler = three_warps(IssueOrder::oldest_block);
    CHECK(Units{}.choose(scheduler, 0) == 1);
    scheduler.issued(1);
    scheduler.update(1, 6, 1, 10);
    Units units{{{10, 30}, {12, 30}}, {}, {}};
    CHECK(units.choose(scheduler, 1) == -1);
    CHECK((units.blocked == std::vector<int>{0, 2}));
    CHECK(units.choose(scheduler, 6) == -1);
    CHECK((units.blocked == std::vector<int>{1, 1}));  // as the last one, and as one of those
    CHECK(units.choose(scheduler, 30) == 1);
}

void the_oldest_block_can_become_the_youngest() {
    WarpScheduler scheduler = three_warps(IssueOrder::oldest);
    CHECK(Units{}.choose(scheduler, 0) == 0);
    scheduler.issued(1);
    scheduler.rotate_oldest_block();
    const ReadyQueue& queue = scheduler.queue();
    CHECK(queue[0].warp == 2 && queue[1].warp == 0 && queue[2].warp == 1);
    CHECK(Units{}.choose(scheduler, 1) == 1);  // the last one still, at its new place
    scheduler.update(queue.position_of(1), kNever, 4, 11);
    CHECK(Units{}.choose(scheduler, 2) == 2);
    scheduler.update(queue.position_of(2), kNever, 4, 12);
    CHECK(Units{}.choose(scheduler, 3) == 0);
}

void warps_that_leave_make_room() {
    WarpScheduler scheduler = three_warps(IssueOrder::oldest);
    CHECK(Units{}.choose(scheduler, 0) == 0);
    for (Cycle now = 1; now < 200; ++now) {  // more often than there are positions
        const ReadyQueue& queue = scheduler.queue();
        const int oldest = Units{}.choose(scheduler, now);
        scheduler.remove(queue.position_of(oldest));
        scheduler.add({now + 1, 5, 10, static_cast<std::int16_t>(oldest), 0});
        CHECK(oldest == (now - 1) % 3);
        CHECK(queue.size() == 3 && queue[queue.position_of(oldest)].warp == oldest);
        CHECK(queue.next_ready() == now + 1);
    }
}

}  // namespace

int main() {
    the_order_decides_among_ready_warps();
    an_older_block_goes_first_however_long_others_have_waited();
    the_last_warp_goes_on_while_it_can();
    it_looks_again_when_the_first_can_issue();
    a_blocked_warp_is_told_when_its_units_fall_free_later();
    a_warp_joins_those_that_need_the_same();
    the_oldest_block_can_become_the_youngest();
    warps_that_leave_make_room();
    return warpwatt::test::failures();
}
