#include "caches/line_touches.h"

#include "tests/check.h"

using namespace warpwatt::caches;

namespace {

constexpr TouchedLine kUntouched{7, {-1, -1, -1, -1}, {-1, -1, -1, -1}, {}};

void the_earliest_in_time_comes_first_whatever_its_row() {
    const std::int64_t time[] = {5, 3, 3};
    TouchedLine line = kUntouched;
    for (std::int64_t row = 0; row < 3; ++row) line.add(row, {time[row], 1, true, false, 0.0}, time);
    CHECK(line.first_use[0] == 1);
    CHECK(line.first_use[1] == kNobody);
    CHECK(line.first_write[0] == kNobody);
}

void bytes_of_writes_add_up_in_their_sectors_and_reads_count_as_many() {
    const std::int64_t time[] = {0, 1, 2};
    TouchedLine line = kUntouched;
    line.add(0, {0, 0b0110, false, true, 8.0}, time);
    line.add(1, {1, 0b0010, false, true, 4.0}, time);
    line.add(2, {2, 0b0100, true, false, 0.0}, time);
    CHECK_NEAR(line.bytes_written[0], 0.0, 0.0);
    CHECK_NEAR(line.bytes_written[1], 12.0, 0.0);
    CHECK_NEAR(line.bytes_written[2], 8.0 + kReadCountsAsBytes, 0.0);
    CHECK(line.first_write[1] == 0);
}

}  // namespace

int main() {
    the_earliest_in_time_comes_first_whatever_its_row();
    bytes_of_writes_add_up_in_their_sectors_and_reads_count_as_many();
    return warpwatt::test::failures();
}
