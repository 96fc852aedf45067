#include "caches/first_in_turn.h"

#include <algorithm>

#include "c_api.h"

namespace warpwatt::caches {

std::array<double, kSectorsPerLine> FirstInTurn::read(std::int64_t line, unsigned sectors,
                                                      const double* distances) {
    const auto next = static_cast<std::int64_t>(firsts_.size());
    const std::int64_t index = lines_.find_or_insert(line, next);
    if (index == next) firsts_.push_back({});
    First& first = firsts_[index];
    std::array<double, kSectorsPerLine> found;
    found.fill(kFirst);
    for (int sector = 0; sector < kSectorsPerLine; ++sector) {
        if (!(sectors >> sector & 1)) continue;
        if (first.sectors >> sector & 1)
            found[sector] = first.distances[sector];
        else
            first.distances[sector] = distances[sector];
    }
    first.sectors |= sectors;
    return found;
}

}  // namespace warpwatt::caches

// The same of all accesses in order, those of a turn together; four columns for the sectors of each.
// `reads`: whether it reads a sector.
WARPWATT_API void first_in_turn(std::int64_t accesses, const std::int32_t* turn, const std::int64_t* line,
                                const std::uint8_t* reads, const double* distances, double* ahead) {
    using namespace warpwatt::caches;
    FirstInTurn firsts(longest_run(turn, accesses));
    for (std::int64_t i = 0; i < accesses; ++i) {
        if (i > 0 && turn[i] != turn[i - 1]) firsts.start_turn();
        unsigned sectors = 0;
        for (int sector = 0; sector < kSectorsPerLine; ++sector)
            sectors |= static_cast<unsigned>(reads[i * kSectorsPerLine + sector]) << sector;
        const auto found = firsts.read(line[i], sectors, distances + i * kSectorsPerLine);
        std::copy(found.begin(), found.end(), ahead + i * kSectorsPerLine);
    }
}
