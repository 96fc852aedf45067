#include "sm/fractional_misses.h"

#include <initializer_list>

#include "tests/check.h"

using namespace warpwatt::sm;

namespace {

// Returns the share of sectors that miss in many accesses of four sectors.
double share(double rate, double lines) {
    FractionalMisses misses;
    double missing = 0.0;
    for (int i = 0; i < 100'000; ++i) missing += misses.next(rate, 4.0, lines);
    return missing / 400'000;
}

void the_share_of_sectors_that_miss_is_the_rate() {
    for (const double rate : {0.0, 0.1, 0.25, 0.7, 1.0}) {
        for (const double lines : {1.0, 2.0, 8.0}) CHECK_NEAR(share(rate, lines), rate, 1e-4);
    }
}

void whole_accesses_miss_in_turn() {
    FractionalMisses misses;  // from 0.5: half of an access is owed
    const double expected[] = {0.0, 4.0, 0.0, 0.0, 0.0, 4.0};
    for (const double missing : expected) CHECK_NEAR(misses.next(0.25, 4.0, 1.0), missing, 0.0);
}

void lines_miss_independently() {
    FractionalMisses
        misses;  // of two lines at a rate of a half, three of four accesses miss, two thirds of each
    CHECK_NEAR(misses.next(0.5, 12.0, 2.0), 8.0, 1e-12);
    CHECK_NEAR(misses.accumulated(), 0.25, 1e-12);
    CHECK_NEAR(misses.next(0.5, 12.0, 2.0), 8.0, 1e-12);
    CHECK_NEAR(misses.next(0.5, 12.0, 2.0), 0.0, 0.0);
}

void the_first_of_some_misses_in_place_of_any_of_them() {
    FractionalMisses misses;
    CHECK_NEAR(misses.hits_per_miss(0.25, 1.0), 3.0, 0.0);
    CHECK_NEAR(misses.next(0.25, 4.0, 1.0, 3.0), 4.0, 0.0);
    CHECK_NEAR(misses.accumulated(), -0.25, 0.0);
    for (int i = 0; i < 2; ++i) misses.pass(0.25, 1.0);
    CHECK_NEAR(misses.next(0.25, 4.0, 1.0), 0.0, 0.0);
    CHECK_NEAR(misses.next(0.25, 4.0, 1.0, 2.0), 4.0, 0.0);
}

}  // namespace

int main() {
    the_share_of_sectors_that_miss_is_the_rate();
    whole_accesses_miss_in_turn();
    lines_miss_independently();
    the_first_of_some_misses_in_place_of_any_of_them();
    return warpwatt::test::failures();
}
