#include "emulate/resolved_lanes.h"

#include "emulate/address_space.h"

namespace warpwatt::emulate {

std::optional<ResolvedLanes> resolve_lanes(const Request& request, LaneMask lanes) {
    std::optional<ResolvedLanes> found(std::in_place);
    found->by_space = {};
    std::int64_t slot = -1;  // whose region is known
    Space space{};
    Region region{};
    for (; lanes != 0; lanes &= lanes - 1) {
        const int lane = first_lane(lanes);
        const std::uint64_t address = request.machine.addresses[lane];
        if (slot_bits(address) != slot) {
            slot = slot_bits(address);
            space = actual_space(request.operation.space, address);
            region = region_of(request.machine, request.warp, request.operation, space, address);
        }
        unsigned char* host =
            host_address(request.machine, request.warp, request.operation, space, region, lane, address);
        if (host == nullptr) return std::nullopt;
        found->hosts[lane] = host;
        found->by_space[static_cast<int>(space)] |= lane_bit(lane);
    }
    return found;
}

}  // namespace warpwatt::emulate
