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

}  // namespace

int main() {
    later_executions_do_not_count();
    return warpwatt::test::failures();
}
