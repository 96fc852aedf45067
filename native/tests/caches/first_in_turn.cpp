#include "caches/first_in_turn.h"

#include "tests/check.h"

using namespace warpwatt::caches;

namespace {

constexpr std::array<double, kSectorsPerLine> kFar{5, 6, 7, 8}, kNear{1, 2, 3, 4};

void later_readers_of_a_sector_learn_how_far_it_was_for_the_first() {
    FirstInTurn firsts(4);
    const auto first = firsts.read(70, 0b0011, kFar.data());
    const auto later = firsts.read(70, 0b0110, kNear.data());
    const auto last = firsts.read(70, 0b1111, kNear.data());
    CHECK(first == (std::array<double, 4>{kFirst, kFirst, kFirst, kFirst}));
    CHECK(later == (std::array<double, 4>{kFirst, 6, kFirst, kFirst}));
    CHECK(last == (std::array<double, 4>{5, 6, 3, kFirst}));
}

void other_lines_and_other_turns_begin_anew() {
    FirstInTurn firsts(4);
    firsts.read(70, 0b0001, kFar.data());
    CHECK(firsts.read(71, 0b0001, kFar.data())[0] < 0);
    firsts.start_turn();
    CHECK(firsts.read(70, 0b0001, kNear.data())[0] < 0);
    CHECK_NEAR(firsts.read(70, 0b0001, kFar.data())[0], 1.0, 0.0);
}

}  // namespace

int main() {
    later_readers_of_a_sector_learn_how_far_it_was_for_the_first();
    other_lines_and_other_turns_begin_anew();
    return warpwatt::test::failures();
}
