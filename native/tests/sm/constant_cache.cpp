#include "sm/constant_cache.h"

#include "tests/check.h"

using namespace warpwatt::sm;

namespace {

Instruction reading(double turns, double misses, double miss_cycles) {
    Instruction instruction{};
    instruction.constant_turns_cycles = turns;
    instruction.constant_misses = misses;
    instruction.constant_miss_cycles = miss_cycles;
    return instruction;
}

void misses_are_served_one_after_the_other() {
    ConstantCache cache(1);
    const Instruction load = reading(0.0, 1.0, 100.0);
    CHECK(cache.read(load, 0, 10) == 110);
    CHECK(cache.read(load, 0, 20) == 210);   // while the first one is on its way
    CHECK(cache.read(load, 0, 500) == 600);  // long after
}

void misses_come_as_often_as_their_rate_says() {
    ConstantCache cache(1);
    const Instruction load = reading(0.0, 0.25, 100.0);
    Cycle time = 0;
    for (int i = 0; i < 4000; ++i) time = cache.read(load, 0, time);
    CHECK(time == 100 * 1000);
}

void addresses_beside_the_first_take_their_turns() {
    ConstantCache cache(2);
    CHECK(cache.read(reading(31.0, 0.0, 0.0), 1, 7) == 38);
    CHECK(cache.read(reading(0.0, 0.0, 0.0), 0, 9) == 9);  // a hit of one address waits for nobody
}

}  // namespace

int main() {
    misses_are_served_one_after_the_other();
    misses_come_as_often_as_their_rate_says();
    addresses_beside_the_first_take_their_turns();
}
