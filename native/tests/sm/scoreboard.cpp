#include "sm/scoreboard.h"

#include "tests/check.h"
#include "tests/sm/cases.h"

using namespace warpwatt::sm;

namespace {

Instruction waits_for(int mask) {
    Instruction instruction = test::plain();
    instruction.wait_mask = static_cast<std::int8_t>(mask);
    return instruction;
}

Instruction depbar(int board, int outstanding) {
    Instruction instruction = test::plain();
    instruction.operation = Operation::depbar;
    instruction.scoreboard = static_cast<std::int8_t>(board);
    instruction.outstanding = outstanding;
    return instruction;
}

void only_boards_in_the_mask_are_waited_for() {
    Scoreboards boards;
    boards.reset(nullptr);
    boards.set(0, 100, 7, Stall::long_scoreboard);
    boards.set(3, 50, 8, Stall::short_scoreboard);
    CHECK(boards.awaited(waits_for(0)).time == 0);
    CHECK(boards.awaited(waits_for(1 << 3)).time == 50);
    CHECK(boards.awaited(waits_for(1 << 3)).producer == 8);
    const Release both = boards.awaited(waits_for(1 << 3 | 1 << 0));
    CHECK(both.time == 100 && both.producer == 7 && both.stall == Stall::long_scoreboard);
}

void a_board_falls_with_the_last_that_set_it() {
    Scoreboards boards;
    boards.reset(nullptr);
    boards.set(2, 100, 1, Stall::long_scoreboard);
    boards.set(2, 60, 2, Stall::short_scoreboard);
    CHECK(boards.awaited(waits_for(1 << 2)).time == 100);
    CHECK(boards.awaited(waits_for(1 << 2)).producer == 1);
    boards.set(kNoScoreboard, 500, 3, Stall::wait);
    CHECK(boards.awaited(waits_for(63)).time == 100);
}

void depbar_leaves_some_outstanding() {
    ReleaseHistory history;
    Scoreboards boards;
    boards.reset(&history);
    for (int load = 0; load < 3; ++load) boards.set(1, 100 + 10 * load, load, Stall::long_scoreboard);
    CHECK(boards.awaited(depbar(1, 0)).time == 120);
    CHECK(boards.awaited(depbar(1, 1)).time == 110);
    CHECK(boards.awaited(depbar(1, 1)).producer == 1);
    CHECK(boards.awaited(depbar(1, 3)).time == 0);
    CHECK(boards.awaited(depbar(0, 0)).time == 0);
}

void depbar_names_the_wait_of_the_result_it_waits_for() {
    ReleaseHistory history;
    Scoreboards boards;
    boards.reset(&history);
    boards.set(1, 100, 0, Stall::short_scoreboard);
    boards.set(1, 500, 1, Stall::long_scoreboard);  // may be outstanding
    CHECK(boards.awaited(depbar(1, 1)).stall == Stall::short_scoreboard);
    CHECK(boards.awaited(depbar(1, 0)).stall == Stall::long_scoreboard);
}

void what_comes_early_is_counted_behind_what_came_before() {
    ReleaseHistory history;
    Scoreboards boards;
    boards.reset(&history);
    boards.set(1, 100, 0, Stall::long_scoreboard);
    boards.set(1, 40, 1, Stall::long_scoreboard);  // results of one board are counted in order
    CHECK(boards.awaited(depbar(1, 0)).time == 100);
    CHECK(boards.awaited(depbar(1, 0)).producer == 0);
}

void sixteen_releases_are_remembered() {
    ReleaseHistory history;
    Scoreboards boards;
    boards.reset(&history);
    for (int load = 0; load < 20; ++load) boards.set(1, 1 + load, load, Stall::long_scoreboard);
    CHECK(boards.awaited(depbar(1, 15)).time == 5);
    CHECK(boards.awaited(depbar(1, 16)).time == 0);
}

void a_new_block_waits_for_nothing() {
    ReleaseHistory history;
    Scoreboards boards;
    boards.reset(&history);
    boards.set(0, 100, 7, Stall::long_scoreboard);
    boards.reset(&history);
    CHECK(boards.awaited(waits_for(1)).time == 0);
    CHECK(boards.awaited(depbar(0, 0)).time == 0);
}

}  // namespace

int main() {
    only_boards_in_the_mask_are_waited_for();
    a_board_falls_with_the_last_that_set_it();
    depbar_leaves_some_outstanding();
    depbar_names_the_wait_of_the_result_it_waits_for();
    what_comes_early_is_counted_behind_what_came_before();
    sixteen_releases_are_remembered();
    a_new_block_waits_for_nothing();
    return warpwatt::test::failures();
}
