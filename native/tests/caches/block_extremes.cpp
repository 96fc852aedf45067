#include "caches/block_extremes.h"

#include <array>

#include "tests/check.h"

using namespace warpwatt::caches;

namespace {

struct Tables {
    std::array<std::int64_t, 4> lowest, highest;  // two instructions, two blocks
    Tables() { lowest.fill(kAboveAll), highest.fill(kBelowAll); }
};

void sectors_of_a_line_are_told_by_their_bits() {
    Tables found;
    BlockExtremes extremes(2, found.lowest.data(), found.highest.data());
    extremes.add(0, 1, 10, 0b0110);
    CHECK(found.lowest[1] == 41);
    CHECK(found.highest[1] == 42);
}

void later_lines_move_the_ends_of_their_instruction_and_block_only() {
    Tables found;
    BlockExtremes extremes(2, found.lowest.data(), found.highest.data());
    extremes.add(1, 0, 10, 0b0001);
    extremes.add(1, 0, 7, 0b1000);
    extremes.add(1, 0, 12, 0b1001);
    CHECK(found.lowest[2] == 31);
    CHECK(found.highest[2] == 51);
    for (const int other : {0, 1, 3})
        CHECK(found.lowest[other] == kAboveAll && found.highest[other] == kBelowAll);
}

void a_line_without_sectors_is_not_touched() {
    Tables found;
    BlockExtremes extremes(2, found.lowest.data(), found.highest.data());
    extremes.add(0, 0, 10, 0);
    CHECK(found.lowest[0] == kAboveAll);
}

}  // namespace

int main() {
    sectors_of_a_line_are_told_by_their_bits();
    later_lines_move_the_ends_of_their_instruction_and_block_only();
    a_line_without_sectors_is_not_touched();
    return warpwatt::test::failures();
}
