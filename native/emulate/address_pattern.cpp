#include "emulate/address_pattern.h"

#include <algorithm>

#include "emulate/distinct_numbers.h"
#include "vectors.h"

namespace warpwatt::emulate {

using Addresses = std::array<std::uint64_t, kLanes>;

AddressPattern pattern_of(const Addresses& addresses, LaneMask lanes) {
    AddressPattern found{true, 0, kNoNeighbours};
    if (lanes == 0) return found;
    int last = first_lane(lanes);
    for_each_lane(lanes & (lanes - 1), [&](int lane) {
        const auto distance = static_cast<std::int64_t>(addresses[lane] - addresses[last]);
        found.sorted &= distance >= 0;
        found.changes += distance != 0;
        if (lane == last + 1 && found.stride != distance)
            found.stride = found.stride == kNoNeighbours ? distance : kVaries;
        last = lane;
    });
    return found;
}

int distinct_addresses(const Addresses& addresses, LaneMask lanes, const AddressPattern& pattern) {
    if (pattern.sorted) return lanes == 0 ? 0 : pattern.changes + 1;
    DistinctNumbers<kLanes> seen;
    int count = 0;
    for_each_lane(lanes, [&](int lane) { count += seen.insert(addresses[lane]); });
    return count;
}

LaneMask matching_lanes(const Addresses& addresses, LaneMask lanes, int lane) {
    LaneMask same = 0;
    for (int other = 0; other < kLanes; ++other)
        same |= LaneMask{addresses[other] == addresses[lane]} << other;
    return same & lanes;
}

// Each address goes to the place that says how many lanes come before it, which is counted for all at once.
WARPWATT_WIDE_VECTORS Addresses ascending_addresses(const Addresses& addresses, LaneMask lanes) {
    Addresses known;
    std::array<std::uint64_t, kLanes> places{};
    for (int lane = 0; lane < kLanes; ++lane) {
        const std::uint64_t off = static_cast<std::uint64_t>(lanes >> lane & 1) - 1;
        known[lane] = addresses[lane] | off;  // behind all others
    }
    for (int other = 0; other < kLanes; ++other)
        for (int lane = 0; lane < kLanes; ++lane)
            places[lane] += (known[other] < known[lane]) | ((known[other] == known[lane]) & (other < lane));
    Addresses found;
    for (int lane = 0; lane < kLanes; ++lane) found[places[lane]] = known[lane];
    return found;
}

int most_on_one_address(const Addresses& addresses, LaneMask lanes, const AddressPattern& pattern) {
    const int count = lane_count(lanes);
    if (pattern.sorted && pattern.changes + 1 == count) return 1;
    const Addresses ordered = ascending_addresses(addresses, lanes);
    int most = 0, same = 0;
    for (int lane = 0; lane < count; ++lane) {
        same = lane > 0 && ordered[lane] == ordered[lane - 1] ? same + 1 : 1;
        most = std::max(most, same);
    }
    return most;
}

}  // namespace warpwatt::emulate
