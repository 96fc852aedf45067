// Where the addresses of a request lie on the host, lane by lane.
#pragma once

#include <array>
#include <cstdint>

#include "emulate/request.h"

namespace warpwatt::emulate {

struct ResolvedLanes {
    std::array<unsigned char*, kLanes> hosts;  // of lanes that are on; of probes they mean nothing
    LanesBySpace by_space;
};

// Checks every lane's address; false if one is at fault.
bool resolve_lanes(const Request& request, LaneMask lanes, ResolvedLanes& found);

}  // namespace warpwatt::emulate
