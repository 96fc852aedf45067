// Reuse distances (LRU stack distances) of sectored cache lines, access by access: what
// tests/emulate/caches/distances.py specifies, in logarithmic time per access.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "caches/fenwick_tree.h"
#include "caches/line.h"

namespace warpwatt::caches {

inline constexpr double kColdDistance = 1e300;  // of a first use
inline constexpr double kNotTouched = -1.0;

struct LineAccess {
    std::int64_t line;     // numbered from 0
    std::uint8_t sectors;  // a bit for each that is touched
    bool leaves_readable;  // a later read of these sectors can hit
    double weight;         // what the line counts in the distances of others
};

using SectorDistances = std::array<double, kSectorsPerLine>;

// The algorithm of Bennett and Kruskal ("LRU stack processing", IBM J. Res. Dev. 19(4), 1975) with Olken's
// tree ("Efficient methods for calculating the success function of fixed space replacement policies", 1981):
// the tree holds the weight of each line at the place of its last use, so that the weight of the lines used
// since is a difference of two prefix sums.
class ReuseDistances {
public:
    ReuseDistances(std::int64_t accesses, std::int64_t lines);

    // The distance of each sector of the next access, kNotTouched where it is not touched. A sector's
    // distance is the largest that its line has had since the sector was last readable.
    SectorDistances access(const LineAccess& next);

private:
    double line_distance(const LineAccess& next);

    FenwickTree weight_at_last_use_;
    std::vector<std::int64_t> last_use_;       // of each line; -1: never
    std::vector<SectorDistances> since_read_;  // of each line: the largest distance since readable
    std::int64_t now_ = 0;
};

}  // namespace warpwatt::caches
