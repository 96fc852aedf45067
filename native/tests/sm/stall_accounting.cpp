#include "sm/stall_accounting.h"

#include <numeric>

#include "tests/check.h"
#include "tests/sm/cases.h"

using namespace warpwatt::sm;

namespace {

// A warp that is there from cycle 10 on and waits before instruction 1 for what each test says.
struct Account {
    StallRow stalls[2] = {};
    ProducerRow producers[2];
    AwaitedRow awaited[2] = {};
    StallAccounting accounting{1, stalls, producers, awaited};

    Account() {
        for (auto& row : producers) std::fill_n(row, kProducers, -1);
    }
    void next(Cycle stall_end, Stall issue_stall, const Release& result, Cycle fetched, Cycle since = 10) {
        accounting.on_next(0, since, {1, issue_stall, stall_end, result, fetched});
    }
    void issue(Cycle time) { accounting.on_issue(0, 1, Stall::math_pipe_throttle, time); }
    Cycle at(Stall reason, int pc = 1) const { return stalls[pc][static_cast<int>(reason)]; }
    Cycle total() const { return std::accumulate(stalls[1], stalls[1] + kStalls, Cycle{0}); }
};

void cycles_go_to_what_ends_last_in_order() {
    Account a;
    a.next(20, Stall::branch_resolving, {50, 0, Stall::long_scoreboard}, 70);
    a.issue(100);
    CHECK(a.at(Stall::branch_resolving) == 10);
    CHECK(a.at(Stall::long_scoreboard) == 30);
    CHECK(a.at(Stall::no_instruction) == 20);
    CHECK(a.at(Stall::not_selected) == 30);
    CHECK(a.at(Stall::selected) == 1);
    CHECK(a.total() == 91);
    CHECK(a.producers[1][0] == 0 && a.awaited[1][0] == 30);
}

void what_ended_before_counts_nothing() {
    Account a;
    a.next(20, Stall::wait, {15, 0, Stall::long_scoreboard}, 12);
    a.issue(20);
    CHECK(a.at(Stall::wait) == 10 && a.total() == 11);
    CHECK(a.producers[1][0] == -1);
}

void a_unit_that_was_taken_is_told_from_register_banks_and_other_warps() {
    Account a;
    a.next(0, Stall::wait, {}, 0);
    a.accounting.on_blocked(0, 20, {40, false});
    a.accounting.on_blocked(0, 25, {40, false});  // known
    a.accounting.on_blocked(0, 50, {55, true});
    a.issue(100);
    CHECK(a.at(Stall::math_pipe_throttle) == 20);
    CHECK(a.at(Stall::dispatch) == 5);
    CHECK(a.at(Stall::not_selected) == 90 - 25);
}

void a_barrier_takes_what_the_stall_count_leaves() {
    Account a;
    const Wait behind{1, Stall::branch_resolving, 14, {70, 0, Stall::long_scoreboard}, 0};
    a.accounting.on_barrier_release(0, 0, 10, 60, behind);
    CHECK(a.at(Stall::wait, 0) == 4 && a.at(Stall::barrier, 0) == 46);
    a.issue(72);
    CHECK(a.at(Stall::branch_resolving) == 0 && a.at(Stall::long_scoreboard) == 10);
    CHECK(a.at(Stall::not_selected) == 2);
    CHECK(a.total() == 13);
}

void six_producers_are_remembered() {
    Account a;
    for (int producer = 0; producer < 8; ++producer) {
        const Cycle start = 10 + 10 * producer;
        a.next(0, Stall::wait, {start + 5, producer, Stall::long_scoreboard}, 0, start);
        a.issue(start + 9);
    }
    CHECK(a.producers[1][5] == 5 && a.awaited[1][5] == 5);
    CHECK(a.at(Stall::long_scoreboard) == 8 * 5);
}

}  // namespace

int main() {
    cycles_go_to_what_ends_last_in_order();
    what_ended_before_counts_nothing();
    a_unit_that_was_taken_is_told_from_register_banks_and_other_warps();
    a_barrier_takes_what_the_stall_count_leaves();
    six_producers_are_remembered();
    return warpwatt::test::failures();
}
