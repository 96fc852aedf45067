#include "caches/line_visits.h"

#include <array>

#include "tests/check.h"

using namespace warpwatt::caches;

namespace {

// Two blocks that meet on line 9; instruction 1 does not count.
constexpr std::array<std::int64_t, 6> kLine{9, 4, 9, 30, 9, 2}, kTime{5, 6, 3, 0, 8, 1};
constexpr std::array<std::int32_t, 6> kBlock{0, 0, 0, 0, 1, 1}, kInstruction{0, 2, 0, 1, 2, 0};
constexpr std::array<std::uint8_t, 6> kSectors{0b0001, 0b1111, 0b0100, 0b0001, 0b1000, 0b0010};
constexpr std::array<std::uint8_t, 3> kWanted{1, 0, 1};

constexpr VisitRows kRows{
    6, kLine.data(), kTime.data(), kBlock.data(), kInstruction.data(), kSectors.data(), kWanted.data()};

void visits_of_a_line_stand_together_in_order_of_their_blocks() {
    const auto visits = visits_of(kRows);
    CHECK(visits.size() == 4);
    const std::array<std::int64_t, 4> lines{2, 4, 9, 9};
    const std::array<std::int32_t, 4> blocks{1, 0, 0, 1};
    for (std::size_t i = 0; i < visits.size(); ++i)
        CHECK(visits[i].line == lines[i] && visits[i].block == blocks[i]);
}

void a_visit_is_as_early_as_its_first_access_and_touches_what_all_do() {
    const auto visits = visits_of(kRows);
    CHECK(visits[2].time == 3);
    CHECK(visits[2].sectors == 0b0101);
    CHECK(visits[3].time == 8);
}

}  // namespace

int main() {
    visits_of_a_line_stand_together_in_order_of_their_blocks();
    a_visit_is_as_early_as_its_first_access_and_touches_what_all_do();
    return warpwatt::test::failures();
}
