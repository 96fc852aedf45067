// Where the addresses of a request lie on the host, lane by lane.
#pragma once

#include <array>
#include <cstdint>

#include "emulate/request.h"

namespace warpwatt::emulate {

struct ResolvedLanes {
    std::array<unsigned char*, kLanes> hosts;  // of lanes that are on; of probes they mean nothing
    LanesBySpace by_space;
    std::array<std::array<unsigned char, kMostBytes>, kLanes> read;  // of pages that are not made
};

// Whether lanes only read: then hosts may be copies.
enum class Use { kRead, kChange };

// Checks every lane's address; false if one is at fault.
bool resolve_lanes(const Request& request, LaneMask lanes, Use use, ResolvedLanes& found);

}  // namespace warpwatt::emulate
