#include "sm/wake_times.h"

#include "tests/check.h"

using namespace warpwatt::sm;

namespace {

constexpr int kEnd = WakeTimes::kMostSubCores;

void time_goes_on_to_the_next_that_wakes() {
    WakeTimes wake(2);
    CHECK(wake.advance() == 0 && wake.next_awake(0) == 0 && wake.next_awake(1) == 1 &&
          wake.next_awake(2) == kEnd);
    wake.sleep_until(0, 30);
    wake.sleep_until(1, 20);
    CHECK(wake.advance() == 20 && wake.next_awake(0) == 1);
    wake.sleep_until(1, kNever);
    wake.wake_by(0, 25);
    CHECK(wake.advance() == 25 && wake.next_awake(0) == 0 && wake.next_awake(1) == kEnd);
    wake.wake_by(0, 40);  // not later than it would have
    CHECK(wake.advance() == 25);
}

void one_that_is_woken_in_this_cycle_has_its_turn_in_it() {
    WakeTimes wake(3);
    wake.advance();
    for (int core = 0; core < 3; ++core) wake.sleep_until(core, core == 0 ? 10 : 50);
    CHECK(wake.advance() == 10 && wake.next_awake(1) == kEnd);
    wake.wake_by(2, 10);
    CHECK(wake.next_awake(1) == 2);
}

void nothing_wakes_any_more() {
    WakeTimes wake(1);
    wake.sleep_until(0, kNever);
    CHECK(wake.advance() == kNever);
}

}  // namespace

int main() {
    time_goes_on_to_the_next_that_wakes();
    one_that_is_woken_in_this_cycle_has_its_turn_in_it();
    nothing_wakes_any_more();
    return warpwatt::test::failures();
}
