#include "emulate/constant_cache.h"

#include <algorithm>
#include <deque>
#include <random>
#include <vector>

#include "tests/check.h"

using namespace warpwatt::emulate;

namespace {

constexpr int kRoom = 32;  // lines of the indexed constant cache

// Misses of a warp that reads lines, by a list: none where all lines fit.
template <class Lines>
int listed(const Lines& lines) {
    std::deque<std::uint32_t> recent;
    int misses = 0;
    bool fits = true;
    for (const std::uint32_t line : lines) {
        const auto place = std::find(recent.begin(), recent.end(), line);
        if (place == recent.end()) ++misses;
        if (place != recent.end()) recent.erase(place);
        recent.push_front(line);
        if (recent.size() > kRoom) {
            recent.pop_back();
            fits = false;
        }
    }
    return fits ? 0 : misses;
}

template <class Lines>
int counted(const Lines& lines) {
    IndexedConstantCache cache{};
    int misses = 0;
    for (const std::uint32_t line : lines) misses += cache.use(line);
    return misses;
}

void constants_that_fit_do_not_miss() {
    std::vector<std::uint32_t> lines;
    for (int i = 0; i < 1000; ++i) lines.push_back(i % kRoom);
    CHECK(counted(lines) == 0);
}

void going_round_more_than_fits_misses_each_line() {
    std::vector<std::uint32_t> lines;
    for (int i = 0; i < 5 * (kRoom + 1); ++i) lines.push_back(i % (kRoom + 1));
    CHECK(counted(lines) == 5 * (kRoom + 1));
}

void the_line_used_last_stays_longest() {
    std::mt19937 random(1);
    for (const int reach : {20, 33, 60, 500}) {
        std::vector<std::uint32_t> lines;
        for (int i = 0; i < 3000; ++i) lines.push_back(random() % reach);
        CHECK(counted(lines) == listed(lines));
    }
}

}  // namespace

int main() {
    constants_that_fit_do_not_miss();
    going_round_more_than_fits_misses_each_line();
    the_line_used_last_stays_longest();
}
