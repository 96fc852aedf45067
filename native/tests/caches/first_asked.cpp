#include "caches/first_asked.h"

#include <array>

#include "tests/check.h"

namespace {

void later_executions_do_not_count() {
    constexpr int kRows = 5;
    const std::array<std::int32_t, kRows> instruction{0, 0, 0, 1, 0}, block{0, 0, 0, 0, 1},
        warp{0, 0, 0, 0, 1};
    const std::array<std::int64_t, kRows> time{2, 2, 5, 5, 9}, line{10, 11, 12, 13, 10};
    const std::array<std::uint8_t, kRows> sectors{0b0001, 0b1010, 0b1111, 0b0100, 0b0001};
    std::array<std::int32_t, 4 * kRows> asking{}, asking_block{};
    std::array<std::int64_t, 4 * kRows> sector{};
    const auto count =
        first_asked(kRows, instruction.data(), block.data(), warp.data(), time.data(), line.data(),
                    sectors.data(), 2, 2, asking.data(), asking_block.data(), sector.data());
    CHECK(count == 5);
    const std::array<std::int64_t, 5> wanted{40, 45, 47, 54, 40};
    const std::array<std::int32_t, 5> of{0, 0, 0, 1, 0}, by{0, 0, 0, 0, 1};
    for (int i = 0; i < 5; ++i) {
        CHECK(sector[i] == wanted[i]);
        CHECK(asking[i] == of[i]);
        CHECK(asking_block[i] == by[i]);
    }
}

void sectors_side_by_side_or_in_one_piece_are_together() {
    const std::array<std::int32_t, 7> asking{0, 0, 0, 1, 0, 0, 0}, block{1, 0, 0, 0, 0, 0, 0};
    const std::array<std::int64_t, 7> sector{4, 40, 12, 13, 16, 15, 12};
    const std::array<std::uint8_t, 2> first{1, 0}, both{1, 1};
    std::int64_t sectors = 0, pieces = 0;
    asked_pieces(7, asking.data(), block.data(), sector.data(), first.data(), 8, &sectors, &pieces);
    CHECK(sectors == 5);
    CHECK(pieces == 3);  // 12, 15 and 16 are together: 12 and 15 lie in one piece, 16 goes on from there
    asked_pieces(7, asking.data(), block.data(), sector.data(), both.data(), 1, &sectors, &pieces);
    CHECK(sectors == 6);
    CHECK(pieces == 4);
}

}  // namespace

int main() {
    later_executions_do_not_count();
    sectors_side_by_side_or_in_one_piece_are_together();
    return warpwatt::test::failures();
}
