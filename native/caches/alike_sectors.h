// Which sectors of a block are touched again after the same lags: warpwatt.emulate.caches.lags.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace warpwatt::caches {

inline constexpr std::int64_t kSectorParts = 1 << 10;  // that overlaps are rounded to
inline constexpr int kEndBits = 6;                     // ends of axes that do without a sector

// How much of a sector is the same after a lag, in parts of it, and the ends that do without the one that it
// lies on: 0 if it lies on none.
constexpr std::int64_t overlap_code(std::int64_t parts, std::int64_t ends) {
    return parts > 0 ? parts << kEndBits | ends : 0;
}

// The sector nearest to a place, for places that ascend.
class NearestSector {
public:
    explicit NearestSector(std::span<const std::int64_t> ascending) : sectors_(ascending) {}

    // The index of the nearest, of two the lower one.
    std::size_t find(double place);

private:
    std::span<const std::int64_t> sectors_;
    std::size_t after_ = 0;  // the first that is not below the last place
};

// Codes of sectors, the first for its own ends, one for each lag, to how many sectors have them.
using CountedCodes = std::map<std::vector<std::int64_t>, std::int64_t>;

// `ends` are those that do without each of some ascending sectors; `moved` by how much each lag moves it.
CountedCodes count_alike(std::span<const std::int64_t> sectors, std::span<const std::int64_t> ends,
                         std::span<const double> moved);

}  // namespace warpwatt::caches
