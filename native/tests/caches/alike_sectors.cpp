#include "caches/alike_sectors.h"

#include <array>

#include "tests/check.h"

using namespace warpwatt::caches;

namespace {

void the_nearest_sector_of_two_is_the_lower_one() {
    const std::array<std::int64_t, 3> sectors{2, 4, 9};
    NearestSector nearest(sectors);
    CHECK(nearest.find(-5) == 0);
    CHECK(nearest.find(3) == 0);
    CHECK(nearest.find(3.5) == 1);
    CHECK(nearest.find(9) == 2);
    CHECK(nearest.find(100) == 2);
}

void sectors_of_the_same_codes_are_counted_together() {
    const std::array<std::int64_t, 4> sectors{0, 1, 2, 3}, ends{0, 0, 0, 5};
    const std::array<double, 2> moved{1.0, -2.5};
    const CountedCodes found = count_alike(sectors, ends, moved);
    const std::int64_t whole = overlap_code(kSectorParts, 0), half = overlap_code(kSectorParts / 2, 0);
    const CountedCodes wanted{
        {{0, whole, 0}, 2}, {{0, overlap_code(kSectorParts, 5), half}, 1}, {{5, 0, half}, 1}};
    CHECK(found == wanted);
}

void without_lags_only_ends_tell_sectors_apart() {
    const std::array<std::int64_t, 3> sectors{0, 1, 2}, ends{1, 0, 1};
    CHECK((count_alike(sectors, ends, {}) == CountedCodes{{{0}, 1}, {{1}, 2}}));
}

}  // namespace

int main() {
    the_nearest_sector_of_two_is_the_lower_one();
    sectors_of_the_same_codes_are_counted_together();
    without_lags_only_ends_tell_sectors_apart();
    return warpwatt::test::failures();
}
