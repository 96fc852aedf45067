#include "caches/reuse_distance.h"

#include <algorithm>

#include "c_api.h"
#include "caches/lines_of_block.h"

namespace warpwatt::caches {

ReuseDistances::ReuseDistances(std::int64_t accesses, std::int64_t lines)
    : weight_at_last_use_(accesses), last_use_(lines, -1), since_read_(lines, SectorDistances{}) {}

double ReuseDistances::line_distance(const LineAccess& next) {
    const std::int64_t last = last_use_[next.line];
    double distance = kColdDistance;
    if (last >= 0) {
        distance = weight_at_last_use_.prefix_sum(now_) - weight_at_last_use_.prefix_sum(last + 1);
        weight_at_last_use_.add(last, -next.weight);
    }
    weight_at_last_use_.add(now_, next.weight);
    last_use_[next.line] = now_++;
    return distance;
}

SectorDistances ReuseDistances::access(const LineAccess& next) {
    const double distance = line_distance(next);
    SectorDistances& largest = since_read_[next.line];
    SectorDistances result;
    for (int sector = 0; sector < kSectorsPerLine; ++sector) {
        largest[sector] = std::max(largest[sector], distance);
        const bool touched = next.sectors >> sector & 1;
        result[sector] = touched ? largest[sector] : kNotTouched;
        if (touched && next.leaves_readable) largest[sector] = 0.0;
    }
    return result;
}

}  // namespace warpwatt::caches

// Distances of `accesses` accesses to lines, into rows of one double per sector.
WARPWATT_API void sector_distances(std::int64_t accesses, const std::int64_t* line,
                                   const std::uint8_t* sectors, const std::uint8_t* leaves_readable,
                                   const double* weight, double* distances) {
    using namespace warpwatt::caches;
    LinesOfBlock lines(accesses);
    std::vector<std::int64_t> number(accesses);
    std::int64_t different = 0;
    for (std::int64_t i = 0; i < accesses; ++i) {
        number[i] = lines.find_or_insert(line[i], different);
        different += number[i] == different;
    }
    ReuseDistances reuse(accesses, different);
    for (std::int64_t i = 0; i < accesses; ++i) {
        const SectorDistances found =
            reuse.access({number[i], sectors[i], leaves_readable[i] != 0, weight[i]});
        std::copy(found.begin(), found.end(), distances + i * kSectorsPerLine);
    }
}
