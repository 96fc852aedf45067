#include "sm/wake_times.h"

#include "tests/check.h"

using namespace warpwatt::sm;

namespace {

void time_goes_on_to_the_next_that_wakes() {
    WakeTimes wake(2);
    CHECK(wake.advance() == 0 && wake.now() == 0);
    wake.sleep_until(0, 30);
    CHECK(wake.advance() == 1 && wake.now() == 0);
    wake.sleep_until(1, 20);
    CHECK(wake.advance() == 1 && wake.now() == 20);
    wake.sleep_until(1, kNever);
    wake.wake_by(0, 25);
    CHECK(wake.advance() == 0 && wake.now() == 25);
    wake.wake_by(0, 40);  // not later than it would have
    CHECK(wake.advance() == 0 && wake.now() == 25);
}

void one_that_is_woken_in_this_cycle_has_its_turn_in_it() {
    WakeTimes wake(3);
    for (int core = 0; core < 3; ++core) wake.sleep_until(core, core == 0 ? 10 : 50);
    CHECK(wake.advance() == 0);
    wake.sleep_until(0, 11);
    wake.wake_by(2, 10);
    CHECK(wake.advance() == 2 && wake.now() == 10);
}

void nothing_wakes_any_more() {
    WakeTimes wake(1);
    wake.sleep_until(0, kNever);
    wake.advance();
    CHECK(wake.now() == kNever);
}

}  // namespace

int main() {
    time_goes_on_to_the_next_that_wakes();
    one_that_is_woken_in_this_cycle_has_its_turn_in_it();
    nothing_wakes_any_more();
    return warpwatt::test::failures();
}
