// What the addresses of a request's lanes have in common.
#pragma once

#include <array>
#include <cstdint>
#include <limits>

#include "emulate/lanes.h"

namespace warpwatt::emulate {

inline constexpr std::int64_t kVaries = std::numeric_limits<std::int64_t>::min();
inline constexpr std::int64_t kNoNeighbours = kVaries + 1;

struct AddressPattern {
    bool sorted;          // no lane's address is below that of a lane before it
    int changes;          // lanes whose address is not that of the lane before
    std::int64_t stride;  // bytes between lanes side by side; kVaries, or kNoNeighbours if there are none

    bool uniform() const { return changes == 0; }
};

AddressPattern pattern_of(const std::array<std::uint64_t, kLanes>& addresses, LaneMask lanes);

// How many different addresses the lanes have.
int distinct_addresses(const std::array<std::uint64_t, kLanes>& addresses, LaneMask lanes,
                       const AddressPattern& pattern);

// The largest number of lanes with one address.
int most_on_one_address(const std::array<std::uint64_t, kLanes>& addresses, LaneMask lanes,
                        const AddressPattern& pattern);

// The addresses of lanes that are on, ascending, from lane 0 on; those behind mean nothing.
std::array<std::uint64_t, kLanes> ascending_addresses(const std::array<std::uint64_t, kLanes>& addresses,
                                                      LaneMask lanes);

// The lanes of `lanes` with the address of a lane.
LaneMask matching_lanes(const std::array<std::uint64_t, kLanes>& addresses, LaneMask lanes, int lane);

}  // namespace warpwatt::emulate
