#include "sm/timing_wheel.h"

#include <array>
#include <random>

#include "tests/check.h"

using namespace warpwatt::sm;

namespace {

void sleepers_wake_at_their_times() {
    TimingWheel wheel;
    CHECK(wheel.next() == kNever);
    wheel.add(0, 0);
    CHECK(wheel.next() == 0 && wheel.advance(0) == 1);
    wheel.add(1, 64);  // the last of the next 64 cycles
    wheel.add(2, 65);
    wheel.add(3, 64);
    CHECK(wheel.next() == 64);
    CHECK(wheel.advance(63) == 0);
    CHECK(wheel.advance(64) == 0b1010);
    CHECK(wheel.next() == 65 && wheel.advance(65) == 0b100 && wheel.next() == kNever);
}

void nobody_is_left_behind() {
    TimingWheel wheel;
    wheel.add(5, 10);
    wheel.add(6, 1000);
    wheel.clear();
    CHECK(wheel.next() == kNever && wheel.advance(10) == 0 && wheel.advance(1000) == 0);
}

// Beside a list that is looked through in every cycle.
void it_does_what_a_list_does() {
    std::mt19937 random(1);
    TimingWheel wheel;
    std::array<Cycle, 64> times;
    times.fill(kNever);
    for (Cycle now = 0; now < 20000; ++now) {
        Sleepers expected = 0;
        Cycle next = kNever;
        for (int sleeper = 0; sleeper < 64; ++sleeper) {
            if (times[sleeper] == now) {
                expected |= Sleepers{1} << sleeper;
                times[sleeper] = kNever;
            }
        }
        CHECK(wheel.advance(now) == expected);
        const int sleeper = static_cast<int>(random() % 64);
        if (times[sleeper] == kNever) {
            times[sleeper] = now + 1 + random() % (random() % 2 ? 20 : 300);
            wheel.add(sleeper, times[sleeper]);
        }
        for (const Cycle time : times) next = std::min(next, time);
        CHECK(wheel.next() == next);
    }
}

}  // namespace

int main() {
    sleepers_wake_at_their_times();
    nobody_is_left_behind();
    it_does_what_a_list_does();
    return warpwatt::test::failures();
}
