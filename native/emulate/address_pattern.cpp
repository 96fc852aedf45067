#include "emulate/address_pattern.h"

#include <algorithm>

#include "emulate/distinct_numbers.h"

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

int most_on_one_address(const Addresses& addresses, LaneMask lanes, const AddressPattern& pattern) {
    if (pattern.sorted && pattern.changes + 1 == lane_count(lanes)) return 1;
    int most = 0;
    while (lanes != 0) {
        const LaneMask same = matching_lanes(addresses, lanes, first_lane(lanes));
        most = std::max(most, lane_count(same));
        lanes &= ~same;
    }
    return most;
}

}  // namespace warpwatt::emulate
