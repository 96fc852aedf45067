#include "caches/alike_sectors.h"

#include <algorithm>
#include <cmath>

#include "c_api.h"

namespace warpwatt::caches {

std::size_t NearestSector::find(double place) {
    while (after_ < sectors_.size() && static_cast<double>(sectors_[after_]) < place) ++after_;
    const std::size_t after = std::min(after_, sectors_.size() - 1), before = after > 0 ? after - 1 : 0;
    const double below = std::abs(static_cast<double>(sectors_[before]) - place);
    return below <= std::abs(static_cast<double>(sectors_[after]) - place) ? before : after;
}

CountedCodes count_alike(std::span<const std::int64_t> sectors, std::span<const std::int64_t> ends,
                         std::span<const double> moved) {
    std::vector<NearestSector> nearest(moved.size(), NearestSector(sectors));
    std::vector<std::int64_t> codes(1 + moved.size());
    CountedCodes found;
    auto last = found.end();
    for (std::size_t sector = 0; sector < sectors.size(); ++sector) {
        codes[0] = ends[sector];
        for (std::size_t lag = 0; lag < moved.size(); ++lag) {
            const double place = static_cast<double>(sectors[sector]) + moved[lag];
            const std::size_t other = nearest[lag].find(place);
            const double off = std::abs(static_cast<double>(sectors[other]) - place);
            const double parts = std::nearbyint(kSectorParts * std::max(0.0, 1 - off));
            codes[1 + lag] = overlap_code(static_cast<std::int64_t>(parts), ends[other]);
        }
        if (last == found.end() || last->first != codes) last = found.try_emplace(codes).first;
        ++last->second;
    }
    return found;
}

}  // namespace warpwatt::caches

using namespace warpwatt::caches;

// Writes a row of codes for all sectors that have them, rows in order of their codes, and how many sectors
// that are; both have room for all sectors. Returns how many rows there are.
WARPWATT_API std::int64_t alike_sectors(std::int64_t count, const std::int64_t* sectors,
                                        const std::int64_t* ends, std::int64_t lags, const double* moved,
                                        std::int64_t* codes, std::int64_t* counts) {
    const auto size = static_cast<std::size_t>(count);
    const CountedCodes found =
        count_alike({sectors, size}, {ends, size}, {moved, static_cast<std::size_t>(lags)});
    for (const auto& [row, times] : found) {
        codes = std::copy(row.begin(), row.end(), codes);
        *counts++ = times;
    }
    return static_cast<std::int64_t>(found.size());
}
