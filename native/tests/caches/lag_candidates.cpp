#include "caches/lag_candidates.h"

#include <array>
#include <vector>

#include "tests/check.h"

namespace {

using Lags = std::vector<std::int64_t>;  // x, y and z of one after the other

Lags found(const std::vector<std::int64_t>& sectors, std::array<double, 3> steps,
           std::array<std::int64_t, 3> extents, std::int64_t most = 4) {
    Lags lags(static_cast<std::size_t>(9 * most));
    const auto count = static_cast<std::int64_t>(sectors.size());
    const std::int64_t kept = lag_candidates(sectors.data(), count, sectors.data(), count, steps.data(),
                                             extents.data(), extents.data(), most, lags.data());
    lags.resize(static_cast<std::size_t>(3 * kept));
    return lags;
}

void rows_of_a_block_are_met_by_later_blocks() {
    CHECK(found({0, 1, 400, 401}, {4, 0, 0}, {1000, 1, 1}) == (Lags{100, 0, 0}));
    CHECK(found({0, 1, 400, 401}, {-4, 0, 0}, {1000, 1, 1}) == (Lags{100, 0, 0}));
}

void lags_end_with_the_grid() { CHECK(found({0, 1, 400, 401}, {4, 0, 0}, {100, 1, 1}).empty()); }

void a_halo_is_met_along_both_axes_and_across() {
    CHECK(found({0, 4, 100, 104}, {4, 100, 0}, {8, 8, 1}) == (Lags{1, 0, 0, -1, 1, 0, 0, 1, 0, 1, 1, 0}));
}

void the_most_frequent_are_kept() {
    CHECK(found({0, 1, 2, 3, 4}, {1, 0, 0}, {100, 1, 1}, 2) == (Lags{1, 0, 0, 2, 0, 0}));
}

void the_next_block_comes_to_what_does_not_move_by_whole_sectors() {
    CHECK(found({7}, {0, 0, 0}, {10, 1, 1}) == (Lags{1, 0, 0}));
    CHECK(found({7}, {0.25, 0, 0}, {10, 1, 1}) == (Lags{1, 0, 0}));
    CHECK(found({7}, {0, 0, 0}, {1, 1, 1}).empty());
}

void sectors_far_apart_are_compared_too() {
    const std::int64_t far = std::int64_t{1} << 40;
    CHECK(found({0, far}, {static_cast<double>(far), 0, 0}, {10, 1, 1}) == (Lags{1, 0, 0}));
}

}  // namespace

int main() {
    rows_of_a_block_are_met_by_later_blocks();
    lags_end_with_the_grid();
    a_halo_is_met_along_both_axes_and_across();
    the_most_frequent_are_kept();
    the_next_block_comes_to_what_does_not_move_by_whole_sectors();
    sectors_far_apart_are_compared_too();
    return warpwatt::test::failures();
}
