// Where the addresses of a request lie on the host, lane by lane.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "emulate/request.h"

namespace warpwatt::emulate {

struct ResolvedLanes {
    std::array<unsigned char*, kLanes> hosts;  // of lanes that are on
    LanesBySpace by_space;
};

// Checks every lane's address; nothing if one is at fault.
std::optional<ResolvedLanes> resolve_lanes(const Request& request, LaneMask lanes);

}  // namespace warpwatt::emulate
