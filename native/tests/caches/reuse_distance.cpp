#include "caches/reuse_distance.h"

#include "tests/check.h"

using namespace warpwatt::caches;

namespace {

constexpr std::uint8_t kFirst = 1, kSecond = 2;

void distance_is_the_weight_of_the_lines_used_between() {
    ReuseDistances reuse(5, 3);
    CHECK_NEAR(reuse.access({0, kFirst, true, 1.0})[0], kColdDistance, 0.0);
    reuse.access({1, kFirst, true, 2.0});
    reuse.access({2, kFirst, true, 4.0});
    reuse.access({1, kFirst, true, 2.0});
    CHECK_NEAR(reuse.access({0, kFirst, true, 1.0})[0], 6.0, 0.0);  // line 1 counts once
}

void a_line_used_again_at_once_is_at_distance_zero() {
    ReuseDistances reuse(2, 1);
    reuse.access({0, kFirst, true, 1.0});
    CHECK_NEAR(reuse.access({0, kFirst, true, 1.0})[0], 0.0, 0.0);
}

void a_sector_is_as_far_as_its_line_was_since_the_sector_was_readable() {
    ReuseDistances reuse(4, 2);
    reuse.access({0, kFirst | kSecond, true, 1.0});
    reuse.access({1, kFirst, true, 1.0});
    reuse.access({0, kFirst, true, 1.0});  // the line comes back from distance 1, its second sector does not
    const SectorDistances last = reuse.access({0, kFirst | kSecond, true, 1.0});
    CHECK_NEAR(last[0], 0.0, 0.0);
    CHECK_NEAR(last[1], 1.0, 0.0);
    CHECK_NEAR(last[2], kNotTouched, 0.0);
}

void what_does_not_leave_a_sector_readable_leaves_it_cold() {
    ReuseDistances reuse(2, 1);
    reuse.access({0, kFirst, false, 1.0});
    CHECK_NEAR(reuse.access({0, kFirst, true, 1.0})[0], kColdDistance, 0.0);
}

}  // namespace

int main() {
    distance_is_the_weight_of_the_lines_used_between();
    a_line_used_again_at_once_is_at_distance_zero();
    a_sector_is_as_far_as_its_line_was_since_the_sector_was_readable();
    what_does_not_leave_a_sector_readable_leaves_it_cold();
    return warpwatt::test::failures();
}
